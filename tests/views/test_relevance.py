"""Maps for one class: slow twins over every geometry, the packages others use, and what holds whatever the model."""

from __future__ import annotations

import copy
import gc
import re
import threading
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers import reference, reference_relevance
from tests.helpers.reference_relevance import Differentiated, differentiate
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import with_fused_attention
from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.controls import MethodsControl, TargetControl
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import MapResult
from vitexplorer.quantities import gradients as kept_in
from vitexplorer.quantities.faithfulness import areas_under, coarsened, first_ones, ranking, step_counts
from vitexplorer.quantities.gradients import KeptGradients, gradients
from vitexplorer.quantities.perturbation import baseline_image, blur_sigma, patch_of_pixel, patch_sums
from vitexplorer.quantities.rollout import push_added, push_averaged
from vitexplorer.quantities.targets import ALL_ZERO
from vitexplorer.views import VIEWS, explanation, explanations, refusal
from vitexplorer.views.record import View
from vitexplorer.views.side_by_side import agreements, ranks

TARGET = 3
ONE_PASS = ("grad_rollout", "generic_relevance", "grad_cam", "input_x_gradient")
ROUNDING = 1e-5
"""a kernel that is to be differentiated may sum in another order"""
GOES_BACK = tuple(key for key, view in VIEWS.items() if view.goes_back)
MANY_PASSES = ("integrated_gradients", "occlusion", "faithfulness", "side_by_side")
RANDOM_ALONE = {"faithfulness": {"methods": "random"}, "side_by_side": {"methods": "random", "measure": True}}
CLASS_VIEWS = (*ONE_PASS, "legrad", *MANY_PASSES, "random")
NOT_FOR_SWIN = ("generic_relevance", "legrad")


@cache
def truth(key: str, fit: str) -> Differentiated:
    """What autograd says of a small model in float64, its attention an explicit softmax."""
    captured = capture_small(key, fit)
    return differentiate(captured.model.module, captured.input.tensor, TARGET)


def truth_of(captured: Capture) -> Differentiated:
    """`truth` for a capture of the fixture; models without a classifier have none."""
    if captured.logits is None:
        pytest.skip("no classifier")
    return truth(captured.model.name, captured.input.fit)


def close(values: np.ndarray, expected: np.ndarray, share: float = 2e-4) -> None:
    """Equal up to a share of the largest entry: maps of small models span many orders of magnitude."""
    np.testing.assert_allclose(values, expected, rtol=0, atol=share * float(np.abs(expected).max()) + 1e-12)


def reads_class_token(captured: Capture) -> bool:
    """Written down from timm's own pooling, the other way than the package asks it."""
    return captured.prefix_tokens[:1] == ("cls",) and captured.model.module.global_pool != "avg"


def with_module(captured: Capture, module: nn.Module) -> Capture:
    """A capture of the same image with another module of the same kind."""
    return capture_input(replace(captured.model, module=module), captured.input)


# ------------------------------------------------------------------------------------------------ slow twins


def test_gradient_of_attention_is_autograds(any_capture):
    expected = truth_of(any_capture)
    found = gradients(any_capture, TARGET)
    for block in range(any_capture.depth):
        call = any_capture.call(block)
        close(kept_in.attention_gradient(call, found.outputs[block]).numpy(), expected.attention_gradient[block])
        close(found.norms[block].numpy(), expected.norm[block])
        close(found.norm_gradients[block].numpy(), expected.norm_gradient[block])
    close(found.input[0].numpy(), expected.image_gradient)


def test_generic_relevance(any_capture):
    if any_capture.site(0).windows:
        with pytest.raises(UnsupportedError):
            vx.compute("generic_relevance", any_capture)
        return
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    pairs = zip(expected.attention, expected.attention_gradient, strict=True)
    R = reference_relevance.generic_relevance([reference_relevance.positive_product(A[0], dA[0]) for A, dA in pairs])
    of_class_token = reads_class_token(any_capture)
    if not of_class_token:
        R -= np.eye(len(R))
    row = reference_relevance.row_of(R, grid.num_prefix_tokens, of_class_token)
    result = vx.compute("generic_relevance", any_capture, target=TARGET)
    close(result.values, row[grid.num_prefix_tokens :].reshape(grid.rows, grid.cols), 5e-4)
    assert (result.query, result.identity_mass) == (("cls", 0) if of_class_token else ("mean", 1))


