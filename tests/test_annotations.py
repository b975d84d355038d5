"""Names in annotations exist, so that `get_type_hints` works on every function and record."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import vitexplorer
from tests.helpers.every_case import check_every


def only_for_types(module: ModuleType) -> dict[str, Any]:
    """Import what a module imports for its annotations alone: it must exist too."""
    names: dict[str, Any] = {}
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module.__name__, "exec"), names)
    return names


def annotated(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield functions and classes that a module defines, and the methods of those classes."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            yield name, thing
            made = {"__init__"} if is_dataclass(thing) else set()  # of fields that the class itself has been asked for
            parts = {key: part for key, part in vars(thing).items() if key not in made}
            yield from ((f"{name}.{key}", part) for key, part in parts.items() if is_of(part, module))


def is_of(part: Any, module: ModuleType) -> bool:
    """Return whether a module defines a method itself; gradio adds methods to its subclasses."""
    return inspect.isfunction(part) and part.__module__ == module.__name__


def check_module(name: str) -> None:
    module = importlib.import_module(name)
    known = only_for_types(module)
    for thing, of in annotated(module):
        if not (of.__annotations__ if inspect.isfunction(of) else vars(of).get("__annotations__")):
            continue
        try:
            typing.get_type_hints(of, localns=known)
        except NameError as error:
            pytest.fail(f"{name}.{thing}: {error}")


def test_every_annotation_means_something() -> None:
    names = [info.name for info in pkgutil.walk_packages(vitexplorer.__path__, "vitexplorer.")]
    check_every({name: name for name in names if not name.endswith("__main__")}, check_module)
