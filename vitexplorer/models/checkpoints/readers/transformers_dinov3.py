"""transformers' DINOv3 ViT with rotary positions, with the names that `save_pretrained` writes.

Biases of projections are optional there. timm's Eva has biases of queries and values, with another attention class also
of keys, and always those of the other layers. A bias that the file lacks in every block becomes zero.
"""

from __future__ import annotations

import re

import torch

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import rows_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import fused, renamed, without

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


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to the names of timm's Eva."""
    vision, left_out = without(tensors, r"mask_token$")
    vision = fused(renamed(vision, _RULES), "qkv")
    if any(".mlp.fc1_g." in name for name in vision):  # timm's SwiGLU calls its second linear layer fc1_x
        vision = renamed(vision, ((r"\.mlp\.fc1\.", ".mlp.fc1_x."),))
    return _with_biases(vision), facts_of(config, norm_eps=1e-5, default=IMAGENET).but(left_out=left_out)


def _with_biases(tensors: Tensors) -> Tensors:
    """Add zero biases where no block has one."""
    stored = {name.partition(".attn.")[2] for name in tensors} & {"q_bias", "k_bias", "v_bias"}
    result = dict(tensors)
    for name, tensor in tensors.items():
        block, _, part = name.partition(".attn.")
        bias = name.removesuffix("weight") + "bias"
        if part == "qkv.weight" and stored:
            width = rows_of(tensors, name, parts=3)
            for missing in sorted({"q_bias", "v_bias", *stored} - stored):
                result[f"{block}.attn.{missing}"] = torch.zeros(width, dtype=tensor.dtype)
            if "k_bias" in stored:
                parts = [result.pop(f"{block}.attn.{part}") for part in ("q_bias", "k_bias", "v_bias")]
                result[f"{block}.attn.qkv.bias"] = torch.cat(parts)
        elif re.search(r"^blocks\.\d+\.(attn\.proj|mlp\.\w+)\.weight$", name):
            layer = re.escape(bias.partition(".")[2].partition(".")[2])
            if not any(re.search(rf"^blocks\.\d+\.{layer}$", other) for other in tensors):
                result[bias] = torch.zeros(rows_of(tensors, name), dtype=tensor.dtype)
    return result


READER = Reader(
    library="transformers",
    signs=(r"embeddings\.register_tokens$", r"^(dinov3_vit\.)?(model\.)?layer\.0\.attention\.o_proj\.weight$"),
    rename=rename,
)
