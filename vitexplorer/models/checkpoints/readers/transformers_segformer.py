"""transformers: SegFormer (arXiv 2105.15203), whose encoder is PVT v2's network with other norms.

Names as `save_pretrained` writes them, or as a live module of transformers 5 has them. All norms add 1e-5 to the
variance, whatever the configuration says. The head of a segmentation model reads all stages and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.core.text import same
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of, fields_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, renamed, without
from vitexplorer.models.checkpoints.usual import IMAGENET

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
"""pixels or tokens between the patches of a stage, which no tensor tells; timm has no others"""


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under the names of timm's PVT v2, with keys and values together."""
    said = fields_of(config)
    strides = said.wholes("strides")
    if strides is not None and strides != _STRIDES[: len(strides)]:
        raise said.refusal("strides", same(str(list(_STRIDES))))
    kept, left_out = without(tensors, r"^decode_head\.")
    kept = fused(renamed(kept, _RULES), ("key", "value"), "attn.kv")
    facts = facts_of(config, norm_eps=1e-5, usual=IMAGENET).but(norm_eps=1e-5, left_out=left_out)
    return kept, facts.but(class_names=()) if left_out else facts


READER = Reader(
    library="transformers",
    signs=(
        r"(encoder\.patch_embeddings\.0|stages\.0\.patch_embeddings)\.proj\.weight$",
        r"(encoder\.block\.0|stages\.0\.blocks)\.0\.mlp\.dwconv\.dwconv\.weight$",
    ),
    rename=rename,
)
