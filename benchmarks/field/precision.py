"""Change of a map with less precise arithmetic.

Each cell is the largest difference from the map of the plain float32 run, as a share of that map's largest value, the
worst of a few drawn scenes on bundled models. What is changed:

autocast           the caller has bfloat16 switched on by `torch.autocast`: a capture switches it off, so nothing moves
matmul, medium     `torch.set_float32_matmul_precision("medium")`: products in TF32 or bfloat16 where there are such
rounded weights    every weight rounded to bfloat16, as a model is stored, and computed in float32
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
import torch

import vitexplorer as vx
from benchmarks.field.bench import Bench
from benchmarks.field.tables import Table
from vitexplorer.core.standings import RANDOM
from vitexplorer.evaluation.evaluating import drawn_cases
from vitexplorer.evaluation.methods import is_slow, map_views
from vitexplorer.models.loading import LoadedModel

MODELS = ("scenes_vit_patch16_192", "scenes_swin_patch4_window6_192")
SCENES = 4
ROUNDED = "rounded weights"
BOUND = 0.05
"""Largest accepted difference, as a share of the map's largest value"""


@contextmanager
def matmul(precision: str) -> Iterator[None]:
    """Compute float32 products at another precision inside the context."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def rounded(model: LoadedModel) -> LoadedModel:
    """Round a model's weights to bfloat16."""
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.copy_(parameter.bfloat16().float())
    return model


Moved = dict[str, dict[str, float]]
"""View -> change -> difference"""


def measure(name: str, device: str, scenes: int) -> Moved:
    """Return the differences of all views that draw a map with a few passes at most."""
    model, other = (vx.load_model(name, device=device) for _ in range(2))
    contexts: dict[str, Callable] = {
        "autocast": partial(torch.autocast, device.partition(":")[0], torch.bfloat16),
        "matmul, medium": partial(matmul, "medium"),
        ROUNDED: nullcontext,
    }
    other, found = rounded(other), {}
    for case in drawn_cases(model, "scenes", scenes):
        captured = vx.capture(model, case.image, fit="squash")
        target = int(captured.logits.argmax())
        for view in map_views(captured):
            if is_slow(view) or view == RANDOM:
                continue
            settings = {"target": target} if any(c.name == "target" for c in vx.views()[view].controls) else {}
            plain = vx.compute(view, captured, **settings).values
            worst = found.setdefault(view, dict.fromkeys(contexts, 0.0))
            for change, context in contexts.items():
                with context():
                    seen = vx.capture(other if change == ROUNDED else model, case.image, fit="squash")
                    values = vx.compute(view, seen, **settings).values
                moved = float(np.abs(values - plain).max() / np.abs(plain).max())
                worst[change] = max(worst[change], moved)
    return found


def tables(bench: Bench) -> list[Table]:
    """Return one table of views by changes for each model."""
    found = {}
    for name in MODELS[:1] if bench.quick else MODELS:
        scenes = 1 if bench.quick else SCENES
        found[name] = bench.cell(
            f"precision {name}", Moved, lambda name=name, scenes=scenes: measure(name, bench.device, scenes)
        )
    return [table_of(name, moved, bench.device) for name, moved in found.items()]


def table_of(name: str, moved: Moved, device: str) -> Table:
    """Return one model's table, which also states whether the bound holds."""
    changes = list(next(iter(moved.values())))
    rows = tuple((view, *(differences[change] for change in changes)) for view, differences in moved.items())
    beyond = [
        f"{view} ({change}, {differences[change]:.2g})"
        for view, differences in moved.items()
        for change in changes
        if differences[change] > BOUND
    ]
    summary = f"No map moves by more than {BOUND:g} of its largest value"
    summary += f", but for {', '.join(beyond)}." if beyond else "."
    return Table(
        f"precision_{name}", f"Precision: how far a map moves, {name} ({device})", ("view", *changes), rows, (summary,)
    )
