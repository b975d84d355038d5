"""ViTs of DINOv3's own repository (arXiv 2508.10104), where the bias of the keys is masked; timm has none."""

from __future__ import annotations

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.records import Facts, Reader
from vitexplorer.models.checkpoints.renaming import by_rules, without_key_biases

_RULES = (
    (r"^storage_tokens$", "reg_token"),
    (r"\.ls([12])\.gamma$", r".gamma_\1"),
    (r"\.mlp\.w1\.", ".mlp.fc1_g."),
    (r"\.mlp\.w2\.", ".mlp.fc1_x."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


READER = Reader(
    library="DINOv3",
    signs=(r"^storage_tokens$", r"^blocks\.0\.ls1\.gamma$", r"^rope_embed\.periods$"),
    rename=by_rules(
        Facts(preprocessing=IMAGENET),
        unread=r"^mask_token$|^rope_embed\.periods$|\.bias_mask$|^local_cls_norm\.",
        rules=_RULES,
        then=without_key_biases,
    ),
)
