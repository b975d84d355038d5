"""What the commands are called: every view by its key, or by any beginning that only one of them has."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import vitexplorer
from vitexplorer.registry import unknown_name
from vitexplorer.words import Text

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
def questions() -> Mapping[str, Text]:
    """The question of every view by its command, read from the source without running it."""
    files = sorted((Path(vitexplorer.__file__).parent / "views").glob("*.py"))
    found = {dashed(file.stem): _question(file) for file in files}
    return {name: question for name, question in found.items() if question}


def _question(file: Path) -> Text | None:
    """`question=Text(english, chinese)` of the file's VIEW; None where the file holds no view."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["VIEW"]:
            (question,) = (keyword.value for keyword in node.value.keywords if keyword.arg == "question")
            return Text(*map(ast.literal_eval, question.args))
    return None
