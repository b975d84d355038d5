"""transformers' SegFormer (arXiv 2105.15203), whose encoder is PVT v2 with other norms.

The names are those that `save_pretrained` writes, or those of a module of transformers 5. All norms have epsilon 1e-5,
whatever the configuration says. The head of a segmentation model reads all stages and is left out.
"""

from __future__ import annotations

from vitexplorer.core.text import same
from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import facts_of, fields_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import fused, renamed, without

_RULES = (
    (r"^segformer\.", ""),
    (r"^encoder\.patch_embeddings\.(\d+)\.", r"stages.\1.patch_embeddings."),
    (r"^encoder\.block\.(\d+)\.", r"stages.\1.blocks."),
    (r"^encoder\.layer_norm\.(\d+)\.", r"stages.\1.layer_norm."),
    (r"^stages\.0\.patch_embeddings\.", "patch_embed."),
    (r"^stages\.(\d+)\.patch_embeddings\.", r"stages.\1.downsample."),
    (r"^(patch_embed|stages\.\d+\.downsample|stages\.\d+)\.layer_norm\.", r"\1.norm."),
    (r"\.attention\.(self\.query|q_proj)\.", ".attn.q."),
    (r"\.attention\.(self\.key|k_proj)\.", ".attn.key."),
    (r"\.attention\.(self\.value|v_proj)\.", ".attn.value."),
    (r"\.attention\.(self\.sr|sequence_reduction\.sequence_reduction)\.", ".attn.sr."),
    (r"\.attention\.(self|sequence_reduction)\.layer_norm\.", ".attn.norm."),
    (r"\.attention\.(output\.dense|o_proj)\.", ".attn.proj."),
    (r"\.(layer_norm_1|layernorm_before)\.", ".norm1."),
    (r"\.(layer_norm_2|layernorm_after)\.", ".norm2."),
    (r"\.mlp\.dense([12])\.", r".mlp.fc\1."),
    (r"\.mlp\.dwconv\.dwconv\.", ".mlp.dwconv."),
    (r"^classifier\.", "head."),
)
_STRIDES = (4, 2, 2, 2)
"""Strides of the patch embeddings, in pixels or tokens; no tensor shows them, and timm supports no others"""


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to the names of timm's PVT v2, and fuse keys and values."""
    fields = fields_of(config)
    strides = fields.integers("strides")
    if strides is not None and strides != _STRIDES[: len(strides)]:
        raise fields.refusal("strides", same(str(list(_STRIDES))))
    encoder, left_out = without(tensors, r"^decode_head\.")
    encoder = fused(renamed(encoder, _RULES), ("key", "value"), "attn.kv")
    facts = facts_of(config, norm_eps=1e-5, default=IMAGENET).but(norm_eps=1e-5, left_out=left_out)
    return encoder, facts.but(class_names=()) if left_out else facts


READER = Reader(
    library="transformers",
    signs=(
        r"(encoder\.patch_embeddings\.0|stages\.0\.patch_embeddings)\.proj\.weight$",
        r"(encoder\.block\.0|stages\.0\.blocks)\.0\.mlp\.dwconv\.dwconv\.weight$",
    ),
    rename=rename,
)
