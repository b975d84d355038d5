"""transformers' PVT v2, with the names that `save_pretrained` writes.

There each stage begins with its patch embedding; in timm the first embedding precedes all stages, and keys and values
are one projection.
"""

from __future__ import annotations

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import fused, renamed

_RULES = (
    (r"^pvt_v2\.", ""),
    (r"^encoder\.layers\.0\.patch_embedding\.", "patch_embed."),
    (r"^encoder\.layers\.(\d+)\.patch_embedding\.", r"stages.\1.downsample."),
    (r"^encoder\.layers\.", "stages."),
    (r"^(patch_embed|stages\.\d+\.downsample|stages\.\d+)\.layer_norm\.", r"\1.norm."),
    (r"\.attention\.query\.", ".attn.q."),
    (r"\.attention\.(key|value|proj)\.", r".attn.\1."),
    (r"\.attention\.spatial_reduction\.", ".attn.sr."),
    (r"\.attention\.layer_norm\.", ".attn.norm."),
    (r"\.layer_norm_([12])\.", r".norm\1."),
    (r"\.mlp\.dense([12])\.", r".mlp.fc\1."),
    (r"\.mlp\.dwconv\.dwconv\.", ".mlp.dwconv."),
    (r"^classifier\.", "head."),
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, and fuse keys and values."""
    result = fused(renamed(tensors, _RULES), ("key", "value"), "attn.kv")
    return result, facts_of(config, norm_eps=1e-6, default=IMAGENET)


READER = Reader(
    library="transformers",
    signs=(r"layers\.0\.patch_embedding\.proj\.weight$", r"layers\.0\.blocks\.0\.attention\.query\.weight$"),
    rename=rename,
)
