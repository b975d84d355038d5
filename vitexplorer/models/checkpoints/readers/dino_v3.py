"""ViTs of DINOv3's own repository (arXiv 2508.10104), where the bias of the keys is masked; timm has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.misfit import rows_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed, without

_UNREAD = r"^mask_token$|^rope_embed\.periods$|\.bias_mask$|^local_cls_norm\."
_RULES = (
    (r"^storage_tokens$", "reg_token"),
    (r"\.ls([12])\.gamma$", r".gamma_\1"),
    (r"\.mlp\.w1\.", ".mlp.fc1_g."),
    (r"\.mlp\.w2\.", ".mlp.fc1_x."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Rename tensors to the names of timm's Eva."""
    result, left_out = without(tensors, _UNREAD)
    result = renamed(result, _RULES)
    for name in [name for name in result if name.endswith(".qkv.bias")]:
        rows_of(result, name, parts=3)
        query, _, value = result.pop(name).chunk(3)
        block = name.removesuffix("qkv.bias")
        result |= {f"{block}q_bias": query, f"{block}v_bias": value}
    return result, Facts("DINOv3", preprocessing=IMAGENET, left_out=left_out)


READER = Reader(
    library="DINOv3", signs=(r"^storage_tokens$", r"^blocks\.0\.ls1\.gamma$", r"^rope_embed\.periods$"), rename=rename
)
