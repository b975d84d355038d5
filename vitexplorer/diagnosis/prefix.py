"""Check of the tokens before the patches: they are the same for every picture where the first block reads them.

A patch changes with the picture, a class token or a register does not. Two pictures of noise tell them apart without
labels, and without knowing what the model was trained on.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from vitexplorer.capturing.capture import capture
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.models.loading import LoadedModel

MISSING, AMONG = "prefix_token_missing", "prefix_tokens_among_patches"
_SAME = 1e-6
"""Change of a token between two pictures, as a share of its norm, up to which it is the same"""
_NO_STREAM = Text("The tokens between the blocks of this model are not known.", "该模型各块之间的标记未知。")
_NOTHING_CHANGES = Text("No token changes with the picture.", "没有任何标记随图像变化。")
_IS_PATCH = Text(
    "The token taken for “{name}” changes with the picture, as a patch does: the model has no such token.",
    "被当作“{name}”的标记随图像变化，与图块一样：模型没有这个标记。",
)
_READS_PATCH = Text(
    "The model has no class token, and its classifier reads the first token, which is a patch.",
    "模型没有类别标记，而分类头读取第一个标记，那是一个图块。",
)
_AMONG = Text(
    "{count:token/tokens} among the patches {count:~is/are} the same for every picture, as a class token is.",
    "图块中有 {count} 个标记对每幅图像都相同，与类别标记一样。",
)


def check_prefix(exam: Examination) -> None:
    """Tell prefix tokens from patches by two pictures of noise."""
    model = exam.subject.model
    try:
        same = unchanged(model)
    except UnsupportedError:
        return exam.cannot_tell((MISSING, AMONG), _NO_STREAM)
    if same.all():
        return exam.cannot_tell((MISSING, AMONG), _NOTHING_CHANGES)
    exam.did_check((MISSING, AMONG))
    names = model.prefix_tokens
    changing = [name for name, is_same in zip(names, same, strict=False) if not is_same]
    if changing:
        exam.findings.append(Finding(MISSING, _IS_PATCH.format(name=changing[0]), 0.97, evidence={"tokens": changing}))
    elif not names and getattr(model.module, "global_pool", "") == "token":
        exam.findings.append(Finding(MISSING, _READS_PATCH, 0.97, evidence={"tokens": []}))
    if count := int(same[len(names) :].sum()):
        exam.findings.append(Finding(AMONG, _AMONG.format(count=count), 0.97, evidence={"tokens": count}))
    return None


def unchanged(model: LoadedModel) -> Bool[np.ndarray, " tokens"]:
    """Return True for each token that is the same for two pictures where the first block reads it.

    Raises UnsupportedError for a model whose tokens are not known.
    """
    height, width = model.preprocessing.input_size
    draw = np.random.default_rng(0)
    pictures = [draw.integers(0, 256, (height, width, 3), np.uint8) for _ in range(2)]
    first, second = (capture(model, picture, "squash").residual(0) for picture in pictures)
    change: Tensor = (first - second).norm(dim=-1)
    return (change <= _SAME * torch.maximum(first.norm(dim=-1), second.norm(dim=-1)).clamp_min(1e-12)).cpu().numpy()
