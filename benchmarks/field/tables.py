"""Tables of measurements, as Markdown for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.field.timing import Timing

Cell = str | int | float | Timing | None
"""Value of a cell; a float is printed with three digits, None as an empty cell"""


@dataclass(frozen=True)
class Made:
    """Provenance of a table."""

    command: str
    date: str
    machine: str
    versions: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {version}" for name, version in self.versions.items() if version)
        return f"`{self.command}`, {self.date}, {self.machine}; {libraries}."


@dataclass(frozen=True)
class Table:
    """Table of one section."""

    key: str
    """Name in the JSON; a new table of the same name replaces it"""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    said: tuple[str, ...] = ()
    """Paragraphs below the table: the result, the method, reasons for poor numbers"""
    made: Made | None = None


Tables = dict[str, list[Table]]
"""Section -> its tables"""
_TABLES = TypeAdapter(Tables)


def text(cell: Cell) -> str:
    """Format a cell."""
    if cell is None:
        return ""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def as_markdown(table: Table) -> str:
    """Return heading, table, paragraphs and provenance as Markdown."""
    rows = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    lines = ["| " + " | ".join(map(text, row)) + " |" for row in rows]
    return "\n\n".join(
        [f"### {table.title}", "\n".join(lines), *table.said, *([str(table.made)] if table.made else [])]
    )


def read(file: Path) -> Tables:
    """Read the tables of a JSON file; none if it does not exist."""
    return _TABLES.validate_json(file.read_bytes()) if file.is_file() else {}


def write(file: Path, tables: Tables) -> None:
    """Write the tables to a JSON file."""
    file.write_bytes(_TABLES.dump_json(tables, indent=1) + b"\n")


def document(tables: Tables, order: tuple[str, ...]) -> str:
    """Return all sections as Markdown."""
    known = [section for section in order if section in tables]
    parts = ["# Measured against the field", *(as_markdown(table) for section in known for table in tables[section])]
    return "\n\n".join(parts) + "\n"