def test_grad_rollout(any_capture):
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    matrices = [
        np.stack([reference_relevance.positive_product(a, da) for a, da in zip(A, dA, strict=True)])
        for A, dA in zip(expected.attention, expected.attention_gradient, strict=True)
    ]
    p = grid.num_prefix_tokens
    if any_capture.site(0).windows:
        blocks = []
        for b, E in enumerate(matrices):
            site = any_capture.site(b)
            windows = reference.window_positions(
                site.grid.rows, site.grid.cols, site.windows.window_size, site.windows.shift_size
            )
            blocks.append({"attention": E[:, None], "rows": site.grid.rows, "cols": site.grid.cols, "windows": windows})
        R = reference.swin_rollout(blocks)
        stays = reference.swin_rollout(blocks, alone=True)
    else:
        R = reference.rollout(list(matrices), num_prefix=p)
        stays = np.diag(np.prod([0.5 / (0.5 * E[0].sum(-1) + 0.5) for E in matrices], axis=0))
    of_class_token = reads_class_token(any_capture)
    row, kept = (reference_relevance.row_of(M, p, of_class_token) for M in (R, stays))
    if not of_class_token:
        row = row - kept
    result = vx.compute("grad_rollout", any_capture, target=TARGET)
    close(result.values, row[p:].reshape(grid.rows, grid.cols))
    np.testing.assert_allclose(result.prefix_weights, row[:p], atol=1e-5)
    assert result.identity_mass == pytest.approx(0 if of_class_token else kept.sum(), abs=1e-5)
    everything = result.values.sum() + result.prefix_mass + result.padding_mass + result.identity_mass
    assert everything == pytest.approx(1, abs=1e-4)


def test_grad_cam_at_every_block(any_capture):
    expected = truth_of(any_capture)
    for block in range(any_capture.depth):
        grid = any_capture.grid(block)
        acts, grads = (
            part[block].reshape(-1, part[block].shape[-1])[grid.num_prefix_tokens :]
            for part in (expected.norm, expected.norm_gradient)
        )
        result = vx.compute("grad_cam", any_capture, target=TARGET, block=block)
        close(result.values, reference_relevance.grad_cam(acts, grads).reshape(grid.rows, grid.cols), 1e-3)


def test_legrad(any_capture):
    if any_capture.site(0).windows:
        with pytest.raises(UnsupportedError):
            vx.compute("legrad", any_capture)
        return
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    keys = reference_relevance.legrad(expected.own_gradient)
    result = vx.compute("legrad", any_capture, target=TARGET)
    close(result.values, keys[grid.num_prefix_tokens :].reshape(grid.rows, grid.cols))


def test_input_x_gradient(any_capture):
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    product = expected.image * expected.image_gradient
    result = vx.compute("input_x_gradient", any_capture, target=TARGET)
    close(result.values, reference_relevance.patch_sums(product, grid.rows, grid.cols, grid.patch_size))


PIXEL_CASES = ["vit_not_square", "deit_distilled", "uneven", "beit", "dinov3", "swin_padded"]


@pytest.mark.parametrize("key", PIXEL_CASES)
@pytest.mark.parametrize("kind", ["mean", "black", "blur"])
def test_integrated_gradients(key, kind):
    captured, steps = capture_small(key), 6
    twin, grid = reference_relevance.in_float64(captured.model.module), captured.grid(0)

    def gradient(image: np.ndarray) -> np.ndarray:
        given = torch.from_numpy(image)[None].requires_grad_()
        return torch.autograd.grad(twin(given)[0, TARGET], given)[0][0].numpy()

    image = captured.input.tensor[0].double().numpy()
    pixels = reference_relevance.integrated_gradients(gradient, image, expected_baseline(captured, kind), steps)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline=kind, steps=steps)
    close(result.values, reference_relevance.patch_sums(pixels, grid.rows, grid.cols, grid.patch_size), 1e-3)


def expected_baseline(captured: Capture, kind: str) -> np.ndarray:
    """What stands for nothing, (channels, height, width) normalised, in float64."""
    image, wanted = captured.input.tensor[0].double().numpy(), captured.model.preprocessing
    if kind == "mean":
        return np.zeros_like(image)
    if kind == "black":
        black = [(0 - mean) / std for mean, std in zip(wanted.mean, wanted.std, strict=True)]
        return np.array(black)[:, None, None] + np.zeros_like(image)
    return reference_relevance.blurred(image, blur_sigma(captured))


