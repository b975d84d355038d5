"""A room or a part of one with its components, for tests of what its events answer."""

from __future__ import annotations

from typing import Protocol, TypeVar

import gradio as gr

from tests.helpers.waiting import now


class Part(Protocol):
    """What lays components out."""

    def build(self) -> object: ...


P = TypeVar("P", bound=Part)


def built(part: P) -> P:
    """The part after its `build`, in a page of its own."""

    async def page() -> None:  # gradio leaves a loop open where none is running
        with gr.Blocks(analytics_enabled=False):
            part.build()

    now(page())
    return part
