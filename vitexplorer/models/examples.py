"""Example images of the repository: drawn scenes, paper creatures and photographs, with licence and source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Text


@dataclass(frozen=True)
class Example:
    """An image of the repository."""

    id: str
    path: Path
    title: Text
    licence: str
    source: str
    kind: Literal["scene", "creature", "photograph"]
    """Kind of picture; scenes and creatures were drawn by this project"""
    hash: str
    """`image_hash` of its pixels"""
    labels: tuple[str, ...] = ()
    """Classes of what a scene or creature shows"""
    colours: tuple[str, ...] = ()
    """Colours of the things of a worded scene, in the order of their labels"""
    worded: int | None = None
    """Number of the worded scene of the stream "examples" that it shows, of which sentences are known to be true"""


@cache
def examples() -> dict[str, Example]:
    """Return the example images by id, in display order."""
    folder = ASSETS / "examples"
    entries = json.loads((folder / "examples.json").read_text(encoding="utf-8"))
    return {
        entry["id"]: Example(
            entry["id"],
            folder / entry["file"],
            Text(entry["title_en"], entry["title_zh"]),
            entry["licence"],
            entry["source"],
            kind=entry["kind"],
            hash=entry["hash"],
            labels=tuple(entry.get("labels", [entry["label"]] if "label" in entry else [])),
            colours=tuple(entry.get("colours", [])),
            worded=entry.get("worded"),
        )
        for entry in entries
    }