@pytest.mark.parametrize("kind", ["mean", "black", "blur"])
def test_baselines(kind):
    captured = capture_small("vit_not_square")
    assert blur_sigma(captured) == 2  # 48 x 80 pixels
    found = baseline_image(captured, kind)[0].numpy()
    np.testing.assert_allclose(found, expected_baseline(captured, kind), atol=1e-5)


@pytest.mark.parametrize("key", [*PIXEL_CASES, "swin"])
@pytest.mark.parametrize("kind", ["mean", "blur"])
def test_occlusion(key, kind):
    captured = capture_small(key)
    grid, module = captured.grid(captured.depth - 1), captured.model.module
    image, other = captured.input.tensor[0].numpy(), expected_baseline(captured, kind).astype(np.float32)
    expected = np.zeros((grid.rows, grid.cols))
    for patch in range(grid.num_patches):
        shown = reference_relevance.covered(image, other, [patch], grid.cols, grid.patch_size)
        with torch.no_grad():
            fall = captured.logits[TARGET] - module(torch.from_numpy(shown)[None])[0, TARGET]
        expected[divmod(patch, grid.cols)] = float(fall)
    result = vx.compute("occlusion", captured, target=TARGET, baseline=kind)
    np.testing.assert_allclose(result.values, expected, atol=2e-5)


@pytest.mark.parametrize("key", ["vit_not_square", "uneven", "swin_padded"])
def test_curves_and_areas(key):
    captured = capture_small(key)
    grid, module = captured.grid(captured.depth - 1), captured.model.module
    image = captured.input.tensor[0].numpy()
    mean, blur = (expected_baseline(captured, kind).astype(np.float32) for kind in ("mean", "blur"))
    result = vx.compute("faithfulness", captured, target=TARGET, methods="grad_cam, input_x_gradient", steps=4, seed=5)
    assert result.methods == ("grad_cam", "input_x_gradient", "random")
    counts = [round(k * grid.num_patches / 4) for k in range(5)]
    shares = [count / grid.num_patches for count in counts]
    np.testing.assert_allclose(result.steps, shares)

    def probability(shown: np.ndarray) -> float:
        with torch.no_grad():
            return float(module(torch.from_numpy(shown)[None]).softmax(-1)[0, TARGET])

    for m, method in enumerate(result.methods):
        controls = {"seed": 5} if method == "random" else {}
        one = vx.compute(method, captured, target=TARGET, **controls)
        order = ranking(coarsened(one.values, one.grid, grid), seed=5).tolist()
        deletion = reference_relevance.curve(probability, image, mean, order, counts, grid.cols, grid.patch_size)
        outside = reference_relevance.covered(image, blur, range(grid.num_patches), grid.cols, grid.patch_size)
        insertion = reference_relevance.curve(probability, outside, image, order, counts, grid.cols, grid.patch_size)
        for c, expected in enumerate((deletion, insertion)):
            np.testing.assert_allclose(result.values[m, c], expected, atol=1e-5)
            assert result.areas[m, c] == pytest.approx(reference_relevance.area(expected, shares), abs=1e-5)


# ------------------------------------------------------------------------------------------------ by hand


def test_pushing_by_hand():
    """One row of shares (1, 2) and E = | 1 3 |   I + E = | 2 3 |   rownorm(0.5 E + 0.5 I) = | .4 .6 |
    | 0 1 |           | 0 2 |                            | 0  1  |
    """
    shares, E = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 3.0], [0.0, 1.0]]])
    for pieces in ([(slice(None), E)], [(slice(0, 1), E[:, :1]), (slice(1, 2), E[:, 1:])]):
        torch.testing.assert_close(push_added(shares, pieces), torch.tensor([[[2.0, 7.0]]]))
        torch.testing.assert_close(push_averaged(shares, pieces), torch.tensor([[[0.4, 2.6]]]))


def test_order_steps_and_areas_by_hand():
    assert step_counts(5, 2).tolist() == [0, 2, 5]
    assert step_counts(3, 100).tolist() == [0, 1, 2, 3]
    order = ranking(np.array([[1.0, 3.0, 2.0]]), seed=0)
    assert order.tolist() == [1, 2, 0]
    assert first_ones(order, np.array([0, 2, 3])).tolist() == [
        [False, False, False, False],
        [False, True, True, False],
        [True, True, True, False],  # the last place, pixels of no patch, is never exchanged
    ]
    assert areas_under(np.array([[[1.0, 0.5, 0.0]]]), np.array([0, 0.4, 1.0]))[0, 0] == pytest.approx(0.3 + 0.15)


