"""What the commands are called: views and comparisons by their key, or by any beginning that only one of them has."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import vitexplorer
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text

ALIASES = {"attention": "attention-map", "rollout": "attention-rollout"}
"""short names for what several commands begin with, or end in"""


def dashed(key: str) -> str:
    """A key of a registry as the command line writes it."""
    return key.replace("_", "-")


def full_name(given: str, commands: Iterable[str]) -> str:
    """The command that a name, an alias or an unambiguous beginning means. Raises UnknownNameError."""
    name = ALIASES.get(given, dashed(given))
    if name in commands:
        return name
    meant = [command for command in commands if command.startswith(name)]
    if len(meant) != 1:
        raise unknown_name("command", given, meant or commands)
    return meant[0]


@cache
def questions(folder: str = "views", record: str = "VIEW") -> Mapping[str, Text]:
    """The question of every view, or of another folder's records, by its command, read without running the source."""
    files = sorted((Path(vitexplorer.__file__).parent / folder).glob("*.py"))
    found = {dashed(file.stem): _question(file, record) for file in files}
    return {name: question for name, question in found.items() if question}


def _question(file: Path, record: str) -> Text | None:
    """`question=Text(english, chinese)` of the file's record; None where the file holds none."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [record]:
            (question,) = (keyword.value for keyword in node.value.keywords if keyword.arg == "question")
            return Text(*map(ast.literal_eval, question.args))
    return None
