"""Every view, change and comparison on a GPU against the CPU; skipped where there is no GPU."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.every_case import check_every
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import RECIPES, capture_small, load_small, picture
from tests.helpers.tried_changes import TRIED, is_refused
from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons import COMPARISONS
from vitexplorer.comparisons import refusal as refusal_of_two
from vitexplorer.core.types import Result
from vitexplorer.views import VIEWS, refusal

GPU = "cuda"
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

TOLERANCE = 1e-4
"""Largest difference in parts of the largest value; sums are taken in another order"""


@pytest.fixture(autouse=True)
def whole_floats(monkeypatch):
    """Convolve in float32: cuDNN rounds inputs to TF32 unless it is told not to."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


@cache
def on_gpu(key: str) -> Capture:
    model = deepcopy(load_small(key))
    model.module.to(GPU)
    return vx.capture(model, picture(*model.preprocessing.input_size), fit="squash")


def assert_same(of_gpu: Result, of_cpu: Result) -> None:
    size = np.abs(np.nan_to_num(of_cpu.values)).max(initial=0)
    np.testing.assert_allclose(of_gpu.values, of_cpu.values, rtol=0, atol=TOLERANCE * float(size))


@pytest.mark.parametrize("key", RECIPES)
def test_a_gpu_gives_the_views_of_the_cpu(key):
    of_gpu, of_cpu = on_gpu(key), capture_small(key)
    assert of_gpu.input.tensor.device.type == GPU
    answered = {view: view for view in VIEWS if refusal(view, of_cpu) is None}
    check_every(answered, lambda view: assert_same(cheaply(view, of_gpu), cheaply(view, of_cpu)))


@pytest.mark.parametrize("key", RECIPES)
def test_a_gpu_gives_the_changed_runs_of_the_cpu(key):
    of_gpu, of_cpu = on_gpu(key), capture_small(key)

    def check(change: str) -> None:
        changed = (vx.intervene(capture, change) for capture in (of_gpu, of_cpu))
        assert_same(*(vx.compute("before_after", capture) for capture in changed))

    check_every({change: change for change in TRIED if not is_refused(of_cpu, change)}, check)


@pytest.mark.parametrize("other", ["deit_distilled", "swin", "encoder"])
def test_a_gpu_gives_the_comparisons_of_the_cpu(other):
    of_gpu, of_cpu = ([capture(key) for key in ("vit", other)] for capture in (on_gpu, capture_small))
    answered = {key: key for key in COMPARISONS if refusal_of_two(key, *of_cpu) is None}
    check_every(answered, lambda key: assert_same(vx.compare(key, *of_gpu), vx.compare(key, *of_cpu)))
