"""Gradio without its stub files."""

import subprocess
import sys

import gradio as gr
import pytest
from gradio import component_meta

import vitexplorer.ui  # noqa: F401  which keeps gradio from looking after them
from tests.helpers.thorough import always, later
from tests.helpers.tree import ROOT

IMPORT = """
import inspect
inspect.getfile = None  # what gradio finds the stub file of a class by
import {module}
import gradio
print(gradio.HTML.__name__)
"""


@pytest.mark.parametrize("module", [always("vitexplorer.ui"), later("gradio")])
def test_gradio_is_imported_without_looking_after_its_stubs(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(module=module)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout == "HTML\n") == (module != "gradio"), done.stderr


def test_our_own_components_have_none() -> None:
    assert component_meta.create_or_modify_pyi(gr.HTML, "NotInItsSource", []) is None
