"""A room or a part of it with its components, for tests of the answers to its events."""

from __future__ import annotations

from typing import Protocol, TypeVar

import gradio as gr

from tests.helpers.waiting import now


class Part(Protocol):
    """Protocol of an object that lays out components."""

    def build(self) -> object: ...


P = TypeVar("P", bound=Part)


def built(part: P) -> P:
    """Build a part in a page of its own and return it."""

    async def page() -> None:  # gradio leaves a loop open where none is running
        with gr.Blocks(analytics_enabled=False):
            part.build()

    now(page())
    return part
