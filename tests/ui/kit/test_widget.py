"""Widgets write no stub file."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from vitexplorer.ui.kit.widget import Widget


def test_a_widget_leaves_no_file_beside_its_source() -> None:
    class Drawn(Widget):
        """A widget of a test."""

    assert issubclass(Drawn, gr.HTML)
    assert not Path(__file__).with_suffix(".pyi").exists()
