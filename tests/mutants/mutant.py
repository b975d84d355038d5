"""A fault planted on purpose, and the one place in the product where it belongs.

A place is named by a definition and by the code inside it, not by a file: definitions move between files. What is not
there, or is there twice, is an error, so that the list cannot rot.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
    tests: tuple[str, ...] | str
    """who is to notice: "test_capture.py::test_a_query_gives_all_it_has", below tests/, or a whole file"""

    @property
    def named_tests(self) -> tuple[str, ...]:
        """The tests as pytest takes them from the root."""
        tests = (self.tests,) if isinstance(self.tests, str) else self.tests
        return tuple(f"tests/{test}" for test in tests)


@dataclass(frozen=True)
class Place:
    """Where a fault is planted: file, relative to the root, and the first character."""

    path: Path
    start: int


class NoPlaceError(Exception):
    """The code to change is not in the product, or more than once."""


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
        raise NoPlaceError(
            f"{mutant.name}: `{mutant.before}` was expected once in {mutant.definition}, it is {len(found)} times: {files}"
        )
    return found[0]


def planted(mutant: Mutant, place: Place) -> str:
    """The file with the fault in it."""
    source = _source(place.path)
    return source[: place.start] + mutant.after + source[place.start + len(mutant.before) :]


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
