"""Names of tensors, rule by rule, and projections that one library keeps apart and another together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.facts import Tensors
from vitexplorer.models.checkpoints.misfit import MisfitError, shape_of

_TWICE = Text("two tensors are {name}", "有两个张量都是 {name}")
_APART = Text("{some}: parts that belong together differ", "{some}：本应一致的各部分不同")
_GAP = Text(
    "blocks or stages have gaps: {other} is there and none has number {number}",
    "块或阶段的编号有缺口：有 {other}，但没有编号 {number}",
)

Rules = Sequence[tuple[str, str]]
"""(pattern, what is written in its place), one after the other"""


def renamed(tensors: Tensors, rules: Rules) -> Tensors:
    """Every name through all rules. Raises MisfitError where two names become one."""
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
"""what a library keeps beside the weights and timm computes from the sizes"""


def without(tensors: Tensors, pattern: str) -> tuple[Tensors, tuple[str, ...]]:
    """What does not match, and the names of what does."""
    gone = tuple(name for name in tensors if re.search(pattern, name))
    return {name: tensor for name, tensor in tensors.items() if name not in gone}, gone


def fused(tensors: Tensors, parts: Iterable[str] = ("query", "key", "value"), whole: str = "attn.qkv") -> Tensors:
    """`<block>.attn.<part>.weight` and `.bias` of some parts as `<block>.<whole>.*`, one below the other.

    A bias that some parts have and others lack stays with its part, under its own name. Raises MisfitError where the
    parts are not of one type or width: joined they would pass for it.
    """
    parts = tuple(parts)
    result = dict(tensors)
    for name in tensors:
        block, found, kind = name.rpartition(f".attn.{parts[0]}.")
        if not found:
            continue
        names = [f"{block}.attn.{part}.{kind}" for part in parts]
        if all(one in result for one in names):
            for one in names:
                shape_of(result, one, 2 if kind == "weight" else 1)
            if len({(result[one].dtype, result[one].shape[1:]) for one in names}) > 1:
                some = ", ".join(f"{one}: {result[one].dtype}, {list(result[one].shape)}" for one in names)
                raise MisfitError(_APART.format(some=some))
            result[f"{block}.{whole}.{kind}"] = torch.cat([result.pop(one) for one in names])
    return result


def placed(tensors: Tensors) -> Tensors:
    """Beside registers timm gives the class token no place of its own: it is added to the token."""
    if "reg_token" not in tensors:
        return tensors
    shape_of(tensors, "pos_embed", 3), shape_of(tensors, "cls_token", 3)
    places = tensors["pos_embed"]
    return {**tensors, "cls_token": tensors["cls_token"] + places[:, :1], "pos_embed": places[:, 1:].contiguous()}


def merged_at_the_start(tensors: Tensors) -> Tensors:
    """Swin's merging layers at the start of the next stage, where timm has them, and not at the end of their own."""

    def next_stage(match: re.Match[str]) -> str:
        return f"layers.{int(match[1]) + 1}.downsample"

    return {re.sub(r"^layers\.(\d+)\.downsample", next_stage, name): tensor for name, tensor in tensors.items()}


def count(tensors: Tensors, pattern: str) -> int:
    """How many numbers the group of a pattern takes: the blocks of a stage.

    Raises MisfitError unless they are 0, 1, 2, ... without a gap: a model would be built for all of them.
    """
    found = {match[1]: match[0] for name in tensors if (match := re.match(pattern, name))}
    gap = next((number for number in map(str, range(len(found))) if number not in found), None)
    if gap is not None:
        other = next(iter(found.values()))
        raise MisfitError(_GAP.format(number=gap, other=other))
    return len(found)


def ratio(hidden: int, width: int) -> float:
    """What timm is to be given for an MLP of so many neurons: it cuts width * ratio off to a whole number."""
    exact = hidden / width
    return exact if int(width * exact) == hidden else math.nextafter(exact, math.inf)
