"""transformers: DINOv3's vision transformer, with rotary positions. Names as `save_pretrained` writes them.

A projection may have a bias or not. timm's Eva has one of queries and values alone, with the usual attention, or of all
three; it always has those of the other layers. One that the file lacks in every block is zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import rows_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, renamed, without
from vitexplorer.models.checkpoints.usual import IMAGENET

_RULES = (
    (r"^(dinov3_vit\.)?(model\.)?", ""),
    (r"^embeddings\.cls_token$", "cls_token"),
    (r"^embeddings\.register_tokens$", "reg_token"),
    (r"^embeddings\.patch_embeddings\.", "patch_embed.proj."),
    (r"^layer\.", "blocks."),
    (r"\.attention\.([qkv])_proj\.bias$", r".attn.\1_bias"),
    (r"\.attention\.([qkv])_proj\.", r".attn.\1."),
    (r"\.attention\.o_proj\.", ".attn.proj."),
    (r"\.layer_scale([12])\.lambda1$", r".gamma_\1"),
    (r"\.mlp\.gate_proj\.", ".mlp.fc1_g."),
    (r"\.mlp\.up_proj\.", ".mlp.fc1."),
    (r"\.mlp\.down_proj\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under the names of timm's Eva."""
    kept, left_out = without(tensors, r"mask_token$")
    kept = fused(renamed(kept, _RULES), "qkv")
    if any(".mlp.fc1_g." in name for name in kept):  # timm's SwiGLU calls its second linear layer fc1_x
        kept = renamed(kept, ((r"\.mlp\.fc1\.", ".mlp.fc1_x."),))
    return _with_biases(kept), facts_of(config, norm_eps=1e-5, usual=IMAGENET).but(left_out=left_out)


def _with_biases(tensors: Tensors) -> Tensors:
    """With zeros where no block has a bias."""
    written = {name.partition(".attn.")[2] for name in tensors} & {"q_bias", "k_bias", "v_bias"}
    result = dict(tensors)
    for name, tensor in tensors.items():
        block, _, part = name.partition(".attn.")
        bias = name.removesuffix("weight") + "bias"
        if part == "qkv.weight" and written:
            width = rows_of(tensors, name, parts=3)
            for one in sorted({"q_bias", "v_bias", *written} - written):
                result[f"{block}.attn.{one}"] = torch.zeros(width, dtype=tensor.dtype)
            if "k_bias" in written:
                parts = [result.pop(f"{block}.attn.{one}") for one in ("q_bias", "k_bias", "v_bias")]
                result[f"{block}.attn.qkv.bias"] = torch.cat(parts)
        elif re.search(r"^blocks\.\d+\.(attn\.proj|mlp\.\w+)\.weight$", name):
            layer = re.escape(bias.partition(".")[2].partition(".")[2])
            if not any(re.search(rf"^blocks\.\d+\.{layer}$", one) for one in tensors):
                result[bias] = torch.zeros(rows_of(tensors, name), dtype=tensor.dtype)
    return result


READER = Reader(
    library="transformers",
    signs=(r"embeddings\.register_tokens$", r"^(dinov3_vit\.)?(model\.)?layer\.0\.attention\.o_proj\.weight$"),
    rename=rename,
)
