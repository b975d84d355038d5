"""Summary of a result for a terminal, the same for every kind of result."""

from __future__ import annotations

from dataclasses import Field
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.core.query_words import query_text
from vitexplorer.core.registry import is_registered
from vitexplorer.core.summaries import Summary, array_text

if TYPE_CHECKING:
    from vitexplorer.core.types import Provenance, Result


def result_summary(result: Result, more_fields: tuple[Field, ...]) -> Summary:
    """Summarise model, image, values and settings; `more_fields` are the fields that only this kind of result has."""
    provenance = result.provenance
    beside = provenance.beside
    query = getattr(result, "query", None)
    is_view = is_registered("view", result.view)
    first = "vx.reading(result) says it in a sentence" if is_view else "result.values has the numbers"
    return Summary(
        f"{result.view} of {model_line(provenance)}",
        (
            ("image", image_line(provenance)),
            ("changed", provenance.changes),
            ("beside", beside and (model_line(beside), image_line(beside), *beside.changes)),
            ("values", f"{array_text(result.values, result.axes)}, {result.unit.en}"),
            ("query", query and query_text(query)),
            ("target", result.target),
            ("settings", {name: value for name, value in result.settings.items() if not (query and name == "query")}),
            (
                "also",
                tuple(_attribute(result, more.name) for more in more_fields if not (query and more.name == "query")),
            ),
        ),
        f'{first}; vx.render(result) draws it; vx.save(result, "x.png") keeps it',
    )


def model_line(provenance: Provenance) -> str:
    """Describe the model and its weights."""
    return f"{provenance.model}, {provenance.weights_text.en}"


def image_line(provenance: Provenance) -> str:
    """Describe the image and its size; empty where there is none."""
    height, width = provenance.input_size
    parts = (
        provenance.image_hash[:8],
        f"fitted by {provenance.fit}" if provenance.fit else "",
        f"to {height} × {width} px" if height else "",
        "(not the model's own size)" if provenance.resized else "",
    )
    return " ".join(filter(None, parts))


def _attribute(result: Result, name: str) -> str:
    """Write a field as an attribute, an array with its shape; empty for an empty field."""
    value = getattr(result, name)
    if isinstance(value, np.ndarray):
        return f".{name} {' × '.join(map(str, value.shape))}"
    return "" if value is None or value == () else f".{name}"
