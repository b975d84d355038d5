"""Counts of multiply-accumulates: against torch's counter, by hand, and how they grow."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace

import numpy as np
import pytest
import timm
import torchvision
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.meta_models import outline_of
from tests.helpers.small_models import RECIPES, capture_small, load_small
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import CountResult
from vitexplorer.models.weightless import without_storage
from vitexplorer.quantities.multiplications import KINDS, MLP, OTHER, PRODUCTS, PROJECTIONS, count_multiplications

# ------------------------------------------------------------------------------------------------ the count


@pytest.fixture(scope="module")
def cost(any_capture) -> CountResult:
    return vx.compute("cost", any_capture)


def test_cost_is_what_torchs_counter_says_of_a_real_pass(any_capture, cost):
    module = copy.deepcopy(any_capture.model.module).requires_grad_(False)  # the counter fails on used-up gradients
    # The counter knows the products of the plain kernel on every machine, and of fused ones only some.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        module(any_capture.input.tensor)
    assert 2 * cost.total == counter.get_total_flops()
    assert cost.values.sum() == cost.total
    np.testing.assert_array_equal(cost.split.sum(1), cost.values)
    assert len(cost.parts) == len(cost.values) == len(set(cost.parts))
    assert cost.split.shape[1] == len(KINDS)


def test_attention_has_two_products_of_each_call(any_capture, cost):
    """Count queries x keys x head dim, twice, for each head and window; attention pooling adds more outside blocks."""
    expected = 0
    for block in range(any_capture.depth):
        call = any_capture.call(block)
        windows, heads, tokens, dim = call.query.shape
        expected += 2 * windows * heads * tokens * call.num_tokens * dim
    in_blocks = [part.startswith("block ") for part in cost.parts]
    assert cost.split[in_blocks, PRODUCTS].sum() == expected
    assert sum(in_blocks) == any_capture.depth
    assert (cost.split[np.invert(in_blocks), PROJECTIONS] == 0).all()


@pytest.mark.parametrize(
    ("architecture", "published"),
    [
        ("vit_base_patch16_224", torchvision.models.ViT_B_16_Weights),
        ("vit_base_patch32_224", torchvision.models.ViT_B_32_Weights),
        ("swin_tiny_patch4_window7_224", torchvision.models.Swin_T_Weights),
        ("swinv2_tiny_window8_256", torchvision.models.Swin_V2_T_Weights),
    ],
)
def test_costs_that_torchvision_publishes(architecture, published):
    """torchvision's tables call them GFLOPS: 17.564 for ViT-B/16, 4.491 for Swin-T."""
    module = outline_of(architecture)
    counts = count_multiplications(module, tuple(module.patch_embed.img_size)).total / 1e9
    assert counts == pytest.approx(published.IMAGENET1K_V1.meta["_ops"], abs=0.0006)


def test_vit_b_16_product_by_product():
    module = outline_of("vit_base_patch16_224")
    macs = reference_tokens.vit_macs(14, 14, 16, 1, 768, 12, 3072, 1000)
    counts = count_multiplications(module, (224, 224))
    assert counts.total == sum(macs.values()) == 17_563_828_224
    assert counts.of_attention.total() == macs["products"]


@pytest.mark.parametrize("key", ["vit", "deit3", "dinov2_registers", "dinov3"])
def test_kinds_of_a_plain_vit(key):
    captured = capture_small(key)
    grid, p = captured.grid(0), len(captured.prefix_tokens)
    hidden = captured.model.module.blocks[0].mlp.fc1.out_features
    macs = reference_tokens.vit_macs(grid.rows, grid.cols, grid.patch_size, p, 48, 3, hidden, 7)
    total = vx.compute("cost", captured).split.sum(0)
    assert total[PROJECTIONS] == macs["projections"]
    assert total[PRODUCTS] == macs["products"]
    assert total[MLP] == macs["mlp"]
    assert total[OTHER] == macs["patches"] + macs["classifier"]


WITH_FORMULA = ["vit", "vit_not_square", "encoder", "deit_distilled", "clip", "beit", "eva", "dinov3", "rope_mixed"]


@pytest.mark.parametrize("key", [*WITH_FORMULA, "swin", "swin_padded", "swin_s3"])
def test_the_closed_formula_is_the_count(key):
    for fit in ("squash", *(["native"] if RECIPES[key].native_size else [])):
        result = vx.compute("cost", capture_small(key, fit))
        assert result.terms
        assert sum(term.count for term in result.terms) == result.total
        for term in result.terms:  # what is written is what is counted
            written = term.numbers.replace("·", "*").replace("²", "**2")
            assert eval(written) == term.count
        assert result.formula == " + ".join(term.symbols for term in result.terms)


@pytest.mark.parametrize("key", ["hybrid", "parallel", "eva02", "siglip", "swinv2"])
def test_no_formula_is_claimed_where_it_would_be_wrong(key):
    result = vx.compute("cost", capture_small(key))
    assert result.terms == ()
    assert any("No closed formula" in note.en for note in result.notes)


