"""Numbers of a result as text: CSV for a spreadsheet, JSON with all metadata."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import caption
from vitexplorer.figures.identity import facts_of
from vitexplorer.figures.named_columns import named_columns

REPEATED = 100_000
"""Most rows that all repeat the facts of the result; a longer table would grow several times"""

PIXELS = ("image", "other_image", "pixels")
"""Fields with pictures that the model saw, which are left out"""

_WITH_S = (
    "head key token row col window block channel part module design kind size filter method curve protocol side step "
    "text word"
)
SINGULAR = {f"{word}s": word for word in (*_WITH_S.split(), "row_offset", "col_offset")} | {
    "queries": "query",
    "patches": "patch",
    "classes": "class",
    "images": "picture",
    "quantities": "quantity",
}


def _places(result: Result) -> list[Sequence[Any]]:
    """Return the places of each axis: the result's names for them, otherwise 0, 1, 2, ..."""
    places = []
    for axis, size in zip(result.axes, result.values.shape, strict=True):
        names = getattr(result, axis, None)
        places.append(names if isinstance(names, tuple) and len(names) == size else range(size))
    return places


def _columns(result: Result) -> list[str]:
    """Return a name for each axis; repeated names are numbered (a board has rows of rows)."""
    names = [SINGULAR.get(axis, axis) for axis in result.axes]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name}_{before + 1}" if before else name for name, before in zip(names, again, strict=True)]


def as_csv(result: Result, language: Language = "en") -> str:
    """Return a tidy table: one row for each value, which is the last field; NaN is an empty field.

    The other columns are the facts of the result (view, settings, model, weights, changes, image), one column for each
    axis, and class names with probabilities, so that any reader of tables understands it. Beyond `REPEATED` rows only
    the first row has the facts.
    """
    facts = facts_of(result.view, result.provenance, result.settings, language)
    named = named_columns(result, language)
    words = zip(*named.values(), strict=True) if named else itertools.repeat(())
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
    writer.writerow(facts.values())
    lead = lines.pop().removesuffix("\n") + ","
    writer.writerow([*facts, *_columns(result), *named, "value"])
    places = itertools.product(*_places(result))
    for place, names, value in zip(places, words, result.values.ravel().tolist(), strict=False):
        writer.writerow([*place, *names, "" if isinstance(value, float) and math.isnan(value) else value])
    head, *rows = lines
    later = lead if len(rows) <= REPEATED else "," * len(facts)
    return "".join([head, *(lead + row for row in rows[:1]), *(later + row for row in rows[1:])])


def as_json(result: Result) -> str:
    """Return every field of the result but the image's pixels, texts in both languages, in full precision."""
    return json.dumps(as_document(result), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def as_document(result: Result, language: Language | None = None) -> dict[str, Any]:
    """Return the content of the JSON; texts in one language if one is given."""
    return _plain(result, language) | {"type": type(result).__name__, "caption": _plain(caption(result), language)}


def _plain(value: Any, language: Language | None) -> Any:
    """Convert a value for JSON; non-finite numbers become null."""
    if isinstance(value, Text):
        return value.in_(language) if language else value._asdict()
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist(), language)
    if dataclasses.is_dataclass(value):
        fields = (field.name for field in dataclasses.fields(value) if field.name not in PIXELS)
        return {name: _plain(getattr(value, name), language) for name in fields}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry, language) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, language) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
