"""Renaming of tensors by rules, and fusing of projections that libraries store separately."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.misfit import MisfitError, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Tensors

_TWICE = Text("two tensors are {name}", "有两个张量都对应 {name}")
_APART = Text("{some}: parts that belong together differ", "{some}：本应一致的各部分不同")
_GAP = Text(
    "blocks or stages have gaps: {other} is there and none has number {number}",
    "块或阶段的编号有缺口：有 {other}，但没有编号 {number}",
)

Rules = Sequence[tuple[str, str]]
"""(pattern, replacement) pairs, applied one after the other"""


def renamed(tensors: Tensors, rules: Rules) -> Tensors:
    """Apply all rules to every name.

    Raises:
        MisfitError: two names become the same.
    """
    compiled = [(re.compile(pattern), text) for pattern, text in rules]
    result: Tensors = {}
    for name, tensor in tensors.items():
        for pattern, text in compiled:
            name = pattern.sub(text, name)
        if name in result:
            raise MisfitError(_TWICE.format(name=name))
        result[name] = tensor
    return result


COMPUTED = r"(relative_position_index|relative_coords_table|attn_mask|position_ids)$"
"""Pattern of tables that libraries store beside the weights and timm computes from the sizes"""


def without(tensors: Tensors, pattern: str) -> tuple[Tensors, tuple[str, ...]]:
    """Remove the tensors whose names match; return the others, and the names of those removed."""
    removed = tuple(name for name in tensors if re.search(pattern, name))
    return {name: tensor for name, tensor in tensors.items() if name not in removed}, removed


def by_rules(
    facts: Facts, unread: str = r"^$", rules: Rules = (), then: Callable[[Tensors], Tensors] | None = None
) -> Callable[[Tensors, Config], tuple[Tensors, Facts]]:
    """Make `rename` of a reader without configurations: leave out `unread` names, apply `rules`, then change more."""

    def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
        encoder, left_out = without(tensors, unread)
        result = renamed(encoder, rules)
        return result if then is None else then(result), facts.but(left_out=left_out)

    return rename


def fused(tensors: Tensors, parts: Iterable[str] = ("query", "key", "value"), whole: str = "attn.qkv") -> Tensors:
    """Concatenate `<block>.attn.<part>.weight` and `.bias` of the parts into `<block>.<whole>.*`.

    A bias that some parts lack is not fused and keeps its name.

    Raises:
        MisfitError: the parts differ in type or width, which concatenation would hide.
    """
    parts = tuple(parts)
    result = dict(tensors)
    for name in tensors:
        block, separator, kind = name.rpartition(f".attn.{parts[0]}.")
        if not separator:
            continue
        names = [f"{block}.attn.{part}.{kind}" for part in parts]
        if all(part in result for part in names):
            for part in names:
                shape_of(result, part, 2 if kind == "weight" else 1)
            if len({(result[part].dtype, result[part].shape[1:]) for part in names}) > 1:
                some = ", ".join(f"{part}: {result[part].dtype}, {list(result[part].shape)}" for part in names)
                raise MisfitError(_APART.format(some=some))
            result[f"{block}.{whole}.{kind}"] = torch.cat([result.pop(part) for part in names])
    return result


QUERY_AND_VALUE_BIASES: Rules = ((r"\.attn\.query\.bias$", ".attn.q_bias"), (r"\.attn\.value\.bias$", ".attn.v_bias"))
"""Rules for biases of queries and values that `fused` left apart, as keys have none"""


def without_key_biases(tensors: Tensors) -> Tensors:
    """Split each fused bias into those of queries and values, as in timm; that of the keys, which is unused, goes.

    Raises:
        MisfitError: a bias cannot be split into three equal parts.
    """
    result = dict(tensors)
    for name in tensors:
        if name.endswith(".qkv.bias"):
            rows_of(result, name, parts=3)
            block = name.removesuffix("qkv.bias")
            result[f"{block}q_bias"], _, result[f"{block}v_bias"] = result.pop(name).chunk(3)
    return result


def fold_class_position(tensors: Tensors) -> Tensors:
    """Add the class token's position to the token itself: with registers, timm has no position row for it."""
    if "reg_token" not in tensors:
        return tensors
    shape_of(tensors, "pos_embed", 3)
    shape_of(tensors, "cls_token", 3)
    positions = tensors["pos_embed"]
    return {**tensors, "cls_token": tensors["cls_token"] + positions[:, :1], "pos_embed": positions[:, 1:].contiguous()}


def merged_at_the_start(tensors: Tensors) -> Tensors:
    """Move Swin's patch merging from the end of each stage to the start of the next, as in timm."""

    def next_stage(match: re.Match[str]) -> str:
        return f"layers.{int(match[1]) + 1}.downsample"

    return {re.sub(r"^layers\.(\d+)\.downsample", next_stage, name): tensor for name, tensor in tensors.items()}


def count(tensors: Tensors, pattern: str) -> int:
    """Count the numbers that match the pattern's group, such as the blocks of a stage.

    Raises:
        MisfitError: they are not 0, 1, 2, ... without a gap.
    """
    matches = {match[1]: match[0] for name in tensors if (match := re.match(pattern, name))}
    gap = next((number for number in map(str, range(len(matches))) if number not in matches), None)
    if gap is not None:
        other = next(iter(matches.values()))
        raise MisfitError(_GAP.format(number=gap, other=other))
    return len(matches)


def ratio(hidden: int, width: int) -> float:
    """Return the `mlp_ratio` for which timm builds `hidden` neurons: it truncates width * ratio."""
    exact = hidden / width
    return exact if int(width * exact) == hidden else math.nextafter(exact, math.inf)
