"""Identity of a saved file: a name with view, model and run, and the facts in every row of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vitexplorer.core.text import Language
from vitexplorer.core.types import Provenance, Result

FEW_LETTERS = 48
"""Most letters in a file name for the changes of a run"""
LONGEST = 160
"""Most letters of a name; file systems take 255 bytes"""
IN_NAMES = ("block", "head", "head_fusion", "query", "target", "start_block", "attention_block", "metric")
"""Settings that distinguish two files of one view"""


def facts_of(view: str, provenance: Provenance, settings: Mapping[str, object], language: Language) -> dict[str, str]:
    """Return columns that are equal in every row of a table, by name."""
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
    """Return the run of a model as part of a file name: plain, random, its changes or tuning, and its size."""
    weights = {"random": "random", "file": provenance.weights_source, "fine-tuned": provenance.weights_source}
    changes = "+".join(change.en for change in provenance.changes)
    kind = weights.get(provenance.weights, "").partition(",")[0]
    run = f"changed-{changes}" if changes else "" if kind else "plain"
    size = "{}x{}".format(*provenance.input_size) if provenance.resized else ""
    return "-".join(filter(None, (_safe(kind), _safe(run)[:FEW_LETTERS].strip("-"), size)))


def file_stem(result: Result) -> str:
    """Return a file name without its ending: view, model, run, image, and the settings in `IN_NAMES`."""
    settings = {"block": "block", "head": "head", "start_block": "from", "attention_block": "block"}
    labelled = [
        f"{settings.get(name, '')}{_short(result.settings[name])}"
        for name in IN_NAMES
        if result.settings.get(name) is not None
    ]
    provenance = result.provenance
    beside = [provenance.beside.model, run_of(provenance.beside)] if provenance.beside else []
    parts = [result.view, provenance.model, run_of(provenance), *beside, *labelled, provenance.image_hash[:8]]
    return "_".join(filter(None, map(_safe, parts)))[:LONGEST]


def _short(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _safe(text: str) -> str:
    """Replace all but letters, digits, dots and dashes."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")
