"""Extra columns of a table beside its values, such as class names and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vitexplorer.core.text import Language
from vitexplorer.core.types import (
    OUTPUT,
    Answer,
    BeforeAfterResult,
    EvaluationResult,
    LensResult,
    MatrixResult,
    MethodsResult,
    Output,
    PicturesResult,
    PoolingResult,
    PredictionChange,
    Result,
    SidesResult,
    value_text,
)

Columns = dict[str, Sequence[Any]]
"""Column name -> one entry for each value, in the order of `values.ravel()`"""


def named_columns(result: Result, language: Language) -> Columns:
    """Return the columns beside place and value; empty if there is nothing to name."""
    if isinstance(result, LensResult):
        return _lens(result, language)
    if isinstance(result, PoolingResult):
        return _readings(result, language)
    if isinstance(result, BeforeAfterResult):
        return _answers(result, language)
    if isinstance(result, SidesResult):
        return _sides(result, language)
    if isinstance(result, PicturesResult):
        return _pictures(result)
    if isinstance(result, MethodsResult):
        return _methods(result, language) | _target(result, language)
    if isinstance(result, EvaluationResult):
        return {name: getattr(result, name).ravel().tolist() for name in ("low", "high")} | {
            "cases": result.counts.ravel().tolist()
        }
    if isinstance(result, MatrixResult) and result.low is not None and result.high is not None:
        counted = {} if result.counts is None else {"images": result.counts.ravel().tolist()}
        return {"low": _numbers(result.low), "high": _numbers(result.high)} | counted
    return _target(result, language)


def _numbers(values: np.ndarray) -> list[float | str]:
    """Return numbers, with an empty field for NaN."""
    return ["" if np.isnan(value) else value for value in values.ravel().tolist()]


def _lens(result: LensResult, language: Language) -> Columns:
    names = [name.in_(language) for name in result.class_names]
    shape = result.values.shape
    index = result.values if result.values.ndim > 2 else np.broadcast_to(np.arange(shape[-1]), shape)
    named = {"class_name": [names[number] for number in index.ravel().tolist()]} if names else {}
    return named | {"probability": result.probabilities.ravel().tolist()}


def _readings(result: PoolingResult, language: Language) -> Columns:
    """Return, for each reading of the tokens, its prediction after the block of the row."""
    columns: Columns = {}
    for reading in result.readings:
        columns |= {
            f"{reading.reading}_{name}": [values[name] for values in fields]
            for fields in [[_answer_fields(answer, language) for answer in reading.after_blocks]]
            for name in fields[0]
        }
    return columns


def _answer_fields(answer: Answer, language: Language) -> dict[str, Any]:
    """Return the fields of one answer in a table."""
    if isinstance(answer, Output):
        return {"output_name": answer.name.in_(language), "output": answer.output}
    return {"class": answer.index, "class_name": answer.name.in_(language), "probability": answer.probability}


def _answers(result: BeforeAfterResult, language: Language) -> Columns:
    """Return the likeliest class of both runs, or the output, and the map of the plain one."""
    count = result.values.size
    columns = {"before": result.before.ravel().tolist()}
    if not result.classes:
        return columns
    for run in ("before", "after"):
        likeliest: PredictionChange = max(result.classes, key=lambda change: getattr(change, run))
        answer = f"{_name(likeliest, language)} {value_text(getattr(likeliest, run), likeliest.unit)}"
        columns |= {f"answer_{run}": [answer] * count}
    return columns


def _pictures(result: PicturesResult) -> Columns:
    """Return the picture hash of each row."""
    each = result.values[0].size
    return {"picture_hash": [picture.provenance.image_hash[:8] for picture in result.pictures for _ in range(each)]}


def _methods(result: MethodsResult, language: Language) -> Columns:
    """Return the unit of each method, and the areas under its curves if they were measured."""
    each = result.values[0].size
    columns: Columns = {"unit": [unit.in_(language) for unit in result.units for _ in range(each)]}
    if result.areas is not None:
        columns |= dict(zip(result.curves, np.repeat(result.areas, each, axis=0).T.tolist(), strict=True))
    return columns


def _sides(result: SidesResult, language: Language) -> Columns:
    """Return each row's name and unit, and the capture that its number belongs to."""
    entries = [entry.in_(language) for entry in result.entries for _ in result.names]
    units = [unit.in_(language) for unit in result.units for _ in result.names]
    return {"entry": entries, "unit": units, "whose": [name.in_(language) for name in result.names] * len(result.units)}


def _target(result: Result, language: Language) -> Columns:
    if result.target is None:
        return {}
    fields = {
        "target": result.target.index,
        "target_name": result.target.name.in_(language),
        f"target_{result.target.unit.en}": result.target.value,
    }
    return {name: [value] * result.values.size for name, value in fields.items()}


def _name(change: PredictionChange, language: Language) -> str:
    return change.name.in_(language) or (OUTPUT.in_(language) if change.unit == OUTPUT else str(change.index))
