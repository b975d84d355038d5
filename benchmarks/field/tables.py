"""Tables of what was measured, as Markdown for people and as JSON for what reads them later."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.field.timing import Timing

Cell = str | int | float | Timing | None
"""a float is told with three digits, None as nothing"""


@dataclass(frozen=True)
class Made:
    """How a table came about."""

    command: str
    date: str
    machine: str
    versions: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {version}" for name, version in self.versions.items() if version)
        return f"`{self.command}`, {self.date}, {self.machine}; {libraries}."


@dataclass(frozen=True)
class Table:
    """What one question got for an answer."""

    key: str
    """its name in the JSON; a table of the same name takes its place"""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    said: tuple[str, ...] = ()
    """paragraphs under it: what it says, how it was measured, why a number falls short"""
    made: Made | None = None


Tables = dict[str, list[Table]]
"""section -> its tables"""
_TABLES = TypeAdapter(Tables)


def text(cell: Cell) -> str:
    """A cell as it is read."""
    if cell is None:
        return ""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def as_markdown(table: Table) -> str:
    """Heading, table, what it says and how it was made."""
    rows = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    lines = ["| " + " | ".join(map(text, row)) + " |" for row in rows]
    return "\n\n".join(
        [f"### {table.title}", "\n".join(lines), *table.said, *([str(table.made)] if table.made else [])]
    )


def read(file: Path) -> Tables:
    """What a JSON of ours holds; nothing where there is none."""
    return _TABLES.validate_json(file.read_bytes()) if file.is_file() else {}


def write(file: Path, tables: Tables) -> None:
    """The JSON."""
    file.write_bytes(_TABLES.dump_json(tables, indent=1) + b"\n")


def document(tables: Tables, order: tuple[str, ...]) -> str:
    """The Markdown of all sections."""
    known = [section for section in order if section in tables]
    parts = ["# Measured against the field", *(as_markdown(table) for section in known for table in tables[section])]
    return "\n\n".join(parts) + "\n"
