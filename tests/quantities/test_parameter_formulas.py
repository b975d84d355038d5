"""Parameter counts: closed formulas against timm and a slow twin, the parts, the rough formula."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from torch import nn

import vitexplorer as vx
from tests.helpers.meta_models import outline_of
from tests.helpers.tree import ROOT
from vitexplorer.quantities.parameter_formulas import (
    SwinShape,
    ViTShape,
    differences,
    swin_terms,
    symbolic,
    total,
    vit_rough,
    vit_terms,
)
from vitexplorer.views.parameters import VIEW, count_parts, swin_shape, terms_of, vit_shape


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


# ---------------------------------------------------------------------------------------------- slow twins


def tensors_of_a_linear(inputs: int, outputs: int, bias: bool = True) -> list[tuple[int, ...]]:
    return [(outputs, inputs)] + [(outputs,)] * bias


def tensors_of_a_norm(dim: int) -> list[tuple[int, ...]]:
    return [(dim,), (dim,)]


def twin_vit(*, side, patch, dim, depth, hidden, classes, prefix=1, heads=1) -> int:
    """List every tensor of the ViT paper's model, one after the other."""
    tensors = [(dim, 3, patch, patch), (dim,)]
    tensors += [(dim,)] * prefix
    tensors += [(dim,) for _ in range(0, side - patch + 1, patch) for _ in range(0, side - patch + 1, patch)]
    tensors += [(dim,)] * prefix
    for _ in range(depth):
        tensors += tensors_of_a_norm(dim)
        for _ in ("query", "key", "value", "output"):
            tensors += tensors_of_a_linear(dim, dim)
        tensors += tensors_of_a_norm(dim)
        tensors += tensors_of_a_linear(dim, hidden) + tensors_of_a_linear(hidden, dim)
    tensors += tensors_of_a_norm(dim)
    for _ in range(heads):
        tensors += tensors_of_a_linear(dim, classes)
    return sum(math.prod(shape) for shape in tensors)


def twin_swin(*, patch, dim, depths, heads, window, classes, version=1) -> int:
    """List every tensor of the Swin papers' model, one after the other."""
    tensors = [(dim, 3, patch, patch), (dim,), *tensors_of_a_norm(dim)]
    for stage, (depth, num_heads) in enumerate(zip(depths, heads, strict=True)):
        if stage:
            tensors += tensors_of_a_linear(4 * dim, 2 * dim, bias=False)
            tensors += tensors_of_a_norm(4 * dim if version == 1 else 2 * dim)
            dim = 2 * dim
        for _ in range(depth):
            tensors += tensors_of_a_norm(dim) + tensors_of_a_norm(dim)
            tensors += tensors_of_a_linear(dim, dim) + tensors_of_a_linear(dim, dim, bias=version == 1)  # query, key
            tensors += tensors_of_a_linear(dim, dim) + tensors_of_a_linear(dim, dim)  # value, output
            if version == 1:
                offsets = {
                    (a - c, b - d)
                    for a in range(window)
                    for b in range(window)
                    for c in range(window)
                    for d in range(window)
                }
                tensors += [(len(offsets), num_heads)]
            else:
                tensors += (
                    tensors_of_a_linear(2, 512) + tensors_of_a_linear(512, num_heads, bias=False) + [(num_heads,)]
                )
            tensors += tensors_of_a_linear(dim, 4 * dim) + tensors_of_a_linear(4 * dim, dim)
    tensors += tensors_of_a_norm(dim) + tensors_of_a_linear(dim, classes)
    return sum(math.prod(shape) for shape in tensors)


@pytest.mark.parametrize(
    ("side", "patch", "dim", "depth", "hidden", "classes"), [(224, 16, 768, 12, 3072, 1000), (70, 8, 12, 3, 30, 7)]
)
@pytest.mark.parametrize("distilled", [False, True])
def test_vit_formula_is_its_slow_twin(side, patch, dim, depth, hidden, classes, distilled):
    shape = ViTShape(
        image_size=(side, side),
        patch_size=patch,
        dim=dim,
        depth=depth,
        hidden=hidden,
        classes=classes,
        distillation=distilled,
    )
    sizes = {"side": side, "patch": patch, "dim": dim, "depth": depth, "hidden": hidden, "classes": classes}
    assert total(vit_terms(shape)) == twin_vit(**sizes, prefix=1 + distilled, heads=1 + distilled)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("patch", "dim", "depths", "heads", "window", "classes"),
    [(4, 96, (2, 2, 6, 2), (3, 6, 12, 24), 7, 1000), (2, 8, (1, 3), (1, 2), 3, 5), (4, 8, (1,), (2,), 2, 3)],
)
def test_swin_formula_is_its_slow_twin(patch, dim, depths, heads, window, classes, version):
    shape = SwinShape(
        patch_size=patch,
        dim=dim,
        depths=depths,
        num_heads=heads,
        windows=((window, window),) * len(depths),
        classes=classes,
        version=version,
    )
    twin = twin_swin(patch=patch, dim=dim, depths=depths, heads=heads, window=window, classes=classes, version=version)
    assert total(swin_terms(shape)) == twin


