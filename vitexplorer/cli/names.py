"""Names of commands: keys of views and comparisons, or any unambiguous prefix."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import vitexplorer
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text

ALIASES = {"attention": "attention-map", "rollout": "attention-rollout"}
"""Short names that would otherwise be ambiguous"""


def dashed(key: str) -> str:
    """Convert a registry key to a command name."""
    return key.replace("_", "-")


def full_name(given: str, commands: Iterable[str]) -> str:
    """Return the command for a name, an alias or an unambiguous prefix. Raises UnknownNameError."""
    name = ALIASES.get(given, dashed(given))
    if name in commands:
        return name
    matching = [command for command in commands if command.startswith(name)]
    if len(matching) != 1:
        raise unknown_name("command", given, matching or commands)
    return matching[0]


@cache
def questions(folder: str = "views", record: str = "VIEW") -> Mapping[str, Text]:
    """Return the question of every view (or of another folder's records) by command, without importing the source."""
    files = sorted((Path(vitexplorer.__file__).parent / folder).glob("*.py"))
    by_command = {dashed(file.stem): _question(file, record) for file in files}
    return {name: question for name, question in by_command.items() if question}


def _question(file: Path, record: str) -> Text | None:
    """Parse `question=Text(english, chinese)` of the file's record; None if the file has no record."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [record]:
            (question,) = (keyword.value for keyword in node.value.keywords if keyword.arg == "question")
            return Text(*map(ast.literal_eval, question.args))
    return None
