"""Which patches does a text mean? The methods by key, what each changes in the network, and which models it takes.

A map is cos(f_i, t) for the methods of `features`, t the text's vector, or f_i t for `text_decomposition`; those of
`token_scores` have units of their own. Nothing is rescaled, and only patches are shown. `siglip_pooling`, the pooling
head over one patch alone, is ours. `class_half` is no method: it shows the commonest mistake with dino.txt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import TextVector
from vitexplorer.core.capture_protocol import merges_tokens, refuse_if
from vitexplorer.core.text import Text, UnsupportedError, same
from vitexplorer.quantities.texts import features, token_scores
from vitexplorer.quantities.texts.block_arithmetic import has_inner_norm, no_plain_blocks
from vitexplorer.quantities.texts.joint_space import patch_part, pools_by_attention, vectors_of

_NO_CLASS_TOKEN = Text(
    "{model} does not read a class token alone, which this method explains.",
    "{model} 并非只读取类别标记，而该方法解释的正是它。",
)
_NO_POOLING = Text(
    "{model} has no pooling head that attends to its patches.", "{model} 没有对图块做注意力池化的分类头。"
)
_INNER_NORM = Text(
    "{model} normalises its joined heads, so the share of one patch in them is not defined.",
    "{model} 会对拼接后的各头做归一化，因此其中单个图块的份额没有定义。",
)
_ONE_VECTOR = Text(
    "{model} is no dino.txt: its texts have no half of their own for patches.",
    "{model} 不使用两半拼接的文字向量：其文字没有专属图块的一半。",
)
_HEAD = Text(
    "Between the blocks of {model} stands a norm, which the path of this method would have to cross.",
    "{model} 的块之间有一次归一化，而该方法的路径会跨过它。",
)
_MERGED = Text(
    "{model} merges its tokens between stages, and those of earlier stages are too narrow to be read.",
    "{model} 在阶段之间合并标记，前面阶段的标记维度不足，无法读取。",
)


@dataclass(frozen=True)
class Method:
    """One way from a text to the patches."""

    title: Text
    changes: Text
    """Sentence on what it changes in the network"""
    refuses: Callable[[Capture], Text | None]
    features: Callable[[Capture, Capture | None], Float[Tensor, "patches joint"]] | None = None
    """Vectors of the patches in the joint space; None for a method of scores"""
    cosines: bool = True
    """True if the map is the cosine of these vectors and the text, False for their product"""
    wrong_half: bool = False
    """True to take the half of a dino.txt's text vector that is not the patches': a mistake, to be seen as such"""
    scores: Callable[[Capture, Sequence[TextVector]], Float[Tensor, "texts patches"]] | None = None
    """A number for each text and patch, from gradients of one more pass through the network"""
    unit: Text = Text("cosine", "余弦")
    needs_other: bool = False
    """True if it takes a capture by a second model, which only Python can give"""


def patch_vectors(capture: Capture, method: Method, other: Capture | None = None) -> Float[Tensor, "patches joint"]:
    """Compute the vectors of the patches whose products with the texts are the maps, for a method of features.

    Raises UnsupportedError where the method has no meaning.
    """
    _check(capture, method)
    with torch.no_grad():
        vectors = method.features(capture, other)
        return F.normalize(vectors, dim=-1) if method.cosines else vectors


def text_maps(
    capture: Capture,
    method: Method,
    texts: Sequence[TextVector],
    other: Capture | None = None,
    patches: Float[Tensor, "patches joint"] | None = None,
) -> Float[Tensor, "texts patches"]:
    """Compute the map of each text, not rescaled; `patches` are the `patch_vectors` if they are known already.

    Raises UnsupportedError where the method has no meaning.
    """
    if method.scores is not None:
        _check(capture, method)
        return method.scores(capture, texts)
    patches = patch_vectors(capture, method, other) if patches is None else patches
    with torch.no_grad():
        parts = patch_part(capture, vectors_of(capture, texts), wrong=method.wrong_half)
        return F.normalize(parts, dim=-1).to(patches.dtype) @ patches.T


def _check(capture: Capture, method: Method) -> None:
    if (reason := method.refuses(capture)) is not None:
        raise UnsupportedError(reason)


def _explains_class_token(capture: Capture) -> Text | None:
    """Refuse models that answer through another token than one class token, or that have no plain blocks."""
    family, module = capture.model.family, capture.model.module
    if "cls" not in capture.prefix_tokens or family.own_reading(module) != "cls":
        return _NO_CLASS_TOKEN.format(model=capture.model.title)
    return no_plain_blocks(capture)


def _splits_class_token(capture: Capture) -> Text | None:
    reason = _explains_class_token(capture)
    if reason is None and has_inner_norm(capture):
        return _INNER_NORM.format(model=capture.model.title)
    return reason


def _no_one_path(capture: Capture) -> Text | None:
    is_cut = capture.model.family.joins_halves
    return _HEAD.format(model=capture.model.title) if is_cut else no_plain_blocks(capture)


_one_vector = refuse_if(lambda capture: not capture.model.family.joins_halves, _ONE_VECTOR)
SLOPE = Text("cosine per unit of attention", "单位注意力引起的余弦变化")
METHODS: Mapping[str, Method] = {
    "dino_txt": Method(
        same("dino.txt"),
        Text(
            "The patches' last tokens with the second half of the text's vector, which belongs to patches.",
            "图块最后的标记与文字向量的后一半比较，后一半属于图块。",
        ),
        _one_vector,
        features.raw,
    ),
    "class_half": Method(
        Text("The wrong half", "用错的一半"),
        Text(
            "The same tokens with the first half of the text's vector, which belongs to the class token: the commonest "
            "mistake with dino.txt.",
            "同样的标记与文字向量的前一半比较，而前一半属于类别标记：这是使用该模型时最常见的错误。",
        ),
        _one_vector,
        features.raw,
        wrong_half=True,
    ),
    "naclip": Method(
        same("NACLIP"),
        Text(
            "In the last block keys attend to keys nearby; residual stream and MLP are left out.",
            "在最后一块中，键对邻近的键做注意力；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        features.naclip,
    ),
    "maskclip": Method(
        same("MaskCLIP"),
        Text("Each patch keeps to its own value in the last block.", "最后一块中，每个图块只取自身的值。"),
        no_plain_blocks,
        features.maskclip,
    ),
    "raw": Method(
        Text("Last tokens", "最后的标记"),
        Text(
            "The patches' last tokens as they are; often they mean the opposite.",
            "图块最后的标记原样使用；常常正好相反。",
        ),
        lambda capture: None,
        features.raw,
    ),
    "clip_surgery": Method(
        same("CLIP Surgery"),
        Text(
            "In the last six blocks values attend to values, on a path without MLPs.",
            "在最后六块中，值对值做注意力，且该路径不经过 MLP。",
        ),
        _no_one_path,
        features.clip_surgery,
    ),
    "gem": Method(
        same("GEM"),
        Text(
            "In the last six blocks queries, keys and values attend to themselves, on a path without MLPs.",
            "在最后六块中，查询、键、值各自对自身做注意力，且该路径不经过 MLP。",
        ),
        _no_one_path,
        features.gem,
    ),
    "sclip": Method(
        same("SCLIP"),
        Text(
            "In the last block queries attend to queries and keys to keys.",
            "在最后一块中，查询对查询、键对键做注意力。",
        ),
        no_plain_blocks,
        features.sclip,
    ),
    "clearclip": Method(
        same("ClearCLIP"),
        Text(
            "In the last block queries attend to queries; residual stream and MLP are left out.",
            "在最后一块中，查询对查询做注意力；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        features.clearclip,
    ),
    "proxyclip": Method(
        same("ProxyCLIP"),
        Text(
            "In the last block another model says which patches belong together; residual stream and MLP are left out.",
            "在最后一块中，由另一个模型决定哪些图块相关；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        features.proxyclip,
        needs_other=True,
    ),
    "siglip_pooling": Method(
        Text("Pooling of one patch", "单图块池化"),
        Text("The pooling head reads one patch alone.", "池化头只读取单个图块。"),
        refuse_if(lambda capture: not pools_by_attention(capture), _NO_POOLING),
        features.raw,
    ),
    "text_decomposition": Method(
        Text("Text decomposition", "文字分解"),
        Text(
            "What each patch gives to the class token in every block, read through the projection.",
            "各块中每个图块传给类别标记的部分，经投影读出。",
        ),
        _splits_class_token,
        features.text_decomposition,
        cosines=False,
        unit=Text("part of the projection", "投影中的份额"),
    ),
    "bimodal": Method(
        Text("Bi-modal relevance", "双模态相关性"),
        Text(
            "The class token's attention in the last block, weighed by its gradient.",
            "最后一块中类别标记的注意力，以其梯度加权。",
        ),
        _explains_class_token,
        scores=token_scores.bimodal,
        unit=Text("attention x gradient", "注意力 × 梯度"),
    ),
    "legrad": Method(
        same("LeGrad"),
        Text(
            "The gradient of the last two blocks' attention, each for its own score.",
            "最后两块各自得分对注意力的梯度。",
        ),
        refuse_if(merges_tokens, _MERGED),
        scores=token_scores.legrad,
        unit=SLOPE,
    ),
    "grad_eclip": Method(
        same("Grad-ECLIP"),
        Text(
            "Values of the last block along the gradient, where keys are like the class token's query.",
            "最后一块的值在梯度方向上的分量，以键与类别标记查询的相似度加权。",
        ),
        _explains_class_token,
        scores=token_scores.grad_eclip,
        unit=Text("value x gradient", "值 × 梯度"),
    ),
}
"""Methods by key; the first that has a meaning for a model is its default"""
