"""Small random models for every family with attention-only support, and the module to perturb in each.

A family that is not in the table is checked on its smallest timm model; a case of its own is quicker.
`probe` names, for a block, the module whose map of features can be changed one cell at a time before attention reads
it: "norm1" stands beside the attention and is changed at its output, "" is the attention itself, changed at its input,
".norm" is in it and changed at its output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import timm
import torch
from timm.models.byobnet import ByoBlockCfg, ByobNet, ByoModelCfg
from timm.models.cpubone import CPUBone
from timm.models.csatv2 import CSATv2
from timm.models.efficientvit_msra import EfficientVitMsra
from timm.models.gcvit import GlobalContextVit
from timm.models.hieradet_sam2 import HieraDet
from timm.models.iformer import IFormer
from timm.models.lowformer import LowFormer
from timm.models.metaformer import Attention, LayerNorm2dNoBias, LayerNormNoBias, MetaFormer, SepConv
from timm.models.mvitv2 import MultiScaleVit, MultiScaleVitCfg
from timm.models.nest import Nest
from timm.models.nextvit import NextViT
from timm.models.shvit import SHViT
from timm.models.volo import VOLO
from torch import nn

from benchmarks.field.coverage import settle
from tests.helpers.meta_models import outline_of
from tests.helpers.small_models import as_loaded, picture, roughen
from vitexplorer.capturing.capture import Capture, capture
from vitexplorer.models.families import FAMILIES, family_of
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.seeding import seeded


@dataclass(frozen=True)
class Case:
    """Small model of a family."""

    family: str
    size: tuple[int, int]
    build: Callable[..., nn.Module]
    options: dict[str, Any] = field(default_factory=dict)
    probe: str = "norm1"
    reach: int = 0
    """Cells around a changed one that a convolution may reach before attention"""
    leans: bool = False
    """True if convolutions reach right and down only, as 2 x 2 kernels do"""
    overlapping: bool = False
    """True if a key lies in more than one window"""
    settled: bool = False
    """True to set batch normalisations to the statistics of noise; otherwise scores would reach thousands"""
    prefix_tokens: tuple[str, ...] = ()
    changed_weights: str = ""
    """Name within the attention of the part whose output multiplies the values, if heads are mixed"""


def _timm(architecture: str) -> Callable[..., nn.Module]:
    return partial(timm.create_model, architecture)


def _byoa(layer: str, **options: Any) -> ByoModelCfg:
    """Configure a stage of convolutions, then one of two attentions, the first of which halves the grid."""
    blocks = (ByoBlockCfg("bottle", d=1, c=32, s=2, br=0.5), ByoBlockCfg("self_attn", d=2, c=32, s=2, br=1.0))
    options = {"num_heads": 2, **options}
    return ByoModelCfg(blocks, stem_chs=16, stem_pool="", self_attn_layer=layer, self_attn_kwargs=options)


THIN = {"embed_dim": 48, "num_heads": 3}
FOUR = {"embed_dims": (16, 32, 48, 64), "num_heads": (1, 2, 3, 4)}
FIVE = {"width_list": (8, 12, 16, 64, 64), "depth_list": (1, 1, 1, 1, 1), "head_widths": (32, 32)}
MVIT = {"depths": (1, 1, 2, 1), "embed_dim": 24}
CLS = ("cls",)

CASES: dict[str, Case] = {
    "cait": Case(
        "cait",
        (64, 64),
        _timm("cait_xxs24_224"),
        {**THIN, "img_size": 64, "depth": 2},
        prefix_tokens=CLS,
        changed_weights="attn_drop",
    ),
    "xcit": Case("xcit", (64, 96), _timm("xcit_nano_12_p16_224"), {**THIN, "depth": 1}, prefix_tokens=CLS),
    "volo": Case(
        "volo",
        (64, 64),
        VOLO,
        {"img_size": 64, "layers": (1, 2, 1, 1), "embed_dims": (32, 48, 48, 48), "num_heads": (2, 3, 3, 3)},
        prefix_tokens=CLS,
    ),
    "convit": Case(
        "convit",
        (64, 64),
        _timm("convit_tiny"),
        {**THIN, "img_size": 64, "depth": 3, "local_up_to_layer": 2},
        prefix_tokens=CLS,
        changed_weights="attn_drop",
    ),
    "pit": Case(
        "pit",
        (64, 64),
        _timm("pit_ti_distilled_224"),
        {"img_size": 64, "base_dims": (16, 16, 16), "depth": (1, 2, 1), "heads": (1, 2, 4)},
        prefix_tokens=("cls", "dist"),
    ),
    "visformer": Case(
        "visformer",
        (64, 64),
        _timm("visformer_tiny"),
        {"img_size": 64, "embed_dim": 48, "depth": (1, 2, 1), "num_heads": 3},
    ),
    "levit": Case(
        "levit",
        (96, 96),
        _timm("levit_128s"),
        {"img_size": 96, "embed_dim": (48, 64, 80), "depth": (1, 1, 1)},
        probe="",
    ),
    "levit_conv": Case(
        "levit",
        (96, 96),
        _timm("levit_conv_128s"),
        {"img_size": 96, "embed_dim": (48, 64, 80), "depth": (1, 1, 1)},
        probe="",
    ),
    "pvt_v2": Case("pvt_v2", (64, 96), _timm("pvt_v2_b0"), {**FOUR, "depths": (1, 1, 1, 1)}),
    "pvt_v2_linear": Case("pvt_v2", (224, 224), _timm("pvt_v2_b2_li"), {**FOUR, "depths": (1, 1, 1, 1)}),
    # grids 24, 12, 6, 3 in windows of 7: padded
    "twins": Case("twins", (96, 96), _timm("twins_svt_small"), {**FOUR, "img_size": 96, "depths": (2, 2, 2, 2)}),
    "twins_pcpvt": Case(
        "twins", (64, 64), _timm("twins_pcpvt_small"), {**FOUR, "img_size": 64, "depths": (1, 1, 1, 1)}
    ),
    "hiera": Case(
        "hiera",
        (64, 96),
        _timm("hiera_tiny_224"),
        {"img_size": (64, 96), "stages": (1, 2, 2, 1), "embed_dim": 24, "num_heads": 2},
    ),
    "hieradet_sam2": Case(
        "hieradet_sam2",
        (96, 64),
        HieraDet,
        {
            "embed_dim": 24,
            "num_heads": 2,
            "stages": (1, 2, 2, 1),
            "window_spec": (8, 4, 6, 2),
            "global_att_blocks": (4,),
        },
    ),
    "mvitv2": Case("mvitv2", (64, 64), MultiScaleVit, {"cfg": MultiScaleVitCfg(**MVIT), "img_size": (64, 64)}, reach=1),
    "mvitv2_class": Case(
        "mvitv2",
        (64, 64),
        MultiScaleVit,
        {"cfg": MultiScaleVitCfg(**MVIT, use_cls_token=True), "img_size": (64, 64), "global_pool": "token"},
        reach=1,
        prefix_tokens=CLS,
    ),
    "maxvit": Case("maxxvit", (160, 160), _timm("test_maxvit")),
    "coatnet": Case("maxxvit", (160, 160), _timm("test_coatnet")),
    "maxvit_parallel": Case(
        "maxxvit",
        (64, 64),
        _timm("maxvit_tiny_pm_256"),
        {"depths": (1, 1, 1, 1), "embed_dim": (32, 32, 32, 32), "img_size": 64},
    ),
    "nest": Case(
        "nest",
        (64, 64),
        Nest,
        {"img_size": 64, "embed_dims": (24, 36, 48), "num_heads": (2, 3, 4), "depths": (1, 2, 2)},
        probe="level",
    ),
    "gcvit": Case(
        "gcvit",
        (128, 128),
        GlobalContextVit,
        {
            "img_size": 128,
            "embed_dim": 16,
            "depths": (2, 2, 2, 2),
            "num_heads": (1, 2, 4, 8),
            "window_size": (4, 4, 8, 4),
        },
    ),
    "davit": Case("davit", (96, 64), _timm("davit_tiny"), {**FOUR, "depths": (1, 1, 1, 1)}),
    "swin_transformer_v2_cr": Case(
        "swin_transformer_v2_cr",
        (128, 128),
        _timm("swinv2_cr_tiny_224"),
        {"img_size": 128, "embed_dim": 24, "depths": (2, 2, 2, 2), "num_heads": (1, 2, 3, 4)},
        probe="..",
    ),
    "tiny_vit": Case("tiny_vit", (96, 64), _timm("tiny_vit_5m_224"), {**FOUR, "depths": (1, 1, 1, 1)}, probe=".."),
    "fastvit": Case(
        "fastvit",
        (128, 64),
        _timm("fastvit_sa12"),
        {"layers": (1, 1, 1, 2), "embed_dims": (32, 32, 64, 64)},
        probe="norm",
    ),
    "metaformer": Case(
        "metaformer",
        (96, 64),
        MetaFormer,
        {
            "depths": (1, 1, 2, 1),
            "dims": (16, 32, 64, 96),
            "token_mixers": [SepConv, SepConv, Attention, Attention],
            "norm_layers": [LayerNorm2dNoBias] * 2 + [LayerNormNoBias] * 2,
        },
    ),
    "efficientformer": Case(
        "efficientformer",
        (224, 224),
        _timm("efficientformer_l1"),
        {"depths": (1, 1, 1, 3), "embed_dims": (16, 32, 48, 64), "num_vit": 2},
    ),
    "efficientformer_v2": Case(
        "efficientformer_v2",
        (96, 96),
        _timm("efficientformerv2_s0"),
        {"depths": (1, 1, 2, 2), "embed_dims": (16, 32, 48, 64), "num_vit": 1, "img_size": 96},
        probe="",
        reach=1,
        changed_weights="talking_head2",
    ),
    "naflexvit": Case(
        "naflexvit",
        (64, 64),
        _timm("naflexvit_base_patch16_gap"),
        {**THIN, "img_size": 64, "depth": 2},
        prefix_tokens=("reg1", "reg2", "reg3", "reg4"),
    ),
    "vit_relpos": Case("vision_transformer_relpos", (160, 160), _timm("test_vit_relpos"), {"depth": 2}),
    "vit_relpos_class": Case(
        "vision_transformer_relpos",
        (64, 64),
        _timm("vit_relpos_base_patch16_cls_224"),
        {**THIN, "img_size": 64, "depth": 2},
        prefix_tokens=CLS,
    ),
    # a grid of 7 in windows of 3: padded
    "vit_sam": Case(
        "vision_transformer_sam",
        (112, 112),
        _timm("samvit_base_patch16_224"),
        {**THIN, "img_size": 112, "depth": 3, "window_size": 3, "global_attn_indexes": (1,)},
    ),
    "tnt": Case(
        "tnt",
        (64, 64),
        _timm("tnt_s_patch16_224"),
        {"img_size": 64, "depth": 2, "embed_dim": 48, "num_heads_outer": 3, "num_heads_inner": 2},
        probe="norm_out",
        prefix_tokens=CLS,
    ),
    "crossvit": Case(
        "crossvit",
        (240, 240),
        _timm("crossvit_tiny_240"),
        {"embed_dim": (48, 48), "depth": ((1, 2, 0),)},
        prefix_tokens=CLS,
    ),
    "crossvit_whole": Case(
        "crossvit",
        (64, 64),
        _timm("crossvit_9_240"),
        {
            "img_scale": (1.0, 1.0),
            "patch_size": (8, 16),
            "img_size": 64,
            "embed_dim": (48, 48),
            "depth": ((1, 2, 0), (1, 1, 0)),
        },
        prefix_tokens=CLS,
    ),
    "mobilevit": Case("mobilevit", (128, 192), _timm("mobilevit_xxs"), probe="block"),
    "nextvit": Case("nextvit", (96, 64), NextViT, {"in_chans": 3, "depths": (1, 1, 5, 2)}, probe=""),
    "botnet": Case("byoanet", (32, 48), ByobNet, {"cfg": _byoa("bottleneck"), "img_size": (32, 48)}, probe=""),
    "halonet": Case(
        "byoanet", (64, 32), ByobNet, {"cfg": _byoa("halo", block_size=4, halo_size=1)}, probe="", overlapping=True
    ),
    "shvit": Case(
        "shvit",
        (128, 192),
        SHViT,
        {"embed_dim": (32, 48, 64), "partial_dim": (8, 12, 16), "depth": (1, 1, 2), "types": ("i", "s", "s")},
        probe=".pre_norm",
    ),
    "csatv2": Case(
        "csatv2",
        (128, 64),
        CSATv2,
        {"dims": (8, 16, 24, 32), "depths": (1, 1, 2, 2), "transformer_depths": (0, 0, 1, 1)},
        probe="",
    ),
    "iformer": Case(
        "iformer",
        (128, 96),
        IFormer,
        {"dims": (16, 24, 32, 48), "depths": (1, 1, 4, 3), "attn_groups": (0, 0, 1, 1)},
        probe="",
        settled=True,
    ),
    # a grid of 10 in windows of 7: padded; then 5 and 3, each one window
    "efficientvit_msra": Case(
        "efficientvit_msra",
        (160, 160),
        EfficientVitMsra,
        {"img_size": 160, "embed_dim": (32, 48, 64), "key_dim": (8, 8, 8), "depth": (1, 1, 1), "num_heads": (4, 3, 2)},
        settled=True,
    ),
    "lowformer": Case("lowformer", (128, 96), LowFormer, FIVE, probe="", reach=2, settled=True),
    "cpubone": Case(
        "cpubone", (128, 96), CPUBone, {**FIVE, "small_kernels": True}, probe="", reach=1, leans=True, settled=True
    ),
}


def smallest_of(family: ModelFamily) -> Case:
    """Return the timm architecture with the fewest parameters among a family's classes, at its own size."""
    names = [name for kind in family.of for name in timm.list_models(module=kind.__module__.rsplit(".", 1)[-1])]
    made = {name: outline_of(name) for name in names}
    sizes = {
        name: sum(parameter.numel() for parameter in module.parameters())
        for name, module in made.items()
        if isinstance(module, family.of) and family.attends(module)
    }
    assert sizes, f"timm has no model of the family {family.key}"
    name = min(sizes, key=sizes.__getitem__)
    prefix_tokens = family.prefix_tokens(made[name])
    return Case(family.key, made[name].default_cfg["input_size"][1:], _timm(name), prefix_tokens=prefix_tokens)


CASES |= {
    key: smallest_of(family)
    for key, family in FAMILIES.items()
    if not family.shows_stream and key not in {case.family for case in CASES.values()}
}


@cache
def load_case(key: str) -> LoadedModel:
    """Return the model of a case; it is cached, so callers must not change it."""
    case = CASES[key]
    with seeded(0):
        module = case.build(**case.options, num_classes=7).eval()
        roughen(module)
        if case.settled:
            settle(module, torch.empty(1, 3, *case.size))
    return as_loaded(key, module, family_of(module, key), case.size)


@cache
def capture_case(key: str) -> Capture:
    """Capture `picture` with the model of a case."""
    return capture(load_case(key), picture(*CASES[key].size), fit="squash")
