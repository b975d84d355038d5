"""Relevance maps for one class: properties of every method, a planted answer, progress and refusals."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, close, with_module
from tests.helpers.small_models import capture_small
from tests.helpers.waiting import at_once
from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.controls import TargetControl
from vitexplorer.core.text import UnsupportedError
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.perturbation import baseline_image, patch_of_pixel
from vitexplorer.quantities.targets import ALL_ZERO
from vitexplorer.views import VIEWS, refusal
from vitexplorer.views.record import View

ONE_PASS = ("grad_rollout", "generic_relevance", "grad_cam", "input_x_gradient")
ROUNDING = 1e-5
"""Rounding tolerance: a differentiable kernel may sum in another order"""
GOES_BACK = tuple(key for key, view in VIEWS.items() if view.goes_back)
MANY_PASSES = ("integrated_gradients", "occlusion", "faithfulness", "side_by_side")
RANDOM_ALONE = {"faithfulness": {"methods": "random"}, "side_by_side": {"methods": "random", "measure": True}}
CLASS_VIEWS = (*ONE_PASS, "legrad", *MANY_PASSES, "random")
NOT_FOR_SWIN = ("generic_relevance", "legrad")


# ------------------------------------------------------------------------------------------------ what must hold


@pytest.mark.parametrize("view", CLASS_VIEWS)
def test_a_class_of_a_model_without_a_classifier_is_refused(view):
    with pytest.raises(UnsupportedError, match="encoder has no classifier, so there is no class to explain"):
        vx.compute(view, capture_small("encoder"), target=0)


@pytest.mark.parametrize("view", NOT_FOR_SWIN)
def test_what_has_no_meaning_for_swin_names_what_has(view):
    with pytest.raises(UnsupportedError, match="Grad-CAM"):
        vx.compute(view, capture_small("swin"))
    for method in set(CLASS_VIEWS) - set(NOT_FOR_SWIN):
        assert VIEWS[method].refuses(capture_small("swin")) is None


@pytest.mark.parametrize("view", CLASS_VIEWS)
def test_the_first_choice_is_explained_when_nobody_says(view):
    captured = capture_small("vit")
    first = int(captured.logits.argmax())
    default, chosen = vx.compute(view, captured), vx.compute(view, captured, target=first)
    assert default.settings["target"] == first
    np.testing.assert_array_equal(default.values, chosen.values)
    other = vx.compute(view, captured, target=(first + 1) % len(captured.logits))
    assert not np.array_equal(default.values, other.values)
    assert f"class {first}, logit {captured.logits[first]:.3f}" in default.notes[0].en


@pytest.mark.parametrize("view", CLASS_VIEWS)
def test_two_classes_that_change_places_change_maps(view):
    """With the head's rows of two classes exchanged, the map of one is the other's."""
    if view == "random":
        pytest.skip("knows no model")
    captured = capture_small("vit")
    module, swapped = copy.deepcopy(captured.model.module), [0, 5, 2, 3, 4, 1, 6]
    with torch.no_grad():
        module.head.weight.copy_(module.head.weight[swapped])
        module.head.bias.copy_(module.head.bias[swapped])
    there = with_module(captured, module)
    here, there = vx.compute(view, captured, target=1), vx.compute(view, there, target=5)
    if view in RANDOM_ALONE:  # random order knows the number of the class
        here, there = (result.values[:-1] for result in (here, there))
    else:
        here, there = here.values, there.values
    close(here, there, 1e-3)


ZERO_WHEN_NOTHING_SPEAKS = [*ONE_PASS, "legrad", "integrated_gradients", "occlusion"]


@pytest.mark.parametrize("view", ZERO_WHEN_NOTHING_SPEAKS)
def test_without_a_gradient_the_map_is_zero_and_says_so(view):
    captured = capture_small("vit")
    module = copy.deepcopy(captured.model.module)
    with torch.no_grad():
        module.head.weight[TARGET] = 0
    deaf = with_module(captured, module)
    result = vx.compute(view, deaf, target=TARGET)
    np.testing.assert_array_equal(result.values, 0)
    assert result.notes[-1] == ALL_ZERO
    heard = vx.compute(view, captured, target=TARGET)
    assert heard.values.any()
    assert ALL_ZERO not in heard.notes
    if view in ONE_PASS:
        curves = vx.compute("faithfulness", deaf, target=TARGET, methods=[view], steps=2)
        assert sum("gives every patch the same number" in note.en for note in curves.notes) == 1


def linear(module: nn.Module, weight: torch.Tensor) -> nn.Module:
    """Copy a module, with the weighted sum of its input as logit of class 0, and 0 for class 1."""
    twin = copy.deepcopy(module)
    twin.num_classes = 2
    twin.forward = lambda images: nn.functional.pad((images * weight).sum((1, 2, 3))[:, None], (0, 1))
    return twin


@pytest.fixture
def planted(monkeypatch) -> tuple[Capture, np.ndarray]:
    """Return a capture of a linear model, each patch's part of its logit, and two methods that know it."""
    captured = capture_small("vit_not_square")
    grid, image = captured.grid(0), captured.input.tensor
    fine = image[0] - baseline_image(captured, "blur")[0]  # a detail that both baselines lack
    strength = torch.zeros(grid.num_patches + 1)
    strength[7], strength[4], strength[10] = 3, 2, 1
    weight = fine * strength[patch_of_pixel(grid, *image.shape[-2:])] / 500
    gives = reference_relevance.patch_sums((weight * image[0]).numpy(), grid.rows, grid.cols, grid.patch_size)
    model = replace(captured.model, module=linear(captured.model.module, weight))
    captured = replace(captured, model=model, output=model.module(image).detach())

    def view(sign: int) -> View:
        def compute(capture: Capture, target: int) -> MapResult:
            return replace(vx.compute("random", capture, target=target), values=sign * gives)

        return replace(VIEWS["random"], compute=compute, controls=(TargetControl(),))

    monkeypatch.setitem(VIEWS._entries, "knows", view(1))
    monkeypatch.setitem(VIEWS._entries, "knows_the_opposite", view(-1))
    return captured, gives


