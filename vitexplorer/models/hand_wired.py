"""A vision transformer whose parameters are set by hand, so that what its classifier reads is arithmetic.

A plain timm VisionTransformer with two blocks. A patch's token holds its content, the mean of its normalised reds, and
a code where it matters which patch it is. In block 0 one head of the class token copies the content of a named patch,
the other averages the content of all tokens; in block 1 a head copies that of a second patch and takes it away. The
MLPs give nothing. The norms are harmless: every token holds the same very large number K beside its content, so that
their divisor is that of K, and their gain puts it right (off by content^2 / K^2). So with class token and N patches,
a_p the content of patch p,

    logit of class 0 = COPIED a_copied + AVERAGED sum_p a_p / (N + 1) - TAKEN a_taken,

and that of class 1 is -1/2 of it. Everything is in float64.
"""

from __future__ import annotations

import torch
from timm.models.vision_transformer import VisionTransformer

from vitexplorer.core.types import Provenance
from vitexplorer.models.families import family_of
from vitexplorer.models.loading import LoadedModel, Preprocessing

COPIED, AVERAGED, TAKEN = 1.0, 4.0, 0.75
"""what a patch's content counts for in the logit through each of the three heads"""
CONTENT, TOLD, ANCHOR, IS_COPIED, IS_TAKEN, IS_CLASS = range(6)
"""what a token holds; each number stands twice, the second time negative, so that a token's mean is zero"""
WIDTH, HEADS, PATCH = 12, 2, 4
K = 1e6
SURE = 60.0
"""the score of the one patch that a copying head looks at, all others 0: their shares are e^-60 of its"""


def hand_wired_model(side: int, copied: int, taken: int) -> LoadedModel:
    """A network for `side` x `side` patches, two of which, counted row by row, have a head of their own."""
    pixels = side * PATCH
    module = VisionTransformer(
        img_size=pixels, patch_size=PATCH, num_classes=2, embed_dim=WIDTH, depth=2, num_heads=HEADS
    )
    wire(module, copied, taken)
    return LoadedModel(
        name="hand_wired",
        module=module,
        family=family_of(module, "hand_wired"),
        provenance=Provenance("hand_wired", "file", "vitexplorer/models/hand_wired.py"),
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
    _tell(first.attn, head=1, counts=AVERAGED)
    _copy(second.attn, IS_TAKEN, -TAKEN)
    module.head.weight[0, 2 * TOLD] = 1
    module.head.weight[1, 2 * TOLD] = -0.5


def _put(token: torch.Tensor, what: int, number: float) -> None:
    token[2 * what], token[2 * what + 1] = number, -number


def _copy(attention: torch.nn.Module, code: int, counts: float) -> None:
    """Head 0: the class token looks at the patch with the code alone; every other token looks at all alike."""
    queries, keys = 0, WIDTH
    attention.qkv.weight[queries, 2 * IS_CLASS] = 1
    attention.qkv.weight[keys, 2 * code] = SURE / attention.scale
    _tell(attention, head=0, counts=counts)


def _tell(attention: torch.nn.Module, head: int, counts: float) -> None:
    """A head passes on what it looks at: content, counted so many times, to what the classifier reads."""
    place = head * WIDTH // HEADS
    attention.qkv.weight[2 * WIDTH + place, 2 * CONTENT] = 1
    attention.proj.weight[2 * TOLD, place] = counts
    attention.proj.weight[2 * TOLD + 1, place] = -counts
