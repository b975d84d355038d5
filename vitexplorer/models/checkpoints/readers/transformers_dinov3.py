"""transformers: DINOv3's vision transformer, with rotary positions. Names as `save_pretrained` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, renamed, without
from vitexplorer.models.checkpoints.usual import IMAGENET

_RULES = (
    (r"^(dinov3_vit|model)\.", ""),
    (r"^embeddings\.cls_token$", "cls_token"),
    (r"^embeddings\.register_tokens$", "reg_token"),
    (r"^embeddings\.patch_embeddings\.", "patch_embed.proj."),
    (r"^layer\.", "blocks."),
    (r"\.attention\.([qv])_proj\.bias$", r".attn.\1_bias"),
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
    return kept, facts_of(config, norm_eps=1e-5, usual=IMAGENET).but(left_out=left_out)


READER = Reader(
    library="transformers",
    signs=(r"embeddings\.register_tokens$", r"layer\.0\.attention\.o_proj\.weight$"),
    rename=rename,
)