def test_what_was_planted_is_found(planted):
    captured, gives = planted
    for view in ("occlusion", "integrated_gradients"):
        np.testing.assert_allclose(vx.compute(view, captured, target=0).values, gives, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_a_map_that_knows_beats_random_and_its_opposite_does_not(planted, seed):
    captured, _ = planted
    result = vx.compute(
        "faithfulness", captured, target=0, methods=["knows", "knows_the_opposite"], seed=seed, steps=15
    )
    areas = dict(zip(result.methods, result.areas, strict=True))
    assert areas["knows"][0] < areas["random"][0] < areas["knows_the_opposite"][0]
    assert areas["knows"][1] > areas["random"][1] > areas["knows_the_opposite"][1]


# ------------------------------------------------------------------------------------------------ one pass, no trace


@pytest.fixture
def passes(monkeypatch) -> list[int]:
    """Record the batch size of every pass through the module of the small ViT."""
    module, seen = capture_small("vit").model.module, []
    forward = module.forward

    def counting(images, **more):
        seen.append(len(images))
        return forward(images, **more)

    monkeypatch.setattr(module, "forward", counting)
    return seen


def test_one_pass_for_a_class(passes):
    captured = replace(capture_small("vit"))  # a capture of its own: nothing is known of it yet
    for target in (1, 2, 1):
        for view in ONE_PASS:
            vx.compute(view, captured, target=target)
    assert passes == [1, 1]
    vx.compute("legrad", captured, target=1)
    assert passes == [1, 1, 1]


def test_no_pass_but_the_capture_where_its_graph_is_in_memory(passes):
    plain = capture_small("vit")
    captured = capture_input(plain.model, plain.input, differentiable=True)
    for target in (1, 2, 1):
        for view in reversed(GOES_BACK):
            vx.compute(view, captured, target=target)
    assert passes == [1]


def test_a_graph_in_memory_changes_no_number(any_capture):
    captured = capture_input(any_capture.model, any_capture.input, differentiable=True)
    close(captured.output.numpy(), any_capture.output.numpy(), ROUNDING)
    for block in range(captured.depth):
        close(captured.attention(block).numpy(), any_capture.attention(block).numpy(), ROUNDING)
    assert captured.nbytes == any_capture.nbytes
    given = {} if captured.logits is None else {"target": TARGET}
    for view in reversed(GOES_BACK):  # the last of them go back all the way, and the first find it gone then
        if refusal(view, any_capture):
            continue
        for shorter in (replace(captured), captured):
            result, expected = (vx.compute(view, one, **given).values for one in (shorter, any_capture))
            close(result, expected, ROUNDING)


@pytest.mark.parametrize("key", ["vit", "swin", "swinv2", "hybrid"])
def test_the_module_is_left_as_it_was(key):
    captured = replace(capture_small(key))
    module = captured.model.module

    def state() -> list:
        parts = [(part.training, len(part._forward_hooks), len(part._forward_pre_hooks)) for part in module.modules()]
        return [*parts, *((p.requires_grad, p.grad is None, p._version) for p in module.parameters())]

    before, logits = state(), module(captured.input.tensor)
    for view in CLASS_VIEWS:
        if VIEWS[view].refuses(captured) is None:
            vx.compute(view, captured, target=TARGET)
    assert state() == before
    assert torch.equal(module(captured.input.tensor), logits)
    assert not captured.input.tensor.requires_grad
    assert captured.input.tensor.grad is None


def test_threads_do_not_mix_their_classes():
    captured = replace(capture_small("vit"))
    alone = {target: vx.compute("generic_relevance", replace(captured), target=target).values for target in range(7)}

    def work(target: int) -> np.ndarray:
        views = {view: vx.compute(view, captured, target=target) for view in ("grad_cam", "legrad", "grad_rollout")}
        assert all(np.isfinite(result.values).all() for result in views.values())
        return vx.compute("generic_relevance", captured, target=target).values

    together = at_once(*(partial(work, target) for target in alone))
    np.testing.assert_array_equal(together, list(alone.values()))


# ------------------------------------------------------------------------------------------------ progress


class StoppedError(Exception):
    """Raised when a person presses stop."""


@pytest.mark.parametrize("key", ["vit_not_square", "uneven", "swin_padded"])
@pytest.mark.parametrize("view", MANY_PASSES)
def test_progress_reaches_its_end(view, key):
    steps = []
    vx.compute(view, capture_small(key), progress=lambda done, total: steps.append((done, total)))
    dones = [done for done, _ in steps]
    assert dones == sorted(dones)
    assert steps[-1][0] == steps[-1][1] > 0


@pytest.mark.parametrize("view", MANY_PASSES)
def test_what_the_callback_raises_stops_the_work(view, passes):
    captured = capture_small("vit")

    def stop(done: int, total: int) -> None:
        if done:
            raise StoppedError

    with pytest.raises(StoppedError):
        vx.compute(view, captured, progress=stop, **RANDOM_ALONE.get(view, {}))
    assert len(passes) == 1


@pytest.mark.parametrize("view", RANDOM_ALONE)
def test_a_method_that_takes_long_can_be_stopped_within_others(view, passes):
    calls = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        raise StoppedError

    with pytest.raises(StoppedError):
        vx.compute(view, capture_small("vit"), methods=["occlusion"], progress=stop)
    assert len(calls) == len(passes) == 1
