"""Files of a check-up's repairs: weights, labels, and what has to be done to the pictures."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

from pydantic_core import to_jsonable_python
from safetensors.torch import save_file

from vitexplorer.diagnosis.diagnosis import Diagnosis
from vitexplorer.models.loading import LoadedModel


def write_repairs(report: Diagnosis, folder: str | os.PathLike) -> list[Path]:
    """Write what each finding repaired into a folder, in the order of the findings, and return the files.

    A state dict or a model becomes `<cause>.safetensors`, labels `<cause>.csv`, and a preprocessing `<cause>.json`,
    the scaling that the pictures have, the one that the model wants, and the turn.
    """
    folder = Path(folder).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for found in report.findings:
        repaired = found.repaired
        if isinstance(repaired, LoadedModel):
            repaired = repaired.module.state_dict()
        if isinstance(repaired, dict):
            path = folder / f"{found.cause}.safetensors"
            tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in repaired.items()}
            save_file(tensors, path)
        elif isinstance(repaired, list):
            path = folder / f"{found.cause}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([("row", "label"), *enumerate(repaired)])
        elif repaired is not None:
            path = folder / f"{found.cause}.json"
            path.write_text(json.dumps(to_jsonable_python(found.evidence), indent=2), encoding="utf-8")
        else:
            continue
        written.append(path)
    return written
