"""Large parts of a transformer, shared by its parameters and its multiplications.

Three counts use the same parts and can be compared: the module's own parameters, by their names and the kind of module
that holds them; the terms of a closed formula; the multiply-accumulates of one image. Every norm and every learned
scale belongs to `norms`, wherever it is, except those of attention pooling, which belong to the head.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vitexplorer.core.types import CostResult, Term
from vitexplorer.quantities import parameter_formulas as f

if TYPE_CHECKING:
    from torch import nn

PARTS = ("embedding", "attention", "mlp", "norms", "merging", "head", "other")
"""Parts in the order of the forward pass, except the norms, which are everywhere"""

_OF_TERM = {
    "embedding": (f.PATCH_WEIGHTS, f.PATCH_BIAS, f.CLASS_TOKEN, f.DISTILLATION_TOKEN, f.REGISTERS, f.POSITIONS),
    "attention": (
        f.QKV_WEIGHTS,
        f.QKV_BIAS,
        f.QV_BIAS,
        f.OUTPUT_WEIGHTS,
        f.OUTPUT_BIAS,
        f.BIAS_TABLE,
        f.BIAS_MLP,
        f.TEMPERATURES,
    ),
    "mlp": (f.MLP_WEIGHTS, f.MLP_BIAS),
    "norms": (f.PATCH_NORM, f.PRE_NORM, f.QK_NORM, f.BLOCK_NORMS, f.LAYER_SCALE, f.MERGING_NORMS, f.FINAL_NORM),
    "merging": (f.MERGING_WEIGHTS,),
    "head": (f.POOLING, f.HEAD_WEIGHTS, f.HEAD_BIAS, f.SECOND_HEAD),
}
_PART_OF_TERM = {name: part for part, names in _OF_TERM.items() for name in names}

_OF_NAME = (
    ("attn_pool", "head"),
    (r"(.*\.)?(\w*norm\w*|ls[12]|gamma_[12])(\.|$)", "norms"),
    ("(head|fc)", "head"),
    (r".*downsample\.", "merging"),
    (r".*\battn", "attention"),
    (r".*\bmlp", "mlp"),
    ("(patch_embed|pos_embed|cls_token|dist_token|reg_token)", "embedding"),
)
"""Patterns for the beginning of a parameter's name, and its part; the first match counts"""


def part_of(parameter: str) -> str:
    """Return the part of a parameter, by its name in timm."""
    return next((part for pattern, part in _OF_NAME if re.match(pattern, parameter)), "other")


def counted(module: nn.Module) -> Counter[str]:
    """Count the parameters of each part, from the module itself."""
    counts: Counter[str] = Counter()
    for name, parameter in module.named_parameters():
        counts[part_of(name)] += parameter.numel()
    return counts


def by_formula(terms: Iterable[Term]) -> dict[str, list[Term]]:
    """Group the terms of a closed formula by part."""
    terms_of_part: dict[str, list[Term]] = {}
    for term in terms:
        terms_of_part.setdefault(_PART_OF_TERM[term.name], []).append(term)
    return terms_of_part


def multiplied(result: CostResult) -> Counter[str]:
    """Sum the multiply-accumulates of each part."""
    from vitexplorer.quantities.multiplications import MLP  # here: it imports torch, and the page starts without

    counts: Counter[str] = Counter()
    for part, split in zip(result.parts, result.split.tolist(), strict=True):
        if part.startswith("block "):
            counts["mlp"] += split[MLP]
            counts["attention"] += sum(split) - split[MLP]
        else:
            counts["merging" if part.startswith("downsample ") else part_of(part)] += sum(split)
    return counts