# ------------------------------------------------------------------------------------------------ growth


def split_at(key: str, size: int) -> np.ndarray:
    """Return MACs by kind for a square image."""
    return vx.compute("cost", capture_small(key), image_size=size).split.sum(0)


def test_attention_grows_with_the_square_of_the_tokens():
    """Sides 64 and 128 in patches of 16: 16 + 1 and 64 + 1 tokens."""
    small, large = split_at("vit", 64), split_at("vit", 128)
    assert large[PRODUCTS] * 17**2 == small[PRODUCTS] * 65**2
    assert large[PROJECTIONS] * 17 == small[PROJECTIONS] * 65
    assert large[MLP] * 17 == small[MLP] * 65


def test_windows_are_linear_in_the_patches():
    small, large = split_at("swin", 64), split_at("swin", 128)
    assert (large[[PROJECTIONS, PRODUCTS, MLP]] == 4 * small[[PROJECTIONS, PRODUCTS, MLP]]).all()


def test_windows_that_are_not_full_cost_as_if_they_were():
    result = vx.compute("cost", capture_small("swin_padded"))
    assert any("not full" in note.en for note in result.notes)
    assert not any("not full" in note.en for note in vx.compute("cost", capture_small("swin")).notes)


@pytest.mark.parametrize("key", ["vit_not_square", "beit"])
def test_a_model_of_fixed_size_is_refitted(key):
    """The count equals that of a model built for the other size."""
    recipe = RECIPES[key]
    built = timm.create_model(recipe.architecture, **{**recipe.options, "img_size": (96, 160)})
    expected = count_multiplications(without_storage(built), (96, 160)).total
    assert vx.compute("cost", capture_small(key), image_size=(96, 160)).total == expected
    assert load_small(key).preprocessing.input_size != (96, 160)


# ------------------------------------------------------------------------------------------------ no numbers, no trace


def test_weights_play_no_part():
    captured = capture_small("deit_distilled")
    module = copy.deepcopy(captured.model.module)
    for parameter in module.parameters():
        parameter.data.fill_(float("nan"))
    again = replace(captured, model=replace(captured.model, module=module))
    np.testing.assert_array_equal(vx.compute("cost", again).values, vx.compute("cost", captured).values)


def test_a_copy_without_storage_copies_no_numbers(any_model):
    before = {name: (id(t), t._version) for name, t in any_model.module.state_dict(keep_vars=True).items()}
    copied = without_storage(any_model.module)
    assert all(tensor.is_meta for tensor in (*copied.parameters(), *copied.buffers()))
    assert {name: (id(t), t._version) for name, t in any_model.module.state_dict(keep_vars=True).items()} == before
    assert [name for name, _ in copied.named_parameters()] == [name for name, _ in any_model.module.named_parameters()]


def global_hooks() -> list:
    """Return torch's hooks on every module; a scheduler of an earlier test has set one for good."""
    module = nn.modules.module
    return [*module._global_forward_hooks.values(), *module._global_forward_pre_hooks.values()]


def test_other_threads_are_not_counted_and_hooks_are_not_set():
    captured, stop = capture_small("vit"), threading.Event()
    hooks = global_hooks()

    def work():
        while not stop.is_set():
            captured.model.module(captured.input.tensor)

    expected = vx.compute("cost", captured)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            np.testing.assert_array_equal(vx.compute("cost", captured).split, expected.split)
    finally:
        stop.set()
        thread.join()
    assert global_hooks() == hooks


# ------------------------------------------------------------------------------------------------ the control


@pytest.mark.parametrize("given", [128, "128", "128,128", "128x128", (128, 128), [128, 128], 128.0])
def test_sizes_as_people_write_them(given):
    assert vx.compute("cost", capture_small("vit"), image_size=given).settings == {"image_size": (128, 128)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("large", "image_size must be a number of pixels or (height, width), not 'large'."),
        (128.5, "image_size must be a number of pixels or (height, width), not 128.5."),
        ((1, 2, 3), "image_size must be a number of pixels or (height, width), not (1, 2, 3)."),
        (float("inf"), "image_size must be a number of pixels or (height, width), not inf."),
        (100, "image_size must be multiples of 16 x 16 pixels up to 4096, not 100 x 100."),
        (0, "image_size must be multiples of 16 x 16 pixels up to 4096, not 0 x 0."),
        (8192, "image_size must be multiples of 16 x 16 pixels up to 4096, not 8192 x 8192."),
    ],
    ids=str,
)
def test_sizes_that_a_model_cannot_take(given, expected):
    with pytest.raises(SettingError) as raised:
        vx.compute("cost", capture_small("vit"), image_size=given)
    assert str(raised.value) == expected


def test_the_captured_size_is_always_taken():
    """60 pixels in patches of 14: no whole number, and yet what was captured."""
    captured = capture_small("uneven")
    assert vx.compute("cost", captured).settings == {"image_size": (60, 60)}
    assert vx.compute("cost", captured, image_size=60).total == vx.compute("cost", captured).total
