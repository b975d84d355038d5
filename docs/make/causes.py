"""Pictures of the causes that a check-up names: `python -m docs.make.causes [key ...]` writes `docs/causes/KEY.webp`.

Each fault is planted as in the bed of check-ups, and the picture is the proof that the check-up gives. A cause without
a proof has no picture. Needs Chromium, and a minute for each cause at most; then run `python -m docs.make.tables`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import PIL.Image

from benchmarks.planted import FAULTS, pairs
from tests.helpers.tree import ROOT
from vitexplorer.core.types import Result
from vitexplorer.diagnosis.causes import CAUSES
from vitexplorer.figures.files import save

FOLDER = ROOT / "docs" / "causes"
PAIRS = ("scenes_vit_patch16_192", "colours", "fine-tuned", "probed")
"""Pairs of a model and pictures, of which the first is taken in which the fault shows"""
SEED, PICTURES, SECONDS = 0, 64, 120
WIDTH = 800
"""Width of a picture, in pixels"""


def proof_of(cause: str) -> Result | None:
    """Plant a fault, grossly, and return the proof of the check-up that names it; None if none does."""
    for name in PAIRS:
        healthy = pairs([name])[name](SEED, PICTURES)
        faulty = FAULTS[cause][-1](healthy, np.random.default_rng(SEED))
        findings = () if faulty is None else faulty.check_up(SECONDS).findings
        proof = next((finding.proof for finding in findings if finding.cause == cause), None)
        if proof is not None:
            return proof
    return None


def main(causes: Iterable[str]) -> None:
    """Write a picture for each cause."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as place:
        for cause in causes:
            proof, path = proof_of(cause), FOLDER / f"{cause}.webp"
            if proof is None:
                print(cause, "has no proof")
                continue
            with PIL.Image.open(save(proof, Path(place, f"{cause}.png"), scale=1)) as drawn:
                picture = drawn.convert("RGB")
            picture.thumbnail((WIDTH, WIDTH), PIL.Image.Resampling.LANCZOS)
            picture.save(path, quality=80, method=6)
            print(cause, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:] or CAUSES)
