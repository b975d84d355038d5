"""Other input sizes: timm's own resampling, a separate model, and the cost stated before it runs."""

import re
from importlib import import_module

import numpy as np
import pytest
import timm
import torch
from timm.layers import resample_abs_pos_embed, resize_rel_pos_bias_table
from torch import nn

import vitexplorer as vx
from tests.helpers.small_families import CASES, load_case
from tests.helpers.small_models import RECIPES, attention_outputs, load_small, picture
from tests.helpers.thorough import quick
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.figures.identity import run_of
from vitexplorer.models.capture_memory import memory_of
from vitexplorer.models.input_size import at_size, nearest, sides
from vitexplorer.models.loading import LoadedModel
from vitexplorer.quantities.size_choices import size_choices, size_cost

ANY_SIZE = {
    "cpubone", "csatv2", "davit", "efficientvit_msra", "fastvit", "iformer", "lowformer", "metaformer", "mobilevit",
    "naflexvit", "nextvit", "pvt_v2", "shvit", "swin_transformer_v2_cr", "tiny_vit", "twins",
    "vision_transformer_relpos", "vision_transformer_sam", "xcit",
}  # fmt: skip
"""Families that state attention alone and take other sizes; all others refuse"""


def size_for(model: LoadedModel) -> tuple[int, int]:
    """Return 1.5 times the height and twice the width, rounded down to what the model takes."""
    step, own = model.family.size_step(model.module), model.preprocessing.input_size
    return tuple(int(side * factor) // of * of for side, factor, of in zip(own, (1.5, 2), step, strict=True))


def parameters(module: nn.Module) -> dict[str, tuple]:
    """Return the tensor behind each name, and how often it was written to."""
    return {name: (id(t), t._version) for name, t in module.state_dict(keep_vars=True).items()}


# ------------------------------------------------------------------------------------------------ slow twin


def built_for(key: str, size: tuple[int, int]) -> nn.Module:
    """Build a small model for another size without dynamic sizes, its tables resampled one by one."""
    recipe, plain = RECIPES[key], load_small(key).module
    options = {**recipe.options, "img_size": size, "dynamic_img_size": False}
    if "window_size" in options:
        options["window_size"] = [grown(plain, stage, size) for stage in plain.layers]
    if not recipe.native_size:
        del options["dynamic_img_size"]
    twin = timm.create_model(recipe.architecture, **options).eval()
    own, state = twin.state_dict(), {}
    for name, tensor in plain.state_dict().items():
        if name == "pos_embed":
            old, new = plain.patch_embed.grid_size, twin.patch_embed.grid_size
            prefix = tensor.shape[1] - old[0] * old[1]
            tensor = resample_abs_pos_embed(tensor, list(new), list(old), num_prefix_tokens=prefix)
        elif name.endswith("relative_position_bias_table"):
            home = twin.get_submodule(name.rpartition(".")[0])
            tensor = resize_rel_pos_bias_table(tensor, home.window_size, own[name].shape)
        state[name] = tensor
    twin.load_state_dict(state)
    return twin


def grown(plain: nn.Module, stage: nn.Module, size: tuple[int, int]) -> tuple[int, int]:
    """Return windows with the same share of the grid."""
    windows = stage.blocks[0].window_size
    return tuple(-(-w * new // old) for w, new, old in zip(windows, size, plain.patch_embed.img_size, strict=True))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of timm's resampling
@pytest.mark.parametrize(
    "key", ["vit", "vit_not_square", "deit3", "dinov2_registers", "uneven", "hybrid", "beit", "eva02", "dinov3",
            "rope_mixed", "swin", "swinv2"],
)  # fmt: skip
@torch.no_grad()
def test_another_size_is_a_model_that_is_built_for_it(key):
    model = load_small(key)
    size = size_for(model)
    captured = vx.capture(model, picture(*size), fit="squash", size=size)
    twin = built_for(key, size)
    torch.testing.assert_close(captured.output, twin(captured.input.tensor), rtol=0, atol=1e-5)
    assert captured.provenance.input_size == size


def test_windows_keep_their_share_of_the_grid():
    """Swin of 64 pixels: grids of 16, 8 and 4 in windows of 4; at 96 pixels 24, 12 and 6 in windows of 6."""
    sized = at_size(load_small("swin"), 96)
    sites = sized.blocks((96, 96))
    assert [(site.grid.rows, site.windows.window_size) for site in sites[::2]] == [
        (24, (6, 6)),
        (12, (6, 6)),
        (6, (6, 6)),
    ]
    assert sized.family.relative_bias(sized.module, 0).shape[1:] == (11, 11)


# ------------------------------------------------------------------------------------------------ every model


FREE = {case.family: key for key, case in CASES.items() if case.family in ANY_SIZE and key != "pvt_v2_linear"}
SOME = list(FREE.values())[::4]
EACH_WAY = ("vit", "deit_distilled", "uneven", "hybrid", "siglip", "beit", "dinov3", "swin", "swinv2", *SOME)


def load(key: str) -> LoadedModel:
    return load_small(key) if key in RECIPES else load_case(key)


@pytest.mark.parametrize("key", quick([*RECIPES, *FREE.values()], EACH_WAY))
@torch.no_grad()
def test_a_capture_at_another_size_is_the_modules_own_pass_and_its_memory_is_known(key):
    model = load(key)
    before = parameters(model.module), model.module(picture_of(model))
    sized = at_size(model, size_for(model))
    captured = vx.capture(sized, picture(*sized.preprocessing.input_size), fit="squash")
    assert torch.equal(captured.output, sized.module(captured.input.tensor))
    for block, output in enumerate(attention_outputs(captured)):
        call = captured.call(block)
        torch.testing.assert_close(call.weights() @ call.value, output, rtol=0, atol=2e-5)
    assert memory_of(sized).capture_bytes == captured.nbytes
    assert memory_of(sized).attention == max(4 * captured.call(b).weights().numel() for b in range(captured.depth))
    assert parameters(model.module) == before[0]
    assert torch.equal(model.module(picture_of(model)), before[1])


def picture_of(model: LoadedModel) -> torch.Tensor:
    return torch.linspace(-1, 1, 3 * np.prod(model.preprocessing.input_size)).reshape(
        1, 3, *model.preprocessing.input_size
    )


def test_the_weights_are_shared():
    swin, vit = load_small("swin"), load_small("vit")
    assert at_size(vit, 96).module is vit.module
    mine, theirs = (dict(model.module.named_parameters()) for model in (at_size(swin, 96), swin))
    assert [name for name in mine if mine[name] is not theirs[name]] == [
        name for name in mine if name.endswith("relative_position_bias_table")
    ]


def test_its_own_size_is_the_very_same_model():
    model = load_small("swin")
    assert at_size(model, 64) is model
    assert at_size(model, "64x64") is model


# ------------------------------------------------------------------------------------------------ what is said


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "vit",
            "96 × 96 pixels instead of the model's own 64 × 64. Its position embeddings were resampled from 4 × 4 to 6",
        ),
        ("dinov3", "Its rotary positions are those of 6 × 6 patches"),
        ("beit", "Its relative positions were resampled from 4 × 4 to 6 × 6 patches"),
        ("swin", "Its windows grew with the grid from 4 × 4 to 6 × 6 patches"),
    ],
)
def test_figures_say_the_size_and_what_became_of_the_positions(key, message):
    result = vx.compute("attention_map", vx.capture(load_small(key), picture(96, 96), fit="squash", size=96), block=0)
    notes = [note for note in result.notes if message in note.en]
    assert len(notes) == 1
    assert "96 × 96 像素" in notes[0].zh
    assert result.provenance.input_size == (96, 96)


