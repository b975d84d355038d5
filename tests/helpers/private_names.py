"""Private names of gradio, starlette and uvicorn in a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import gradio as gr

from tests.helpers.tree import PACKAGE

ADAPTER = sorted((PACKAGE / "ui" / "gradio_adapter").glob("*.py"))
"""Files that may use private names"""
EXPORTED = {"gradio.components", "gradio.layouts", "gradio.mcp", "gradio.themes", "gradio.validators"}
LIBRARIES = ("gradio", "starlette", "uvicorn")
ATTRIBUTES = {"fns", "state_holder", "session_data", "has_launched", "max_threads", "event_ids_to_events"}
"""Names without an underscore that serve nobody but who looks into gradio"""
OBJECTS = {"gr", "gradio", "page", "app", "server", "event", "request", "uvicorn", "starlette"}
"""Names that code gives to modules and objects of those libraries"""


def is_private(module: str, name: str = "") -> bool:
    """Return whether an import looks into a library: starlette exports all of its modules, the others few."""
    library = module.partition(".")[0]
    if any(part.startswith("_") and part != "__version__" for part in f"{module}.{name}".split(".")):
        return True
    if library == "starlette" or module in EXPORTED:
        return False
    return module != library or (library == "gradio" and bool(name) and name not in gr.__all__)


def private_imports(tree: ast.AST) -> Iterator[str]:
    """Yield dotted names that a file imports from the libraries though they do not export them."""
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
    """Yield chains such as `page._queue.stopped` on objects of the libraries, and attributes that only these have."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        chain = ast.unparse(node)
        first, *more = (part.strip("()[]") for part in chain.split("."))
        hidden = node.attr.startswith("_") and not node.attr.startswith("__")
        if node.attr in ATTRIBUTES or (hidden and OBJECTS & {first, *more[:-1]}):
            yield chain
