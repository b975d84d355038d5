"""Do patches serve as scratch paper? Test-time registers: redirect a few neurons from outlier patches to a new token.

Jiang et al. 2025 (arXiv 2506.08010): the tokens of a few patches have very large norms because of a handful of MLP
neurons. Those are the neurons with the largest mean absolute activation, after the activation function, over the
outlier patches. An untrained token, zero at first, is added; for each such neuron it takes the largest activation over
all tokens, and the activation of every patch becomes zero. Prefix tokens keep theirs.

The paper finds the neurons on 500 images and defines outliers by a norm threshold per model. Here only this image is
used, and outliers are defined as in the view `token_norms`: more than 3 interquartile ranges above the upper quartile,
after the chosen block. Neurons of later blocks are not considered.
Misleading: on one image a neuron may be large by chance, and small models have no such neurons.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, Number
from vitexplorer.core.capture_protocol import OTHER_NAMES
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.interventions.changed_pass import Effect, Intervention, Registers
from vitexplorer.quantities.outliers import far_out
from vitexplorer.tracing.follow import OUTSIDE, FollowedPass

NO_OUTLIERS = Text(
    "After block {block} no patch of {model} has a token far longer than the others: there is nothing to move.",
    "在块 {block} 之后，{model} 没有任何图块的标记明显长于其他图块：没有需要移走的内容。",
)
NONE_AT_ALL = Text(
    "On this image no patch token of {model} is much longer than the others: there is nothing to move.",
    "在这幅图像上，{model} 没有任何图块的标记明显长于其他图块：没有需要移走的内容。",
)
NO_NEURONS = Text(
    "The neurons of {model} cannot be identified: its MLPs have no activation of their own.",
    "无法识别 {model} 的神经元：其 MLP 没有单独的激活函数。",
)
OTHER_TOKENS = Text("{model} takes no further token: {why}.", "{model} 不能再增加标记：{why}。")
WINDOWS = Text("its attention has windows or tables for the tokens it knows", "其注意力使用窗口，或为已知标记建有表格")
POOLING = Text("its answer is read from all tokens together", "其输出由全部标记汇总而得")
POOLS_FIRST = Text("it averages its patches before its last norm", "它在最后的归一化之前就对图块取平均")


class _Magnitudes(FollowedPass):
    """Record, for each block, the mean magnitude of its neurons over some tokens."""

    def __init__(self, block_of: Mapping[int, int], tokens: Int[Tensor, " outliers"]):
        super().__init__(block_of)
        self.magnitudes: dict[int, Float[Tensor, " neurons"]] = {}
        self._tokens = tokens

    def activation(self, function, args, kwargs):
        out = function(*args, **kwargs)
        if self.block != OUTSIDE and out.ndim == 3:
            self.magnitudes[self.block] = out[0, self._tokens].abs().mean(0)
        return out


def outliers(capture: Capture, block: int) -> Int[np.ndarray, " outliers"]:
    """Return the sequence indices of the patches with outlying token norms after a block."""
    prefix = len(capture.prefix_tokens)
    norms = capture.residual_after(block)[prefix:].double().norm(dim=-1).cpu().numpy()
    return prefix + np.flatnonzero(far_out(norms))


def register_neurons(capture: Capture, block: int, count: int) -> dict[int, Int[Tensor, " neurons"]]:
    """Find the `count` neurons, up to a block, that are largest in the outliers after it; returned by block.

    Takes one forward pass. Raises UnsupportedError if there is no outlier, or if neurons cannot be identified.
    """
    places = torch.from_numpy(outliers(capture, block)).to(capture.input.tensor.device)
    names = {"model": capture.model.name, "block": block}
    if not len(places):
        raise UnsupportedError(NO_OUTLIERS.format(**names))
    followed = _Magnitudes(capture.model.block_of_parameter, places)
    with torch.no_grad(), followed:
        capture.model.module(capture.input.tensor)
    magnitudes = followed.magnitudes
    blocks = [at for at in sorted(magnitudes) if at <= block]
    if not blocks:
        raise UnsupportedError(NO_NEURONS.format(**names))
    sizes = [len(magnitudes[at]) for at in blocks]
    largest = torch.cat([magnitudes[at] for at in blocks]).topk(min(count, sum(sizes))).indices
    first = np.concatenate([[0], np.cumsum(sizes)])
    chosen = {
        at: largest[(largest >= start) & (largest < start + size)] - start
        for at, start, size in zip(blocks, first, sizes, strict=False)
    }
    return {at: neurons for at, neurons in chosen.items() if len(neurons)}


def moved(
    hidden: Float[Tensor, "batch tokens width"], neurons: Int[Tensor, " neurons"], place: int
) -> Float[Tensor, "batch tokens width"]:
    """Move each neuron's largest activation to the token at `place`, and zero it in all tokens after that."""
    out = hidden.clone()
    out[:, place, neurons] = hidden[:, :, neurons].amax(1)
    out[:, place + 1 :, neurons] = 0
    return out


