"""Private names of gradio, starlette and uvicorn occur in the adapter only, as far as a syntax tree shows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.helpers.every_case import check_every
from tests.helpers.private_names import ADAPTER, LIBRARIES, private_attributes, private_imports
from tests.helpers.tree import PACKAGE


def check_file(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    if "vitexplorer/ui" not in file.as_posix() and not any(library in source for library in LIBRARIES):
        return
    tree = ast.parse(source)
    assert [*private_imports(tree), *private_attributes(tree)] == []


def test_no_private_name_outside_the_adapter() -> None:
    elsewhere = set(PACKAGE.rglob("*.py")) - set(ADAPTER)
    check_every({file.relative_to(PACKAGE).as_posix(): file for file in elsewhere}, check_file)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from gradio.context import LocalContext", "gradio.context.LocalContext"),
        ("from gradio import blocks", "gradio.blocks"),
        ("import gradio.queueing", "gradio.queueing"),
        ("from starlette._utils import is_async_callable", "starlette._utils.is_async_callable"),
        ("from uvicorn.server import Server", "uvicorn.server.Server"),
        ("fields = event._data.get('text')", "event._data"),
        ("self.page._queue.push(event)", "self.page._queue"),
        ("for one in page.fns.values(): pass", "page.fns"),
        ("self.page.state_holder = None", "self.page.state_holder"),
        ("page.has_launched = True", "page.has_launched"),
        ("from gradio import Blocks", None),
        ("from gradio.components import State", None),
        ("from starlette.routing import Route", None),
        ("import uvicorn", None),
        ("self._data.get('text')", None),
        ("gr.__version__", None),
    ],
)
def test_what_counts_as_private(line: str, found: str | None) -> None:
    tree = ast.parse(line)
    assert [*private_imports(tree), *private_attributes(tree)] == ([found] if found else [])