def test_equal_patches_go_in_an_order_that_the_seed_gives():
    values = np.zeros((4, 5))
    values[2, 2] = 1
    orders = [ranking(values, seed).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0][0] == orders[2][0] == 12
    assert sorted(orders[0]) == list(range(20))


def test_a_finer_map_is_summed():
    """5 x 5 cells of 8 pixels on 3 x 3 cells of 16: the last row and column hold one fine cell each way."""
    fine, coarse = (
        replace(capture_small("siglip").grid(0), rows=n, cols=n, patch_size=s) for n, s in ((5, 8), (3, 16))
    )
    np.testing.assert_array_equal(coarsened(np.ones((5, 5)), fine, coarse), [[4, 4, 2], [4, 4, 2], [2, 2, 1]])
    values = np.arange(25.0).reshape(5, 5)
    np.testing.assert_array_equal(coarsened(values, fine, fine), values)


def test_pixels_beyond_the_last_whole_patch_belong_to_none():
    grid = replace(capture_small("siglip").grid(0), rows=2, cols=3, patch_size=2)
    assert patch_of_pixel(grid, 5, 7)[:, 0].tolist() == [0, 0, 3, 3, 6]
    assert patch_of_pixel(grid, 5, 7)[0].tolist() == [0, 0, 1, 1, 2, 2, 6]
    assert patch_sums(torch.ones(5, 7), grid).tolist() == [4.0] * 6


# ------------------------------------------------------------------------------------------------ peers


@pytest.mark.parametrize(
    ("key", "block", "name"),
    [
        ("vit", 2, "blocks.2"),
        ("deit_distilled", 1, "blocks.1"),
        ("eva02", 2, "blocks.2"),
        ("swin", 5, "layers.2.blocks.1"),
        ("swin", 3, "layers.1.blocks.1"),
        ("swinv2", 5, "layers.2.blocks.1"),
    ],
)
def test_grad_cam_is_that_of_the_grad_cam_package(key, block, name):
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    captured = capture_small(key)
    grid, module, image = captured.grid(block), copy.deepcopy(captured.model.module), captured.input.tensor
    layer, seen = module.get_submodule(name).norm1, 0

    def reshape(tokens: torch.Tensor) -> torch.Tensor:
        patches = tokens.flatten(1, -2)[:, grid.num_prefix_tokens :]
        return patches.unflatten(1, (grid.rows, grid.cols)).permute(0, 3, 1, 2)

    with GradCAM(module, [layer], reshape_transform=reshape) as peer:
        for target in range(4):
            targets = [ClassifierOutputTarget(target)]
            peer(image, targets)
            recorded = peer.activations_and_grads
            parts = recorded.activations[0].numpy(), recorded.gradients[0].numpy()
            expected = np.maximum(peer.get_cam_image(image, layer, targets, *parts)[0], 0)
            close(vx.compute("grad_cam", captured, target=target, block=block).values, expected, 1e-3)
            seen += expected.any()
    assert seen > 1  # a map can be zero, but not most of them


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "beit", "dinov3"])
def test_generic_relevance_from_what_captum_says_of_each_block(key):
    """captum's gradient times activation at the dropout after the softmax, put through Chefer's recurrence."""
    from captum.attr import LayerGradientXActivation

    captured, R = capture_small(key), 0
    twin, grid = with_fused_attention(captured.model.module, False), captured.grid(0)
    for b, block in enumerate(twin.blocks):
        layer = LayerGradientXActivation(twin, block.attn.attn_drop)
        with torch.enable_grad():
            product = layer.attribute(captured.input.tensor.clone(), target=TARGET)[0].detach()
        E = product.clamp(min=0).mean(0).double().numpy()
        R = np.eye(len(E)) + E if b == 0 else R + E @ R
    if not reads_class_token(captured):
        R -= np.eye(len(R))
    row = reference_relevance.row_of(R, grid.num_prefix_tokens, reads_class_token(captured))
    values = vx.compute("generic_relevance", captured, target=TARGET).values
    close(values, row[grid.num_prefix_tokens :].reshape(values.shape), 1e-3)