def test_at_its_own_size_there_is_no_note():
    assert not vx.compute("attention_map", vx.capture(load_small("vit"), picture(64, 64), size=64), block=0).notes


@pytest.mark.parametrize(
    ("given", "expected"),
    [(384, (384, 384)), ("384", (384, 384)), ("384x512", (384, 512)), ((96, 64), (96, 64)), ("96,64", (96, 64))],
)
def test_a_size_is_one_number_or_height_and_width(given, expected):
    assert sides(given) == expected


@pytest.mark.parametrize("given", ["large", 96.5, (96, 96, 96), None, "384x"])
def test_what_is_no_size_is_answered_with_the_rule(given, unchecked):
    with pytest.raises(SettingError, match=r"size must be a number of pixels or \(height, width\), not"):
        at_size(load_small("vit"), given)


def test_a_size_that_patches_do_not_fill_is_answered_with_the_nearest():
    with pytest.raises(
        SettingError,
        match=re.escape("multiples of 16 pixels, up to 4096; 100 × 96 is not. Nearest: 96 × 96 and 112 × 96."),
    ):
        at_size(load_small("vit"), (100, 96))
    assert nearest((0, 5000), (32, 32)) == ((32, 4096),)


def test_families_of_one_size_say_so():
    assert {
        case.family for key, case in CASES.items() if load_case(key).family.size_step(load_case(key).module)
    } == ANY_SIZE
    with pytest.raises(UnsupportedError, match="convit takes images of 64 × 64 pixels only"):
        at_size(load_case("convit"), 128)
    with pytest.raises(UnsupportedError, match="At 320 × 320 pixels pvt_v2_linear pools"):
        at_size(load_case("pvt_v2_linear"), 320)


