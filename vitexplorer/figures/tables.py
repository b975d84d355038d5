"""The numbers of a result as text: CSV for a spreadsheet, JSON with everything that is known about them."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import caption
from vitexplorer.figures.identity import facts_of
from vitexplorer.figures.named_columns import named_columns

REPEATED = 100_000
"""rows up to which each says what it is of; a longer table would be several times as large for it"""

PIXELS = ("image", "other_image")
"""fields that hold a picture the model saw, which is not among the numbers"""

SINGULAR = {
    "heads": "head",
    "queries": "query",
    "keys": "key",
    "tokens": "token",
    "patches": "patch",
    "rows": "row",
    "cols": "col",
    "windows": "window",
    "blocks": "block",
    "classes": "class",
    "channels": "channel",
    "parts": "part",
    "modules": "module",
    "designs": "design",
    "kinds": "kind",
    "sizes": "size",
    "filters": "filter",
    "methods": "method",
    "curves": "curve",
    "protocols": "protocol",
    "sides": "side",
    "images": "picture",
    "quantities": "quantity",
    "steps": "step",
    "row_offsets": "row_offset",
    "col_offsets": "col_offset",
}


def _places(result: Result) -> list[Sequence[Any]]:
    """For each axis its places: the names that the result has for them, otherwise 0, 1, 2, ..."""
    places = []
    for axis, size in zip(result.axes, result.values.shape, strict=True):
        names = getattr(result, axis, None)
        places.append(names if isinstance(names, tuple) and len(names) == size else range(size))
    return places


def _columns(result: Result) -> list[str]:
    """A name for each axis; one that comes again (a board has rows of rows) is numbered."""
    names = [SINGULAR.get(axis, axis) for axis in result.axes]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name}_{before + 1}" if before else name for name, before in zip(names, again, strict=True)]


def as_csv(result: Result, language: Language = "en") -> str:
    """Tidy: one row for each value, which stands last; what is not a number is an empty field.

    Before it stand what the numbers are of (view, settings, model, weights, changes, image), a column for each axis,
    and classes by name and probability, so that any reader of tables takes it without being told. Of more than
    `REPEATED` rows the first alone says what they are of.
    """
    facts, named = facts_of(result.view, result.provenance, result.settings, language), named_columns(result, language)
    words = zip(*named.values(), strict=True) if named else itertools.repeat(())
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
    writer.writerow(facts.values())
    lead = lines.pop().removesuffix("\n") + ","
    writer.writerow([*facts, *_columns(result), *named, "value"])
    for place, said, value in zip(
        itertools.product(*_places(result)), words, result.values.ravel().tolist(), strict=False
    ):
        writer.writerow([*place, *said, "" if isinstance(value, float) and math.isnan(value) else value])
    head, *rows = lines
    later = lead if len(rows) <= REPEATED else "," * len(facts)
    return "".join([head, *(lead + row for row in rows[:1]), *(later + row for row in rows[1:])])


def as_json(result: Result) -> str:
    """Every field of the result but the image's pixels, texts in both languages, numbers in full precision."""
    return json.dumps(as_document(result), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def as_document(result: Result, language: Language | None = None) -> dict[str, Any]:
    """The same as what JSON is made of; texts in one language where one is named."""
    document = {
        field.name: getattr(result, field.name) for field in dataclasses.fields(result) if field.name not in PIXELS
    }
    document |= {"type": type(result).__name__, "caption": caption(result)}
    return _plain(document, lambda text: text.in_(language) if language else text._asdict())


def _plain(thing: Any, said: Callable[[Text], Any]) -> Any:
    """As JSON has it; what is not a finite number is null."""
    if isinstance(thing, Text):
        return said(thing)
    if isinstance(thing, np.ndarray | np.generic):
        return _plain(thing.tolist(), said)
    if dataclasses.is_dataclass(thing):
        fields = (field.name for field in dataclasses.fields(thing) if field.name not in PIXELS)
        return {name: _plain(getattr(thing, name), said) for name in fields}
    if isinstance(thing, Mapping):
        return {str(key): _plain(value, said) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(one, said) for one in thing]
    if isinstance(thing, float) and not math.isfinite(thing):
        return None
    return thing if isinstance(thing, str | int | float | bool | None) else str(thing)