def test_input_x_gradient_is_captums():
    from captum.attr import InputXGradient

    captured = capture_small("deit_distilled")
    grid = captured.grid(0)
    found = InputXGradient(captured.model.module).attribute(captured.input.tensor.clone().requires_grad_(), TARGET)
    expected = reference_relevance.patch_sums(found[0].detach().numpy(), grid.rows, grid.cols, grid.patch_size)
    close(vx.compute("input_x_gradient", captured, target=TARGET).values, expected, 1e-4)


@pytest.mark.parametrize("key", ["vit_not_square", "deit_distilled", "swin"])
@pytest.mark.parametrize("kind", ["mean", "blur"])
def test_integrated_gradients_are_captums(key, kind):
    from captum.attr import IntegratedGradients

    captured = capture_small(key)
    grid, image = captured.grid(0), captured.input.tensor.clone()
    peer = IntegratedGradients(copy.deepcopy(captured.model.module))
    found = peer.attribute(image, baseline_image(captured, kind), TARGET, n_steps=7)[0].detach().numpy()
    expected = reference_relevance.patch_sums(found, grid.rows, grid.cols, grid.patch_size)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline=kind, steps=7)
    close(result.values, expected, 1e-4)


@pytest.mark.parametrize("key", ["vit_not_square", "deit_distilled", "swin"])
@pytest.mark.parametrize("kind", ["mean", "black"])
def test_occlusion_is_captums(key, kind):
    """Its own sliding window, one patch large and moved by a patch, gives every pixel of a patch the same fall."""
    from captum.attr import Occlusion

    captured = capture_small(key)
    grid, image = captured.grid(captured.depth - 1), captured.input.tensor
    side = (image.shape[1], grid.patch_size, grid.patch_size)
    found = Occlusion(captured.model.module).attribute(
        image, side, strides=side, baselines=baseline_image(captured, kind), target=TARGET
    )
    first = found[0, 0, :: grid.patch_size, :: grid.patch_size]
    result = vx.compute("occlusion", captured, target=TARGET, baseline=kind)
    np.testing.assert_allclose(result.values, first.detach().numpy(), atol=2e-5)


# ------------------------------------------------------------------------------------------------ what must hold


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "registers_only", "swin"])
def test_integrated_gradients_add_up_to_the_rise_of_the_logit(key):
    captured = capture_small(key)
    with torch.no_grad():
        start = captured.model.module(baseline_image(captured, "black"))[0, TARGET]
    rise = float(captured.logits[TARGET] - start)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline="black", steps=128)
    assert result.values.sum() == pytest.approx(rise, abs=0.02 * max(1, abs(rise)))
    assert f"the logit rises by {rise:.3f}" in result.notes[-1].en


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
    """The head's rows of two classes exchanged: the map of one is the other's."""
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


def test_grad_cam_after_the_last_attention_is_zero_and_says_so():
    """Where the norm comes after attention, the last block's patches no longer reach the class token."""
    captured = capture_small("norm_last")
    last = vx.compute("grad_cam", captured, target=TARGET)
    assert not last.values.any()
    assert last.notes[-1] == ALL_ZERO
    assert vx.compute("grad_cam", captured, target=TARGET, block=1).values.any()


def linear(module: nn.Module, weight: torch.Tensor) -> nn.Module:
    """A copy of a module that says the weighted sum of its input for class 0, and 0 for class 1."""
    twin = copy.deepcopy(module)
    twin.num_classes = 2
    twin.forward = lambda images: nn.functional.pad((images * weight).sum((1, 2, 3))[:, None], (0, 1))
    return twin


@pytest.fixture
def planted(monkeypatch) -> tuple[Capture, np.ndarray]:
    """A capture of a linear model, what each patch gives to its logit, and two methods that know it."""
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

    monkeypatch.setitem(VIEWS._discovered(), "knows", view(1))
    monkeypatch.setitem(VIEWS._discovered(), "knows_the_opposite", view(-1))
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


