"""Mutant, a fault planted on purpose, and its unique place in the package.

A place is given by a definition and by the code inside it, not by a file, since definitions move between files. Missing
or repeated code is an error, so that the list stays up to date.
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
"""Value of `definition` for a place anywhere in the scripts of the page"""


@dataclass(frozen=True)
class Mutant:
    """A fault and the test that must notice it."""

    name: str
    """Description of the fault"""
    definition: str
    """Class, function, method ("Class.method") or module constant that contains it, or `JAVASCRIPT`"""
    before: str
    """Correct code, as in the file"""
    after: str
    """Faulty code"""
    test: str
    """Name of the test that must notice, without its file, since tests move between files"""


@dataclass(frozen=True)
class Place:
    """Place of a fault: the file, relative to the root, and the first character."""

    path: Path
    start: int


class NoPlaceError(Exception):
    """Raised when the code to change, or the test, does not exist exactly once."""


def find(mutant: Mutant) -> Place:
    """Return the unique place of a fault, or raise NoPlaceError."""
    places = []
    for path, start, end in _definitions()[mutant.definition]:
        at = _source(path).find(mutant.before, start, end)
        while at >= 0:
            places.append(Place(path, at))
            at = _source(path).find(mutant.before, at + 1, end)
    if len(places) != 1:
        files = ", ".join(str(place.path) for place in places) or "nowhere"
        expected = f"{mutant.name}: `{mutant.before}` was expected once in {mutant.definition}"
        raise NoPlaceError(f"{expected}, it is {len(places)} times: {files}")
    return places[0]


def planted(mutant: Mutant, place: Place) -> str:
    """Return the source of the file with the fault in it."""
    source = _source(place.path)
    return source[: place.start] + mutant.after + source[place.start + len(mutant.before) :]


def node_of(mutant: Mutant) -> str:
    """Return the pytest node id of the test that must notice, or raise NoPlaceError."""
    files = [file for file, tests in _tests().items() if mutant.test in tests]
    if len(files) != 1:
        raise NoPlaceError(f"{mutant.name}: {mutant.test} was expected in one file, it is in {files or 'none'}")
    return f"{files[0]}::{mutant.test}"


@cache
def _tests() -> dict[str, list[str]]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {
        str(file.relative_to(ROOT)): re.findall(
            r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
        )
        for file in files
    }


# ------------------------------------------------------------------------------------------ definitions


@cache
def _source(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _definitions() -> dict[str, list[tuple[Path, int, int]]]:
    """Return file, first and last character of definitions by qualified name."""
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
