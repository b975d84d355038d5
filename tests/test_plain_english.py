"""Docstrings say what a thing is or does in their first word, and no name is a word of a private dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.every_case import check_every
from tests.helpers.tree import ROOT, tracked_files

QUESTIONS = {
    *("what", "how", "whether", "where", "who", "whose", "which", "whoever", "whatever", "why", "when"),
    *("it", "that", "those", "such"),
}
"""First words of docstrings that do not name a thing yet"""
FRAGMENTS = QUESTIONS | {
    *("of", "in", "from", "by", "as", "for", "with", "to", "on", "at", "than", "after", "before", "beside")
}
"""First words that make the doc of an attribute a piece of a sentence"""
RETIRED = {
    *("told", "said", "tells", "telling", "kept", "shown", "wanted", "lasting", "explored", "takeaway"),
    *("desk", "door", "doors", "crowd", "crowds", "stranger", "strangers"),
}
"""Words of names that do not say what a thing is"""
ON_PURPOSE = {
    "benchmarks/field/tables.py": {"said"},  # a key of field.json
    "vitexplorer/core/types.py": {"settings_said", "shown"},  # fields of results
    "vitexplorer/ui/shell/guide/guide.py": {"shown"},  # a field that the browser reads
    "vitexplorer/views/mae_reconstruction.py": {"shown"},  # a setting of the view
}
"""Retired words in names that stand in files and links of people"""
ONE_LINE_SECTION = re.compile(r"^\s*(Args|Returns|Raises): \S", re.MULTILINE)


def first_word(text: str) -> str:
    """Return the first word of a text in small letters; empty for a question that is meant as one."""
    sentence = re.match(r".*?[.?!:](?=\s|$)", text.strip(), re.DOTALL)
    if sentence and sentence.group().endswith("?"):
        return ""
    word = re.match(r"\W*([A-Za-z']+)", text)
    return word[1].lower() if word else ""


def docstring_problems(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield docstrings and docs of attributes that begin with no noun or verb, or squeeze a section into a line."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node) or ""
            if first_word(doc) in QUESTIONS or ONE_LINE_SECTION.search(doc):
                yield doc
        if isinstance(node, ast.Module | ast.ClassDef):
            for statement, doc in zip(node.body, node.body[1:], strict=False):
                if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(doc, ast.Expr):
                    text = doc.value.value if isinstance(doc.value, ast.Constant) else None
                    if isinstance(text, str) and first_word(text) in FRAGMENTS:
                        yield text


def retired_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield names of classes, functions, parameters and variables with a retired word in them."""
    for node in nodes:
        name = ""
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if RETIRED & set(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")):
            yield name


def check_file(path: Path) -> None:
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    assert not RETIRED & set(path.stem.split("_"))
    assert [*docstring_problems(nodes)] == []
    assert set(retired_names(nodes)) == ON_PURPOSE.get(path.relative_to(ROOT).as_posix(), set())


def test_every_file_is_written_plainly() -> None:
    sources = [path for path in tracked_files() if path.suffix == ".py"]
    check_every({path.relative_to(ROOT).as_posix(): path for path in sources}, check_file)


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        ('def a():\n    """Return a number."""', 0),
        ('def a():\n    """What it is."""', 1),
        ('def a():\n    """What is it?"""', 0),
        ('class A:\n    b = 1\n    """of the token"""', 1),
        ('class A:\n    b = 1\n    """Width in pixels"""', 0),
        ('def a(b):\n    """Return.\n\n    Args: b: a number.\n    """', 1),
        ("def tell_wanted(): pass", 1),
        ("class KeptViews: pass", 1),
        ("told = 1", 1),
        ("print(told)", 0),
    ],
)
def test_what_is_not_plain_is_noticed(source: str, problems: int) -> None:
    nodes = [*ast.walk(ast.parse(source))]
    assert len([*docstring_problems(nodes), *retired_names(nodes)]) == problems
