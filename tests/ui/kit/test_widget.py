"""Widgets write no stub file, and send data that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import gradio as gr
import pytest
from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


def test_a_widget_leaves_no_file_beside_its_source() -> None:
    class Drawn(Widget):
        """A widget of a test."""

    assert issubclass(Drawn, gr.HTML)
    assert not Path(__file__).with_suffix(".pyi").exists()


def dictionaries(hint: Any) -> Iterator[Any]:
    """Yield the dictionaries in a type, those in the fields of data models included."""
    if get_origin(hint) is dict:
        yield hint
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        for field in get_type_hints(hint).values():
            yield from dictionaries(field)
    for part in get_args(hint):
        yield from dictionaries(part)


def widgets(parent: type[Widget] = Widget) -> Iterator[type[Widget]]:
    import_module("vitexplorer.ui.page")
    for child in parent.__subclasses__():
        if child.__module__.startswith("vitexplorer."):
            yield child
        yield from widgets(child)


@pytest.mark.parametrize("widget", list(widgets()), ids=lambda widget: widget.__name__)
def test_the_keys_of_what_a_widget_sends_are_texts(widget: type[Widget]) -> None:
    """JSON has no other keys, and the server refuses to write them."""
    model = getattr(widget, "data_model", None)
    for hint in dictionaries(model):
        assert get_args(hint)[:1] in ((str,), ()), f"{model.__name__}: {hint}"