@pytest.mark.parametrize("key", ["vit_not_square", "swin_padded"])
def test_side_by_side_stand_the_maps_and_areas_of_the_single_views(key):
    captured, told = capture_small(key), []
    asked = {"target": TARGET, "steps": 3, "seed": 5}
    result = vx.compute("side_by_side", captured, measure=True, **asked, progress=lambda *step: told.append(step))
    assert (
        set(result.methods) | {name for name, _ in result.others}
        == dict(MethodsControl(known=explanations).offered(captured)).keys()
    )
    for at, name in enumerate(result.methods):
        one = explanation(name, captured, TARGET, 5, None)
        np.testing.assert_array_equal(result.own_values(at), one.values)
        assert (result.titles[at], result.units[at], result.grids[at]) == (one.title, one.unit, one.grid)
        for row, col in np.ndindex(result.values.shape[1:]):  # every fine cell has the number of the one it lies in
            middle = (np.array([row, col]) + 0.5) * result.grid.patch_size
            assert result.values[at, row, col] == one.values[tuple((middle // one.grid.patch_size).astype(int))]
    curves = vx.compute("faithfulness", captured, methods=result.methods, **asked)
    np.testing.assert_array_equal(result.areas, curves.areas)
    assert curves.notes[-2:] == result.notes[-2:]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] <= result.passes + len(result.methods)
    quick = vx.compute("side_by_side", captured, **asked)
    assert quick.areas is None
    np.testing.assert_array_equal(quick.values, result.values)


def test_rank_correlation_by_hand():
    """Places 1, 2.5, 2.5, 4 against 4, 2.5, 2.5, 1 and against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5)."""
    first, turned, other = (np.array([row]) for row in ([0.0, 3, 3, 9], [8.0, 5, 5, 1], [1.0, 2, 3, 4]))
    assert ranks(first).tolist() == [1, 2.5, 2.5, 4]
    (least, *pair), *_, (most, *alike) = agreements(np.stack([first, turned, other, 0 * first]))
    assert (pair, alike) == ([0, 1], [0, 2])
    assert least == pytest.approx(-1)
    assert most == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_curves_begin_and_end_at_the_same_images():
    captured = capture_small("vit")
    result = vx.compute("faithfulness", captured, target=TARGET)
    whole = float(captured.logits.softmax(0)[TARGET])
    np.testing.assert_allclose(result.values[:, 0, 0], whole, atol=1e-6)
    np.testing.assert_allclose(result.values[:, 1, -1], whole, atol=1e-6)
    for same in (result.values[:, 0, -1], result.values[:, 1, 0]):
        np.testing.assert_array_equal(same, same[0])
    assert result.steps[0] == 0
    assert result.steps[-1] == 1
    assert result.values.shape == (len(result.methods), len(result.curves), len(result.steps))
    assert result.methods[-1] == "random"


def test_every_method_that_can_be_compared_draws_one_map():
    captured = capture_small("vit")
    for name, title in MethodsControl(known=explanations).options:
        result = vx.compute(name, captured)
        assert isinstance(result, MapResult)
        assert title == result.title


# ------------------------------------------------------------------------------------------------ one pass, no trace


@pytest.fixture
def passes(monkeypatch) -> list[int]:
    """The batch size of every pass through the module of the small ViT."""
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


def test_no_pass_but_the_capture_where_its_graph_is_kept(passes):
    plain = capture_small("vit")
    captured = capture_input(plain.model, plain.input, differentiable=True)
    for target in (1, 2, 1):
        for view in reversed(GOES_BACK):
            vx.compute(view, captured, target=target)
    assert passes == [1]


def test_a_kept_graph_changes_no_number(any_capture):
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
            found, expected = (vx.compute(view, one, **given).values for one in (shorter, any_capture))
            close(found, expected, ROUNDING)


def test_gradients_go_with_their_capture(monkeypatch):
    kept = KeptGradients(1 << 30)
    monkeypatch.setattr(kept_in, "_KEPT", kept)
    first, second = replace(capture_small("vit")), replace(capture_small("vit"))
    found = gradients(first, 1)
    assert gradients(first, 1) is found
    assert gradients(second, 1) is not found
    gradients(second, 2)
    assert kept.nbytes == 3 * found.nbytes
    del second
    gc.collect()
    assert kept.nbytes == found.nbytes
    assert gradients(first, 1) is found


def test_kept_gradients_are_bounded(monkeypatch):
    captured = replace(capture_small("vit"))
    size = gradients(captured, 0).nbytes
    kept = KeptGradients(int(2.5 * size))
    monkeypatch.setattr(kept_in, "_KEPT", kept)
    first, second = gradients(captured, 0), gradients(captured, 1)
    assert gradients(captured, 0) is first  # used last, so the other one goes
    gradients(captured, 2)
    assert kept.nbytes == 2 * size
    assert gradients(captured, 0) is first
    assert gradients(captured, 1) is not second
    monkeypatch.setattr(kept_in, "_KEPT", KeptGradients(size - 1))
    gradients(captured, 0)
    assert kept_in._KEPT.nbytes == 0


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
    together = {}

    def work(target: int) -> None:
        views = {view: vx.compute(view, captured, target=target) for view in ("grad_cam", "legrad", "grad_rollout")}
        assert all(np.isfinite(result.values).all() for result in views.values())
        together[target] = vx.compute("generic_relevance", captured, target=target).values

    threads = [threading.Thread(target=work, args=(target,)) for target in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together.keys() == alone.keys()
    for target in alone:
        np.testing.assert_array_equal(together[target], alone[target])


# ------------------------------------------------------------------------------------------------ progress


class StoppedError(Exception):
    """A person pressed stop."""


@pytest.mark.parametrize("key", ["vit_not_square", "uneven", "swin_padded"])
@pytest.mark.parametrize("view", MANY_PASSES)
def test_progress_reaches_its_end(view, key):
    told = []
    vx.compute(view, capture_small(key), progress=lambda done, total: told.append((done, total)))
    dones = [done for done, _ in told]
    assert dones == sorted(dones)
    assert told[-1][0] == told[-1][1] > 0


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


# ------------------------------------------------------------------------------------------------ sentences


def named(*names: str) -> Capture:
    """The small ViT whose seven classes have names."""
    captured = capture_small("vit")
    return replace(captured, model=replace(captured.model, class_names=names))


NAMES = ("tench", "tabby, tabby cat", "crane", "7", "crane", "cat", "Egyptian cat")


@pytest.mark.parametrize(
    ("given", "target"),
    [(2, 2), ("2", 2), (" 4 ", 4), ("tench", 0), ("TABBY", 1), ("tabby cat", 1), ("tabby, tabby cat", 1), ("cat", 5)],
)
def test_a_class_has_a_number_and_names(given, target):
    result = vx.compute("random", named(*NAMES), target=given)
    assert result.settings["target"] == target
    assert f"class {target} ({NAMES[target]})" in result.notes[0].en


@pytest.mark.parametrize(
    ("given", "names", "error", "expected"),
    [
        (7, (), SettingError, "There is no class 7: the classes are 0 to 6."),
        (-1, (), SettingError, "There is no class -1: the classes are 0 to 6."),
        ("-1", NAMES, SettingError, "There is no class -1: the classes are 0 to 6."),
        (1.5, (), SettingError, "target must be a whole number, not 1.5."),
        ("tench", (), SettingError, "target must be a whole number, not 'tench'."),
        ("tensh", NAMES, UnknownNameError, "Unknown class 'tensh'. Did you mean 'tench'?"),
        ("crane", NAMES, SettingError, "2 classes are called 'crane': give the number, 2, 4."),
    ],
    ids=str,
)
def test_a_wrong_class_is_answered_with_the_rule(given, names, error, expected):
    with pytest.raises(error, match=re.escape(expected)) as raised:
        vx.compute("grad_cam", named(*names), target=given)
    assert raised.value.text.zh


@pytest.mark.parametrize(
    ("methods", "error", "expected"),
    [
        ("grad_can", UnknownNameError, "Unknown view 'grad_can'. Did you mean 'grad_cam'?"),
        (["faithfulness"], UnknownNameError, "Unknown view 'faithfulness'."),
        (3, SettingError, "methods must be names of views, not 3."),
        (("generic_relevance",), UnsupportedError, "Generic relevance follows one sequence of tokens"),
    ],
    ids=str,
)
def test_a_wrong_method_is_answered_with_the_rule(methods, error, expected):
    with pytest.raises(error, match=re.escape(expected)):
        vx.compute("faithfulness", capture_small("swin"), methods=methods)


def test_methods_are_each_compared_once_and_random_last():
    result = vx.compute("faithfulness", capture_small("vit"), methods="random,grad_cam,grad_cam", steps=2)
    assert result.methods == result.settings["methods"] == ("grad_cam", "random")
    assert vx.compute("faithfulness", capture_small("vit"), methods=[], steps=2).methods == ("random",)


def test_random_depends_on_seed_and_class_alone():
    first, other = capture_small("vit"), capture_small("deit_distilled")
    draws = [
        vx.compute("random", captured, target=target, seed=seed).values
        for captured, target, seed in [(first, 1, 0), (other, 1, 0), (first, 2, 0), (first, 1, 1)]
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])
    assert all(0 <= values.min() < values.max() < 1 for values in draws)