# ---------------------------------------------------------------------------------------------- against timm

KNOWN = {
    "vit_tiny_patch16_224": 5_717_416,
    "vit_small_patch16_224": 22_050_664,
    "vit_base_patch16_224": 86_567_656,
    "vit_base_patch32_224": 88_224_232,
    "vit_large_patch16_224": 304_326_632,
    "vit_huge_patch14_224": None,
    "vit_giant_patch14_224": None,
    "vit_gigantic_patch14_224": None,
    "deit_tiny_patch16_224": 5_717_416,
    "deit_small_patch16_224": 22_050_664,
    "deit_tiny_distilled_patch16_224": 5_910_800,
    "deit3_small_patch16_224": None,
    "vit_small_patch16_224.dino": None,
    "vit_small_patch14_dinov2": None,
    "vit_small_patch14_reg4_dinov2": None,
    "vit_base_patch16_clip_224.openai": None,
    "vit_base_patch16_siglip_224": None,
    "vit_base_patch16_224.mae": None,
    "vit_medium_patch16_reg4_gap_256": None,
    "eva_large_patch14_196": None,
    "swin_tiny_patch4_window7_224": 28_288_354,
    "swin_small_patch4_window7_224": None,
    "swin_base_patch4_window7_224": None,
    "swin_s3_base_224": None,
    "swin_base_patch4_window12_384": None,
    "swinv2_tiny_window8_256": None,
    "swinv2_base_window12to16_192to256": None,
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_formula_is_exactly_timms_count(name):
    module = outline_of(name)
    terms = terms_of(module)
    assert total(terms) == count(module)
    assert KNOWN[name] in (None, count(module))
    assert sum(count_parts(module).values()) == count(module)
    assert len({term.name for term in terms}) == len(terms)


@pytest.mark.parametrize(
    "options",
    [
        {"img_size": (96, 160)},
        {"num_classes": 0},
        {"qkv_bias": False},
        {"qk_norm": True},
        {"init_values": 1e-5},
        {"class_token": False, "global_pool": "avg"},
        {"class_token": False, "global_pool": "map"},
        {"global_pool": "avg"},
        {"reg_tokens": 4},
        {"reg_tokens": 4, "no_embed_class": True},
        {"pre_norm": True},
        {"pos_embed": "none"},
        {"final_norm": False},
        {"mlp_ratio": 2.5},
        {"in_chans": 1},
        {"num_classes": 3, "depth": 1, "embed_dim": 10, "num_heads": 2},
    ],
    ids=str,
)
def test_every_option_of_a_vit(options):
    module = outline_of("vit_tiny_patch16_224", **options)
    assert total(terms_of(module)) == count(module)


@pytest.mark.parametrize("name", ["swin_tiny_patch4_window7_224", "swinv2_tiny_window8_256"])
@pytest.mark.parametrize(
    "options",
    [
        {"num_classes": 0},
        {"img_size": (96, 64)},
        {"mlp_ratio": 2.0},
        {"in_chans": 1},
        {"qkv_bias": False},
        {"patch_size": 2},
    ],
    ids=str,
)
def test_every_option_of_a_swin(name, options):
    module = outline_of(name, **options)
    assert total(terms_of(module)) == count(module)


@pytest.mark.parametrize(
    "name",
    [
        "vit_tiny_r_s16_p8_224",
        "beit_base_patch16_224",
        "eva02_tiny_patch14_224",
        "vit_small_patch16_dinov3",
        "vit_giant_patch14_dinov2",
        "resnet18",
    ],
)
def test_other_architectures_get_no_formula_but_a_count(name):
    module = outline_of(name)
    assert terms_of(module) == ()
    assert sum(count_parts(module).values()) == count(module)


def test_a_changed_module_gets_no_wrong_formula():
    module = outline_of("vit_tiny_patch16_224")
    module.head = nn.Sequential(nn.Linear(192, 8), nn.Linear(8, 1000))
    assert terms_of(module) == ()
    module = outline_of("vit_tiny_patch16_224")
    module.blocks[3].attn.qkv.adapter = nn.Linear(192, 2)
    assert terms_of(module) == ()
    module = outline_of("vit_tiny_patch16_224")
    module.blocks[0].mlp = nn.Identity()
    assert terms_of(module) == ()


def test_shapes_read_off_a_module():
    assert vit_shape(outline_of("vit_base_patch16_224")) == ViTShape()
    assert swin_shape(outline_of("swin_tiny_patch4_window7_224")) == SwinShape()


# ---------------------------------------------------------------------------------------------- what a term says


@pytest.mark.parametrize(
    "terms",
    [
        vit_terms(
            ViTShape(distillation=True, registers=4, qk_norm=True, layer_scale=True, pre_norm=True, attention_pool=True)
        ),
        vit_terms(ViTShape(prefix_positions=False)),
        swin_terms(SwinShape(windows=((7, 7), (7, 7), (7, 5), (3, 7)))),
        swin_terms(SwinShape(version=2)),
        vit_rough(ViTShape()),
    ],
)
def test_numbers_of_a_term_give_its_count(terms):
    for term in terms:
        assert eval(term.numbers.replace("·", "*").replace("²", "**2")) == term.count
        assert not any(letter.isalpha() for letter in term.numbers)
        assert term.name.zh


def test_a_vit_by_hand():
    """By hand: one block of width 2, MLP width 3, one patch of one pixel and one channel, two classes."""
    shape = ViTShape(image_size=(1, 1), patch_size=1, channels=1, dim=2, depth=1, num_heads=1, hidden=3, classes=2)
    assert [term.count for term in vit_terms(shape)] == [2, 2, 2, 4, 12, 6, 4, 2, 12, 5, 8, 4, 4, 2]
    assert symbolic(vit_terms(shape)).startswith("P² · C · D + D + D + (N + 1) · D + L · 3 · D²")


def test_the_rough_formula_of_lecture_notes_and_where_it_differs():
    exact, rough = vit_terms(ViTShape()), vit_rough(ViTShape(image_size=(256, 256)))
    assert total(rough) == 86_489_856
    rows = {row.name.en: row.count for row in differences(exact, rough)}
    assert rows == {
        "Patch projection: biases": 768,
        "Class token": 768,
        "Position embeddings": -60 * 768,
        "Queries, keys, values: biases": 12 * 3 * 768,
        "Attention output: biases": 12 * 768,
        "MLP: biases": 12 * 5 * 768,
        "LayerNorms of the blocks": 12 * 4 * 768,
        "Final LayerNorm": 2 * 768,
        "Classifier: biases": 1000,
    }
    assert sum(rows.values()) == 86_567_656 - 86_489_856
    assert differences(exact, exact) == ()


def test_the_rough_formula_of_a_backbone_has_no_classifier():
    backbone = replace(ViTShape(), classes=0)
    assert total(vit_rough(ViTShape())) - total(vit_rough(backbone)) == 768_000


def test_heads_do_not_change_the_count():
    assert total(vit_terms(ViTShape(num_heads=3))) == total(vit_terms(ViTShape()))


def test_formulas_need_no_torch():
    script = "import sys, vitexplorer.quantities.parameter_formulas; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------- the view


def test_parts_of_a_vit():
    parts = count_parts(outline_of("deit_tiny_distilled_patch16_224"))
    blocks = [f"block {block}" for block in range(12)]
    assert list(parts) == ["patch_embed", "pos_embed", "prefix_tokens", *blocks, "norm", "head", "head_dist"]
    assert parts["prefix_tokens"] == 2 * 192
    assert parts["pos_embed"] == 198 * 192
    assert len({parts[block] for block in blocks}) == 1


def test_parts_of_a_swin_are_numbered_over_the_whole_network():
    parts = list(count_parts(outline_of("swin_tiny_patch4_window7_224")))
    assert parts[:5] == ["patch_embed", "block 0", "block 1", "downsample 1", "block 2"]
    assert parts[-3:] == ["block 11", "norm", "head"]


@pytest.mark.parametrize("name", ["vit_tiny_patch16_224", "swin_tiny_patch4_window7_224"])
def test_the_view(name):
    model = vx.load_model(name, weights="random")
    capture = vx.capture(model, np.zeros((224, 224, 3), np.uint8), fit="squash")
    result = VIEW.compute(capture, **VIEW.settings(capture, {}))
    assert result.values.dtype == np.int64
    assert result.values.shape == (len(result.parts),)
    assert result.total == int(result.values.sum()) == total(result.terms) == count(model.module)
    assert result.formula == symbolic(result.terms)
    assert result.provenance.is_random
