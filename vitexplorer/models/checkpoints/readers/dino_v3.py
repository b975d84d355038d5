"""DINOv3's own repository (arXiv 2508.10104), its ViTs. The bias of the keys is masked there and absent in timm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.misfit import rows_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed, without
from vitexplorer.models.checkpoints.usual import IMAGENET

_UNREAD = r"^mask_token$|^rope_embed\.periods$|\.bias_mask$|^local_cls_norm\."
_RULES = (
    (r"^storage_tokens$", "reg_token"),
    (r"\.ls([12])\.gamma$", r".gamma_\1"),
    (r"\.mlp\.w1\.", ".mlp.fc1_g."),
    (r"\.mlp\.w2\.", ".mlp.fc1_x."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under the names of timm's Eva."""
    kept, left_out = without(tensors, _UNREAD)
    kept = renamed(kept, _RULES)
    for name in [name for name in kept if name.endswith(".qkv.bias")]:
        rows_of(kept, name, parts=3)
        query, _, value = kept.pop(name).chunk(3)
        block = name.removesuffix("qkv.bias")
        kept |= {f"{block}q_bias": query, f"{block}v_bias": value}
    return kept, Facts("DINOv3", preprocessing=IMAGENET, left_out=left_out)


READER = Reader(
    library="DINOv3", signs=(r"^storage_tokens$", r"^blocks\.0\.ls1\.gamma$", r"^rope_embed\.periods$"), rename=rename
)
