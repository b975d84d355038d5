"""No private name of gradio, starlette or uvicorn outside the adapter, as far as a syntax tree tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest

import vitexplorer

PACKAGE = Path(vitexplorer.__file__).parent
ADAPTER = sorted((PACKAGE / "ui" / "gradio_adapter").glob("*.py"))
ELSEWHERE = sorted(set(PACKAGE.rglob("*.py")) - set(ADAPTER))
EXPORTED = {"gradio.components", "gradio.layouts", "gradio.mcp", "gradio.themes", "gradio.validators"}
LIBRARIES = ("gradio", "starlette", "uvicorn")
ATTRIBUTES = {"fns", "state_holder", "session_data", "has_launched", "max_threads", "event_ids_to_events"}
"""without an underscore, but of no use except to whoever looks into gradio"""
OBJECTS = {"gr", "gradio", "page", "app", "server", "event", "request", "uvicorn", "starlette"}
"""what those libraries' modules and objects are called"""


def is_private(module: str, name: str = "") -> bool:
    """Whether importing this is a look into a library: starlette exports all of its modules, the others few."""
    library = module.partition(".")[0]
    if any(part.startswith("_") and part != "__version__" for part in f"{module}.{name}".split(".")):
        return True
    if library == "starlette" or module in EXPORTED:
        return False
    return module != library or (library == "gradio" and bool(name) and name not in gr.__all__)


def private_imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of what a file imports of the libraries and that they do not export."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        for module, name in found:
            if module.partition(".")[0] in LIBRARIES and is_private(module, name):
                yield f"{module}.{name}".rstrip(".")


def private_attributes(tree: ast.AST) -> Iterator[str]:
    """Chains such as `page._queue.stopped`, from what bears such a name; and attributes that nobody else has."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        chain = ast.unparse(node)
        first, *more = (part.strip("()[]") for part in chain.split("."))
        hidden = node.attr.startswith("_") and not node.attr.startswith("__")
        if node.attr in ATTRIBUTES or (hidden and OBJECTS & {first, *more[:-1]}):
            yield chain


@pytest.mark.parametrize("file", ELSEWHERE, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_no_private_name_outside_the_adapter(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    if "vitexplorer/ui" not in file.as_posix() and not any(library in source for library in LIBRARIES):
        return
    tree = ast.parse(source)
    assert [*private_imports(tree), *private_attributes(tree)] == []


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
