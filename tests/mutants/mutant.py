"""A fault planted on purpose, and the one place in the product where it belongs.

A place is named by a definition and by the code inside it, not by a file: definitions move between files. What is not
there, or is there twice, is an error, so that the list cannot rot.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.helpers.tree import ROOT

PRODUCT = "vitexplorer"
JAVASCRIPT = "JavaScript"
"""in place of a definition: anywhere in the scripts of the page"""


@dataclass(frozen=True)
class Mutant:
    """One fault."""

    name: str
    """the fault in words"""
    definition: str
    """the class, function, method ("Class.method") or module constant that holds it, or `JAVASCRIPT`"""
    before: str
    """the code that is right, as the file has it"""
    after: str
    """the code that is wrong"""
    test: str
    """the test that is to notice, by its name alone: tests move between files, too"""


@dataclass(frozen=True)
class Place:
    """Where a fault is planted: file, relative to the root, and the first character."""

    path: Path
    start: int


class NoPlaceError(Exception):
    """The code to change, or the test, is not there, or more than once."""


def find(mutant: Mutant) -> Place:
    """The one place of a fault. Raises NoPlaceError."""
    found = []
    for path, start, end in _definitions()[mutant.definition]:
        at = _source(path).find(mutant.before, start, end)
        while at >= 0:
            found.append(Place(path, at))
            at = _source(path).find(mutant.before, at + 1, end)
    if len(found) != 1:
        files = ", ".join(str(place.path) for place in found) or "nowhere"
        wanted = f"{mutant.name}: `{mutant.before}` was expected once in {mutant.definition}"
        raise NoPlaceError(f"{wanted}, it is {len(found)} times: {files}")
    return found[0]


def planted(mutant: Mutant, place: Place) -> str:
    """The file with the fault in it."""
    source = _source(place.path)
    return source[: place.start] + mutant.after + source[place.start + len(mutant.before) :]


def node_of(mutant: Mutant) -> str:
    """The test that is to notice as pytest takes it from the root. Raises NoPlaceError."""
    files = [file for file, tests in _tests().items() if mutant.test in tests]
    if len(files) != 1:
        raise NoPlaceError(f"{mutant.name}: {mutant.test} was expected in one file, it is in {files or 'none'}")
    return f"{files[0]}::{mutant.test}"


@cache
def _tests() -> dict[str, list[str]]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {
        str(file.relative_to(ROOT)): re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        for file in files
    }


# ------------------------------------------------------------------------------------------ definitions


@cache
def _source(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _definitions() -> dict[str, list[tuple[Path, int, int]]]:
    """By qualified name: file, first and last character."""
    found: dict[str, list[tuple[Path, int, int]]] = defaultdict(list)
    for file in sorted((ROOT / PRODUCT).rglob("*.py")):
        path = file.relative_to(ROOT)
        source = _source(path)
        lines = [0]
        for line in source.split("\n"):
            lines.append(lines[-1] + len(line) + 1)
        for name, node in _named(ast.parse(source), ""):
            found[name].append((path, lines[_first_line(node) - 1], lines[node.end_lineno]))
    for suffix in ("*.js", "*.mjs"):
        for file in sorted((ROOT / PRODUCT).rglob(suffix)):
            path = file.relative_to(ROOT)
            found[JAVASCRIPT].append((path, 0, len(_source(path))))
    return found


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _named(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
            yield from _named(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((f"{prefix}{target.id}", node) for target in targets if isinstance(target, ast.Name))