def test_a_native_fit_has_a_size_already():
    with pytest.raises(SettingError, match='fit "native" keeps the size of the picture'):
        vx.capture(load_small("vit"), picture(64, 64), fit="native", size=96)


def test_what_would_fill_the_memory_is_refused_with_its_cost(monkeypatch):
    monkeypatch.setattr(
        import_module("vitexplorer.models.capture_memory"), "settings", lambda: Settings(size_megabytes=1)
    )
    with pytest.raises(SettingError, match=r"1,025 tokens: a capture would keep \d+ MB, and .* 13 MB more\. 1 MB are"):
        at_size(load_small("vit"), 512)


# ------------------------------------------------------------------------------------------------ the cost beforehand


@pytest.mark.parametrize("key", ["vit", "beit", "swin"])
def test_the_cost_of_a_size_is_known_before_it_runs(key):
    model = load_small(key)
    costs = size_choices(model)
    assert [cost.size for cost in costs] == [(64, 64), (96, 96), (128, 128), (192, 192)]
    assert [cost.factor for cost in costs] == [1, 1.5, 2, 3]
    for cost in costs[:3]:
        captured = vx.capture(model, picture(*cost.size), fit="squash", size=cost.size)
        assert cost.macs == vx.compute("cost", captured).total
        assert cost.memory.capture_bytes == captured.nbytes
        assert cost.tokens == captured.residual(0).shape[0]
        assert cost.refusal is None
    assert costs[2].times == costs[2].macs / costs[0].macs > 4
    assert size_cost(model, "128").text == costs[2].text


def test_sizes_are_rounded_to_what_a_model_takes():
    swin = vx.load_model("swin_tiny_patch4_window7_224", weights="random")
    assert [cost.size[0] for cost in size_choices(swin)] == [224, 320, 448, 672]
    assert [cost.size for cost in size_choices(load_case("convit"))] == [(64, 64)]


def test_a_size_beyond_the_bound_is_refused_with_its_cost_and_its_own_never(monkeypatch):
    monkeypatch.setattr(
        import_module("vitexplorer.models.capture_memory"), "settings", lambda: Settings(size_megabytes=1)
    )
    own, *_, large = size_choices(load_small("vit"))
    assert own.refusal is None
    assert "145 tokens" in large.refusal.en
    assert "1 MB are allowed" in large.refusal.en


def test_a_model_at_another_size_has_the_choices_of_its_own():
    model = load_small("swin")
    large = at_size(model, 128)
    assert size_choices(large) == size_choices(model)
    assert at_size(large, 64) is model
    again = at_size(large, 96)
    assert len(again.notes) == 1
    assert again.family.relative_bias(again.module, 0).shape[1:] == (11, 11)


def test_files_of_two_sizes_have_two_names():
    own, large = (vx.capture(load_small("vit"), picture(64, 64), size=size).provenance for size in (None, 96))
    assert (run_of(own), run_of(large)) == ("random", "random-96x96")