def effect(capture: Capture, neurons: int, block: int) -> Effect:
    """Return the added token with its edit of activations. Raises UnsupportedError, see `register_neurons`."""
    chosen = register_neurons(capture, block, neurons)
    place = len(capture.prefix_tokens)

    def hidden(at: int, given: Tensor) -> Tensor:
        return moved(given, chosen[at], place) if at in chosen else given

    number = 1 + sum(name.startswith("reg") for name in capture.prefix_tokens)
    return Effect(registers=Registers(place, hidden, f"reg{number}"))


def says(capture: Capture, neurons: int, block: int) -> Text:
    """Describe the number of neurons and the block by whose outliers they are found."""
    return Text(
        "a register added, {neurons} neurons found by the outliers after block {block}",
        "增加一个寄存器标记，按块 {block} 之后的离群标记找到 {neurons} 个神经元",
    ).format(neurons=neurons, block=block)


def refuses(capture: Capture) -> Text | None:
    """Refuse a model whose attention or pooling depends on its exact set of tokens, or without outliers."""
    model = capture.model
    family, module = model.family, model.module
    if not family.names_of_timm:
        return OTHER_NAMES.format(model=model.title)
    grid = capture.grid(0)
    tables = family.rotary_positions(module, grid) is not None or any(
        site.windows is not None or site.grid != grid or family.relative_bias(module, block) is not None
        for block, site in enumerate(capture.sites)
    )
    if tables or not family.shows_tokens:
        return OTHER_TOKENS.format(model=model.title, why=WINDOWS)
    if family.own_reading(module) == "own":
        return OTHER_TOKENS.format(model=model.title, why=POOLING)
    last_norm = getattr(module, "norm", None)  # where the register is removed
    if isinstance(last_norm, nn.Identity):
        return OTHER_TOKENS.format(model=model.title, why=POOLS_FIRST)
    if not any(len(outliers(capture, block)) for block in range(capture.depth)):
        return NONE_AT_ALL.format(model=model.title)
    return None


INTERVENTION = Intervention(
    title=Text("A register at test time", "测试时的寄存器标记"),
    question=Text("Does the model use some patches as scratch space?", "模型是否把某些图块当作草稿纸？"),
    misleads=Text(
        "The neurons are selected on this one image, where a value may be large by chance; small models rarely have "
        "such neurons.",
        "这些神经元只根据这一幅图像选出，其数值可能只是碰巧很大；小模型很少有这样的神经元。",
    ),
    acts=9,
    effect=effect,
    says=says,
    controls=(
        Number("neurons", Text("Neurons", "神经元"), low=1, high=500, start=10, step=1, whole=True),
        BlockControl(),
    ),
    paper=Paper("Jiang et al. 2025", "https://arxiv.org/abs/2506.08010"),
    refuses=refuses,
)
