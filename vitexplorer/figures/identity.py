"""What a saved file says of itself: a name with view, model and run, and the facts in every row of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vitexplorer.core.text import Language
from vitexplorer.core.types import Provenance, Result

FEW_LETTERS = 48
"""of what was changed, in a file name"""
LONGEST = 160
"""letters of a name; systems of files take 255 bytes"""
IN_NAMES = ("block", "head", "head_fusion", "query", "target", "start_block", "attention_block", "metric")
"""settings that tell two files of one view apart"""


def facts_of(view: str, provenance: Provenance, settings: Mapping[str, object], language: Language) -> dict[str, str]:
    """Columns that are the same in every row of a table, by name."""
    height, width = provenance.input_size
    size = f"{height} x {width} px" if height else ""
    beside = facts_of(view, provenance.beside, settings, language) if provenance.beside else {}
    right = {f"right_{name}": beside[name] for name in ("model", "weights", "changed", "image") if beside}
    return {
        "view": view,
        "settings": "; ".join(f"{name}={_short(value)}" for name, value in settings.items() if value is not None),
        "model": provenance.model,
        "weights": provenance.weights_text.in_(language),
        "changed": "; ".join(change.in_(language) for change in provenance.changes),
        "image": " ".join(filter(None, (provenance.image_hash[:8], provenance.fit, size))),
        **right,
    }


def run_of(provenance: Provenance) -> str:
    """Which run of a model, in letters of a file name: plain, random, changed by what, or tuned how; at which size."""
    weights = {"random": "random", "file": provenance.weights_source, "fine-tuned": provenance.weights_source}
    changes = "+".join(change.en for change in provenance.changes)
    kind = weights.get(provenance.weights, "").partition(",")[0]
    run = f"changed-{changes}" if changes else "" if kind else "plain"
    size = "{}x{}".format(*provenance.input_size) if provenance.resized else ""
    return "-".join(filter(None, (_safe(kind), _safe(run)[:FEW_LETTERS].strip("-"), size)))


def file_stem(result: Result) -> str:
    """The name of a file of this result without its ending: view, model, run, image, and the settings that matter."""
    settings = {"block": "block", "head": "head", "start_block": "from", "attention_block": "block"}
    told = [
        f"{settings.get(name, '')}{_short(result.settings[name])}"
        for name in IN_NAMES
        if result.settings.get(name) is not None
    ]
    provenance = result.provenance
    beside = [provenance.beside.model, run_of(provenance.beside)] if provenance.beside else []
    parts = [result.view, provenance.model, run_of(provenance), *beside, *told, provenance.image_hash[:8]]
    return "_".join(filter(None, map(_safe, parts)))[:LONGEST]


def _short(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _safe(text: str) -> str:
    """Letters, digits, dots and dashes."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")
