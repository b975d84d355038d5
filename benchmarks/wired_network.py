"""Vision transformer with parameters set by hand, so that its logits follow from arithmetic.

A plain timm VisionTransformer with two blocks. A patch token holds its content, the mean of its normalised red values,
and for two patches a code that identifies them. In block 0 one head of the class token copies the content of the patch
`copied`, the other averages the content of all tokens; in block 1 a head copies the content of the patch `taken` with a
negative sign. The MLPs output zero. The norms cancel: every token holds the same very large number K beside its
content, so that the divisor depends on K alone, and the gain undoes it (up to content^2 / K^2). With a class token and
N patches, and a_p the content of patch p,

    logit of class 0 = COPIED a_copied + AVERAGED sum_p a_p / (N + 1) - TAKEN a_taken,

and the logit of class 1 is -1/2 of it. Everything is in float64.
"""

from __future__ import annotations

import torch
from timm.models.vision_transformer import VisionTransformer

from vitexplorer.core.types import Provenance
from vitexplorer.models.families import family_of
from vitexplorer.models.loading import LoadedModel, Preprocessing

COPIED, AVERAGED, TAKEN = 1.0, 4.0, 0.75
"""Weights of a patch's content in the logit, through each of the three heads"""
CONTENT, OUTPUT, ANCHOR, IS_COPIED, IS_TAKEN, IS_CLASS = range(6)
"""Slots of a token; each holds a number and its negative, so that a token's mean is zero"""
WIDTH, HEADS, PATCH = 12, 2, 4
K = 1e6  # see the module docstring
SHARP = 60.0
"""Score of the patch that a copying head attends to; all others have 0, so their weights are e^-60 of its weight"""


def hand_wired_model(side: int, copied: int, taken: int) -> LoadedModel:
    """Build the network for `side` x `side` patches; `copied` and `taken` are counted row by row."""
    pixels = side * PATCH
    module = VisionTransformer(
        img_size=pixels, patch_size=PATCH, num_classes=2, embed_dim=WIDTH, depth=2, num_heads=HEADS
    )
    wire(module, copied, taken)
    return LoadedModel(
        name="hand_wired",
        module=module,
        family=family_of(module, "hand_wired"),
        provenance=Provenance("hand_wired", "file", "benchmarks/wired_network.py"),
        preprocessing=Preprocessing((pixels, pixels), (0.5,) * 3, (0.5,) * 3, "bicubic", 1.0, "center"),
    )


@torch.no_grad()
def wire(module: VisionTransformer, copied: int, taken: int) -> None:
    """Set every parameter, in float64."""
    module.double().eval()
    for parameter in module.parameters():
        parameter.zero_()
    module.patch_embed.proj.weight[2 * CONTENT, 0] = PATCH**-2
    module.patch_embed.proj.weight[2 * CONTENT + 1, 0] = -(PATCH**-2)
    _put(module.cls_token[0, 0], IS_CLASS, 1)
    for token in module.pos_embed[0]:
        _put(token, ANCHOR, K)
    _put(module.pos_embed[0, 1 + copied], IS_COPIED, 1)
    _put(module.pos_embed[0, 1 + taken], IS_TAKEN, 1)
    first, second = module.blocks
    for norm in (first.norm1, first.norm2, second.norm1, second.norm2, module.norm):
        norm.weight.fill_((2 * K**2 / WIDTH + norm.eps) ** 0.5)
    _copy(first.attn, IS_COPIED, COPIED)
    _write_output(first.attn, head=1, weight=AVERAGED)
    _copy(second.attn, IS_TAKEN, -TAKEN)
    module.head.weight[0, 2 * OUTPUT] = 1
    module.head.weight[1, 2 * OUTPUT] = -0.5


def _put(token: torch.Tensor, slot: int, number: float) -> None:
    token[2 * slot] = number
    token[2 * slot + 1] = -number


def _copy(attention: torch.nn.Module, code: int, weight: float) -> None:
    """Wire head 0: the class token attends to the patch with the code only, every other token to all tokens equally."""
    queries, keys = 0, WIDTH
    attention.qkv.weight[queries, 2 * IS_CLASS] = 1
    attention.qkv.weight[keys, 2 * code] = SHARP / attention.scale
    _write_output(attention, head=0, weight=weight)


def _write_output(attention: torch.nn.Module, head: int, weight: float) -> None:
    """Wire a head's value and projection: add the attended content times `weight` to the classifier's slot."""
    channel = head * WIDTH // HEADS
    attention.qkv.weight[2 * WIDTH + channel, 2 * CONTENT] = 1
    attention.proj.weight[2 * OUTPUT, channel] = weight
    attention.proj.weight[2 * OUTPUT + 1, channel] = -weight
