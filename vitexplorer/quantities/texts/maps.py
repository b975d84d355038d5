"""Which patches does a text mean? Each method brings the patches into the joint space in its own way.

Methods of features give a vector f_i for each patch; the map is cos(f_i, t), t the text's vector, not rescaled. Methods
of scores give a number for each patch and text. Notation: x the stream that enters the last block, q, k, v per head,
s the scale of the scores, W_o the output projection with its bias and LayerScale, P as in `joint_space`. Softmax runs
over all tokens, prefix tokens included; only patches are shown.

raw               P of the last block's output.
maskclip          z = x + W_o v, P(z + MLP(z)); Zhou et al. 2022, arXiv 2112.01071, each patch with its own value.
clip_surgery      a second path through the last blocks adds W_o softmax(s v v^T) v of the original path, no MLP;
                  Li et al. 2023, arXiv 2304.05653.
gem               the same path with the mean of q-q, k-k and v-v attention of unit vectors, applied once to these
                  vectors before; Bousselham et al. 2024, arXiv 2312.00878.
sclip             A = softmax(s q q^T) + softmax(s k k^T), residual and MLP kept; Wang et al. 2024, arXiv 2312.01597.
clearclip         A = softmax(s q q^T), neither residual nor MLP; Lan et al. 2024, arXiv 2407.12442.
naclip            A = softmax(s k k^T + g), g a Gaussian of the distance, neither; Hajimiri et al. 2025, arXiv
                  2404.08181.
proxyclip         A from another model's patches, neither; Lan et al. 2024, arXiv 2408.04883.
siglip_pooling    the pooling head over one patch alone; ours.
text_decomposition  the class row's share A_cls,i W_o v_i of every block and head through the final norm with its scale
                  held and the projection, dot t; Gandelsman et al. 2024, arXiv 2310.05916. W_o's bias is shared by the
                  heads alike. The views take away the mean over several texts.
bimodal           class row of relu(dA * A) of the last block; Chefer et al. 2021, arXiv 2103.15679.
legrad            relu(ds/dA) of the last two blocks, each with its own score; Bousselham et al. 2024, arXiv 2404.03214.
grad_eclip        relu(sum_c g_c v_ic m_i); Zhao et al. 2025, arXiv 2502.18816.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import LikeText, TextVector
from vitexplorer.core.text import Text, UnsupportedError, same
from vitexplorer.quantities.frozen_norm import frozen_at
from vitexplorer.quantities.gradients import (
    at_outputs,
    attention_gradient,
    block_gradients,
    mean_gradient,
    reusing_graph,
)
from vitexplorer.quantities.scores import score_of_block
from vitexplorer.quantities.texts.block_arithmetic import (
    BlockArithmetic,
    distances,
    has_inner_norm,
    joined,
    no_plain_blocks,
)
from vitexplorer.quantities.texts.joint_space import pools_by_attention, project

PATH, LEGRAD_BLOCKS = 6, 2
"""Blocks of the second path of clip_surgery and gem, and blocks of legrad"""
SIGMA = 5.0
"""Width of naclip's Gaussian in patches"""
PROXY_FACTOR, PROXY_SHIFT = 3.0, 1.2
SURGERY_FACTOR = 2.0
Vectors = Float[Tensor, "texts joint"]
_NO_CLASS_TOKEN = Text(
    "{model} does not read a class token, which this method explains.", "{model} 不读取类别标记，而该方法解释的正是它。"
)
_NO_POOLING = Text(
    "{model} has no pooling head that attends to its patches.", "{model} 没有对图块做注意力池化的分类头。"
)
_NO_OTHER = Text(
    "ProxyCLIP takes the attention of a second model: give other=, a capture of the same picture by that model.",
    "ProxyCLIP 使用另一个模型的注意力：请给出 other=，即该模型对同一图像的前向传播记录。",
)
_INNER_NORM = Text(
    "{model} normalises its joined heads, so the share of one patch in them is not defined.",
    "{model} 会对拼接后的各头做归一化，因此其中单个图块的份额没有定义。",
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
    scores: Callable[[Capture, Sequence[TextVector]], Float[Tensor, "texts patches"]] | None = None
    """A number for each text and patch"""
    unit: Text = Text("cosine", "余弦")
    needs_other: bool = False
    """True if it takes a capture by a second model, which only Python can give"""


def text_maps(
    capture: Capture, method: Method, texts: Sequence[TextVector], other: Capture | None = None
) -> Float[Tensor, "texts patches"]:
    """Compute the map of each text, not rescaled. Raises UnsupportedError where the method has no meaning."""
    reason = method.refuses(capture)
    if reason is not None:
        raise UnsupportedError(reason)
    if method.scores is not None:
        return method.scores(capture, texts)
    with torch.no_grad():
        features = method.features(capture, other)
        return F.normalize(vectors_of(capture, texts), dim=-1) @ F.normalize(features, dim=-1).T


def vectors_of(capture: Capture, texts: Sequence[TextVector]) -> Vectors:
    """Return the texts' vectors on the capture's device."""
    return torch.stack([torch.from_numpy(text.vector) for text in texts]).to(capture.input.tensor.device)


def _patches(capture: Capture, tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, "patches joint"]:
    return project(capture, tokens[len(capture.prefix_tokens) :])


def _last(capture: Capture) -> BlockArithmetic:
    return BlockArithmetic(capture, capture.depth - 1)


# ------------------------------------------------------------------------------------------ features of patches


def _raw(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    return _patches(capture, capture.residual_after(capture.depth - 1))


def _maskclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    block = _last(capture)
    return _patches(capture, block.plus_mlp(block.stream + block.projected(block.value)))


def _sclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    block = _last(capture)
    weights = block.same(block.query) + block.same(block.key)
    return _patches(capture, block.plus_mlp(block.stream + block.attended(weights)))


def _clearclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    block = _last(capture)
    return _patches(capture, block.attended(block.same(block.query)))


def _naclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    block, grid, prefix = _last(capture), capture.grid(capture.depth - 1), len(capture.prefix_tokens)
    nearness = torch.exp(-distances(grid.rows, grid.cols, block.key.device) / (2 * SIGMA**2)).to(block.key.dtype)
    return _patches(capture, block.attended(block.same(block.key, F.pad(nearness, (prefix, 0, prefix, 0)))))


def _second_path(
    capture: Capture, weights: Callable[[BlockArithmetic], Float[Tensor, "heads tokens tokens"]]
) -> Float[Tensor, "patches joint"]:
    """Add the attention of the last blocks, with other weights, to the stream that enters the first of them."""
    first = max(0, capture.depth - PATH)
    stream = capture.residual(first)
    for number in range(first, capture.depth):
        block = BlockArithmetic(capture, number)
        stream = stream + block.attended(weights(block))
    return _patches(capture, stream)


def _clip_surgery(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    return _second_path(capture, lambda block: block.same(block.value))


def _gem(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    def weights(block: BlockArithmetic) -> Float[Tensor, "heads tokens tokens"]:
        sharpness = block.stream.norm(dim=-1).mean() * block.scale
        total = torch.zeros(())
        for vectors in (block.query, block.key, block.value):
            unit = F.normalize(vectors, dim=-1)
            unit = F.normalize((unit @ unit.transpose(-2, -1) * sharpness).softmax(-1) @ unit, dim=-1)
            total = total.to(unit) + (unit @ unit.transpose(-2, -1) * sharpness).softmax(-1)
        return total / 3

    return _second_path(capture, weights)


def _proxyclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    if other is None:
        raise UnsupportedError(_NO_OTHER)
    block, prefix = _last(capture), len(capture.prefix_tokens)
    grid, fine = capture.grid(capture.depth - 1), other.grid(other.depth - 1)
    tokens = other.residual_after(other.depth - 1)[None, len(other.prefix_tokens) :]
    unit = F.normalize(other.model.family.final_norm(other.model.module, tokens)[0], dim=-1).to(block.value)
    alike = unit @ unit.T
    scores = PROXY_FACTOR * (alike - PROXY_SHIFT * alike.mean())
    weights = scores.masked_fill(scores < 0, float("-inf")).softmax(-1)
    heads, _, dim = block.value.shape
    value = block.value[:, prefix:].transpose(1, 2).reshape(1, heads * dim, grid.rows, grid.cols)
    value = F.interpolate(value, (fine.rows, fine.cols), mode="bilinear", align_corners=False)
    value = value.reshape(heads, dim, fine.num_patches).transpose(1, 2)
    return project(capture, block.projected(weights @ value))


# ------------------------------------------------------------------------------------------ scores of patches


def _text_decomposition(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    family, module, prefix = capture.model.family, capture.model.module, len(capture.prefix_tokens)
    token, blocks = capture.prefix_tokens.index("cls"), range(capture.depth)
    with torch.no_grad():
        added = sum(_shares_of_patches(capture, block, token)[prefix:] for block in blocks)
        read = family.read_each if capture.model.projects else family.final_norm
        last = capture.residual_after(capture.depth - 1)[None, token : token + 1]
        frozen = frozen_at(lambda tokens: read(module, tokens), last)
        return vectors_of(capture, texts).double() @ (frozen(added[None]) - frozen(torch.zeros_like(last)))[0].T


def _shares_of_patches(capture: Capture, number: int, token: int) -> Float[Tensor, "tokens dim"]:
    """Return the part of a token's attention branch that comes from each token; they sum to the branch."""
    block = BlockArithmetic(capture, number)
    shares = capture.call(number).weights(slice(token, token + 1))[0, :, 0, :, None]
    bias = block.projected(torch.zeros_like(block.value[:, :1]))
    return block.projected(shares * block.value) - bias + shares.mean(0) * bias


def _bimodal(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    capture, last, token = reusing_graph(capture), capture.depth - 1, capture.prefix_tokens.index("cls")
    call, rows = capture.call(last), slice(token, token + 1)
    maps = []
    for text in texts:
        slopes = attention_gradient(call, at_outputs(capture, LikeText(text), "plain")[last], rows)
        maps.append((slopes * call.weights(rows)).relu().mean(1)[0, 0])  # the identity adds to the class token alone
    return torch.stack(maps)[:, len(capture.prefix_tokens) :]


def _legrad(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    capture, first = reusing_graph(capture), max(0, capture.depth - LEGRAD_BLOCKS)
    maps = []
    for text in texts:
        slopes = enumerate(block_gradients(capture, partial(score_of_block, capture, LikeText(text))))
        maps.append(
            sum(mean_gradient(capture.call(block), slope, "positive") for block, slope in slopes if block >= first)
        )
    return torch.stack(maps)[:, len(capture.prefix_tokens) :]


def _grad_eclip(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    capture, last, prefix = reusing_graph(capture), capture.depth - 1, len(capture.prefix_tokens)
    token, call = capture.prefix_tokens.index("cls"), capture.call(last)
    query, key, value = (joined(part[0]) for part in (call.query, call.key, call.value))
    alike = F.cosine_similarity(query[token, None], key[prefix:], dim=-1)
    span = alike.max() - alike.min()
    nearness = (alike - alike.min()) / torch.where(span > 0, span, 1)
    maps = []
    for text in texts:
        slopes = joined(at_outputs(capture, LikeText(text), "plain")[last][0])[token]
        maps.append(((value[prefix:] * slopes).sum(-1) * nearness).relu())
    return torch.stack(maps)


# ------------------------------------------------------------------------------------------ methods and models


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


def _merged(capture: Capture) -> Text | None:
    return _MERGED.format(model=capture.model.title) if any(site.windows for site in capture.sites) else None


def _pooled_alone(capture: Capture) -> Text | None:
    return None if pools_by_attention(capture) else _NO_POOLING.format(model=capture.model.title)


SLOPE = Text("cosine per unit of attention", "单位注意力引起的余弦变化")
METHODS: Mapping[str, Method] = {
    "maskclip": Method(
        same("MaskCLIP"),
        Text("Each patch keeps to its own value in the last block.", "最后一块中，每个图块只取自身的值。"),
        no_plain_blocks,
        _maskclip,
    ),
    "raw": Method(
        Text("Last tokens", "最后的标记"),
        Text(
            "The patches' last tokens as they are; often they mean the opposite.",
            "图块最后的标记原样使用；常常正好相反。",
        ),
        lambda capture: None,
        _raw,
    ),
    "clip_surgery": Method(
        same("CLIP Surgery"),
        Text(
            "In the last six blocks values attend to values, on a path without MLPs.",
            "在最后六块中，值对值做注意力，且该路径不经过 MLP。",
        ),
        no_plain_blocks,
        _clip_surgery,
    ),
    "gem": Method(
        same("GEM"),
        Text(
            "In the last six blocks queries, keys and values attend to themselves, on a path without MLPs.",
            "在最后六块中，查询、键、值各自对自身做注意力，且该路径不经过 MLP。",
        ),
        no_plain_blocks,
        _gem,
    ),
    "sclip": Method(
        same("SCLIP"),
        Text(
            "In the last block queries attend to queries and keys to keys.",
            "在最后一块中，查询对查询、键对键做注意力。",
        ),
        no_plain_blocks,
        _sclip,
    ),
    "clearclip": Method(
        same("ClearCLIP"),
        Text(
            "In the last block queries attend to queries; residual stream and MLP are left out.",
            "在最后一块中，查询对查询做注意力；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        _clearclip,
    ),
    "naclip": Method(
        same("NACLIP"),
        Text(
            "In the last block keys attend to keys nearby; residual stream and MLP are left out.",
            "在最后一块中，键对邻近的键做注意力；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        _naclip,
    ),
    "proxyclip": Method(
        same("ProxyCLIP"),
        Text(
            "In the last block another model says which patches belong together; residual stream and MLP are left out.",
            "在最后一块中，由另一个模型决定哪些图块相关；去掉残差流与 MLP。",
        ),
        no_plain_blocks,
        _proxyclip,
        needs_other=True,
    ),
    "siglip_pooling": Method(
        Text("Pooling of one patch", "单图块池化"),
        Text("The pooling head reads one patch alone.", "池化头只读取单个图块。"),
        _pooled_alone,
        _raw,
    ),
    "text_decomposition": Method(
        Text("Text decomposition", "文字分解"),
        Text(
            "What each patch gives to the class token in every block, read through the projection.",
            "各块中每个图块传给类别标记的部分，经投影读出。",
        ),
        _splits_class_token,
        scores=_text_decomposition,
        unit=Text("part of the projection", "投影中的份额"),
    ),
    "bimodal": Method(
        Text("Bi-modal relevance", "双模态相关性"),
        Text(
            "The class token's attention in the last block, weighed by its gradient.",
            "最后一块中类别标记的注意力，以其梯度加权。",
        ),
        _explains_class_token,
        scores=_bimodal,
        unit=Text("attention x gradient", "注意力 × 梯度"),
    ),
    "legrad": Method(
        same("LeGrad"),
        Text(
            "The gradient of the last two blocks' attention, each for its own score.",
            "最后两块各自得分对注意力的梯度。",
        ),
        _merged,
        scores=_legrad,
        unit=SLOPE,
    ),
    "grad_eclip": Method(
        same("Grad-ECLIP"),
        Text(
            "Values of the last block along the gradient, where keys are like the class token's query.",
            "最后一块的值在梯度方向上的分量，以键与类别标记查询的相似度加权。",
        ),
        _explains_class_token,
        scores=_grad_eclip,
        unit=Text("value x gradient", "值 × 梯度"),
    ),
}
"""Methods by key; the first that has a meaning for a model is its default"""
