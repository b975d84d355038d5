"""transformers' Swin and Swin V2, with the names that `save_pretrained` writes, or those of a module.

Patch merging comes at the end of a stage there, and at the start of the next in timm.
"""

from __future__ import annotations

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import QUERY_AND_VALUE_BIASES, fused, merged_at_the_start, renamed, without

_RULES = (
    (r"^swin(v2)?\.", ""),
    (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
    (r"^embeddings\.norm\.", "patch_embed.norm."),
    (r"^encoder\.layers\.", "layers."),
    (r"\.attention\.self\.(query|key|value)\.", r".attn.\1."),
    (r"\.attention\.self\.relative_position_bias_table$", ".attn.relative_position_bias_table"),
    (r"\.attention\.self\.continuous_position_bias_mlp\.", ".attn.cpb_mlp."),
    (r"\.attention\.self\.logit_scale$", ".attn.logit_scale"),
    (r"\.attention\.q_proj\.", ".attn.query."),
    (r"\.attention\.k_proj\.", ".attn.key."),
    (r"\.attention\.v_proj\.", ".attn.value."),
    (r"\.attention\.relative_position_bias\.", ".attn."),
    (r"\.attention\.(output\.dense|o_proj)\.", ".attn.proj."),
    (r"\.intermediate\.dense\.", ".mlp.fc1."),
    (r"(blocks\.\d+)\.output\.dense\.", r"\1.mlp.fc2."),
    (r"\.layernorm_before\.", ".norm1."),
    (r"\.layernorm_after\.", ".norm2."),
    (r"^layernorm\.", "norm."),
    (r"^classifier\.", "head.fc."),
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, and fuse queries, keys and values."""
    result, left_out = without(tensors, r"mask_token$|^decoder\.")
    result = fused(renamed(result, _RULES))
    if any(name.endswith(".attn.logit_scale") for name in result):  # version 2, whose keys have no bias
        result = renamed(result, QUERY_AND_VALUE_BIASES)
    return merged_at_the_start(result), facts_of(config, norm_eps=1e-5, default=IMAGENET).but(left_out=left_out)


READER = Reader(
    library="transformers",
    signs=(
        r"embeddings\.patch_embeddings\.projection\.weight$",
        r"layers\.0\.blocks\.0\.attention\.(self\.query|q_proj)\.weight$",
    ),
    rename=rename,
)
