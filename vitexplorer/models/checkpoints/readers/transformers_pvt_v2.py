"""transformers: PVT v2. Names as `save_pretrained` writes them.

Each stage begins with its embedding there; in timm the first one's stands before all stages, and keys and values are
one projection. The norms after convolutions add 1e-5 to the variance in timm, here what the configuration says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, renamed
from vitexplorer.models.checkpoints.usual import IMAGENET
from vitexplorer.words import Text

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

NORM_EPS = 1e-5
"""of timm's norms after convolutions, whatever it is told"""
OTHER_EPS = Text(
    "Some norms add 1e-5 to the variance where the file's library adds another small number; answers differ by about "
    "1e-6.",
    "部分归一化在方差上加的是 0.00001，而文件所属的库加的是另一个小数；输出约有百万分之一的差别。",
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names, with keys and values together."""
    kept = fused(renamed(tensors, _RULES), ("key", "value"), "attn.kv")
    facts = facts_of(config, norm_eps=1e-6, usual=IMAGENET)
    return kept, facts if facts.norm_eps == NORM_EPS else facts.but(notes=(*facts.notes, OTHER_EPS))


READER = Reader(
    library="transformers",
    signs=(r"layers\.0\.patch_embedding\.proj\.weight$", r"layers\.0\.blocks\.0\.attention\.query\.weight$"),
    rename=rename,
)
