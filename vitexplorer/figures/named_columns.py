"""Extra columns of a table beside its values, such as class names and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vitexplorer.core.check_up_results import AnsweredPicturesResult, TwoMatricesResult
from vitexplorer.core.network_result import NetworkPairResult
from vitexplorer.core.text import Language
from vitexplorer.core.text_results import SegmentationResult, TextScoresResult
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
    match result:
        case LensResult():
            return _lens(result, language)
        case PoolingResult():
            return _readings(result, language)
        case BeforeAfterResult():
            return _answers(result, language)
        case SidesResult():
            sides = [name.in_(language) for name in result.names]
            entries = [entry.in_(language) for entry in result.entries for _ in sides]
            units = [unit.in_(language) for unit in result.units for _ in sides]
            return {"entry": entries, "unit": units, "whose": sides * len(result.units)}
        case AnsweredPicturesResult():
            answers = [answer.in_(language) for of_side in result.answers for answer in of_side]
            return {"whose": _headings(result, language), "answer": answers}
        case TextScoresResult():
            return {"answer": ["" if share != share else share for share in result.answers.tolist()]}
        case SegmentationResult():
            return {"text": [result.texts[best] for best in result.values.ravel()]}
        case TwoMatricesResult():
            return {"whose": _headings(result, language)}
        case NetworkPairResult():
            sides = [name.in_(language) for name in result.names]
            return {"whose": [side for side in sides for _ in range(result.values[0].size)]}
        case PicturesResult():
            hashes = [picture.provenance.image_hash[:8] for picture in result.pictures]
            return {"picture_hash": [each for each in hashes for _ in range(result.values[0].size)]}
        case MethodsResult():
            return _methods(result, language) | _target(result, language)
        case EvaluationResult():
            return {"low": _flat(result.low), "high": _flat(result.high), "cases": _flat(result.counts)}
        case MatrixResult() if result.low is not None and result.high is not None:
            counted = {} if result.counts is None else {"images": _flat(result.counts)}
            low, high = (["" if np.isnan(end) else end for end in _flat(ends)] for ends in (result.low, result.high))
            return {"low": low, "high": high} | counted
    return _target(result, language)


def _flat(values: np.ndarray) -> list[Any]:
    return values.ravel().tolist()


def _headings(result: AnsweredPicturesResult | TwoMatricesResult, language: Language) -> list[str]:
    return [heading.in_(language) for heading in result.headings for _ in range(result.values[0].size)]


def _lens(result: LensResult, language: Language) -> Columns:
    names = [name.in_(language) for name in result.class_names]
    shape = result.values.shape
    index = result.values if result.values.ndim > 2 else np.broadcast_to(np.arange(shape[-1]), shape)
    named = {"class_name": [names[number] for number in _flat(index)]} if names else {}
    return named | {"probability": _flat(result.probabilities)}


def _readings(result: PoolingResult, language: Language) -> Columns:
    """Return, for each reading of the tokens, its prediction after the block of the row."""
    columns: Columns = {}
    for reading in result.readings:
        rows = [_answer_fields(answer, language) for answer in reading.after_blocks]
        columns |= {f"{reading.reading}_{name}": [row[name] for row in rows] for name in rows[0]}
    return columns


def _answer_fields(answer: Answer, language: Language) -> dict[str, Any]:
    if isinstance(answer, Output):
        return {"output_name": answer.name.in_(language), "output": answer.output}
    return {"class": answer.index, "class_name": answer.name.in_(language), "probability": answer.probability}


def _answers(result: BeforeAfterResult, language: Language) -> Columns:
    """Return the likeliest class of both runs, or the output, and the map of the plain one."""
    columns: Columns = {"before": _flat(result.before)}
    for run in ("before", "after") if result.classes else ():
        likeliest: PredictionChange = max(result.classes, key=lambda change: getattr(change, run))
        unnamed = OUTPUT.in_(language) if likeliest.unit == OUTPUT else str(likeliest.index)
        name = likeliest.name.in_(language) or unnamed
        answer = f"{name} {value_text(getattr(likeliest, run), likeliest.unit)}"
        columns |= {f"answer_{run}": [answer] * result.values.size}
    return columns


def _methods(result: MethodsResult, language: Language) -> Columns:
    """Return the unit of each method, and the areas under its curves if they were measured."""
    each = result.values[0].size
    columns: Columns = {"unit": [unit.in_(language) for unit in result.units for _ in range(each)]}
    if result.areas is not None:
        columns |= dict(zip(result.curves, np.repeat(result.areas, each, axis=0).T.tolist(), strict=True))
    return columns


def _target(result: Result, language: Language) -> Columns:
    if result.target is None:
        return {}
    fields = {
        "target": result.target.index,
        "target_name": result.target.name.in_(language),
        f"target_{result.target.unit.en}": result.target.value,
    }
    return {name: [value] * result.values.size for name, value in fields.items()}
