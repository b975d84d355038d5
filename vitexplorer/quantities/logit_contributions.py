"""Contributions of the parts of a model to a logit: an exact sum over the residual stream.

The residual stream is a sum: the input of the first block and, block by block, the outputs of attention and MLP. With
the last norm's divisor held at its value for this image, the way from the stream to a logit is affine, so the logit is
the sum of the read-out of every term and of the biases (Elhage et al. 2021,
https://transformer-circuits.pub/2021/framework, "Zero-Layer Transformers", "Handling Layer Normalization").
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.capture_protocol import merges_tokens, without_classifier
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.quantities.frozen_norm import AffineMap, frozen_at
from vitexplorer.quantities.stream_sums import stream_sums
from vitexplorer.tracing.tap import batch_first

EXACT = 1e-6
"""Largest error of a sum, as a share of its largest term, in float64"""
HANDED_ON = 1e-3
"""Largest difference in logits between two float32 passes, as a share where the logits are large"""


def last_stream(capture: Capture) -> Float[Tensor, "batch tokens dim"]:
    """Return the output of the last block."""
    return capture.residual_after(capture.depth - 1)[None]


def frozen_classifier(capture: Capture) -> AffineMap:
    """Return the module's own way from the last stream to the logits, with the last norm's scale held fixed."""
    family, module = capture.model.family, capture.model.module
    return frozen_at(lambda tokens: family.read_out(module, tokens, "own"), last_stream(capture))


def is_affine(read: AffineMap, stream: Float[Tensor, "batch tokens dim"]) -> bool:
    """Check on this stream that a read-out is affine: two parts of the stream give together what the whole gives."""
    part_of_stream = stream.double() * torch.linspace(
        -1, 1, stream.shape[-1], dtype=torch.float64, device=stream.device
    )
    whole = read(stream) + read(0 * stream)
    parts = [read(part_of_stream), read(stream - part_of_stream)]
    return bool((whole - sum(parts)).abs().max() <= EXACT * max(float(part.abs().max()) for part in parts))


def is_no_sum(capture: Capture) -> Text | None:
    """Refuse models without classes, without one sum over all blocks, or with a classifier that is not affine."""
    reason = without_classifier(capture)
    if reason is not None:
        return reason
    if merges_tokens(capture):
        return Text(
            "Logit attribution needs a residual stream that is a single sum from the first block to the classifier, "
            "but {model} merges tokens between its stages.",
            "逐块归因要求残差流从第一个块到分类头是同一个累加的和，而 {model} 在阶段之间会合并标记。",
        ).format(model=capture.model.title)
    if any(site.stream.ends_with_norm for site in capture.sites):
        return Text(
            "Logit attribution needs a residual stream that is one sum from the first block to the classifier, and "
            "each block of {model} ends with a norm (post-norm).",
            "逐块归因要求残差流从第一个块到分类头是同一个累加的和，而 {model} 的每个块都以归一化结尾（后归一化）。",
        ).format(model=capture.model.title)
    if not is_affine(frozen_classifier(capture), last_stream(capture)):
        return Text(
            "Between the last tokens of {model} and its logits stands attention pooling or another non-linear step, so "
            "a logit is no sum of what the blocks add.",
            "{model} 最后得到的标记与 logit 之间有注意力池化或其他非线性步骤，因此 logit 不是各块贡献之和。",
        ).format(model=capture.model.title)
    return None


def contributions(capture: Capture, target: int) -> dict[str, float]:
    """Compute the contribution of each part to the logit of a class, the constant last.

    A contribution is the read-out of the stream after the part minus the read-out before it.

    Raises:
        UnsupportedError: a block does not read exactly the stream that the previous block left.
    """
    read = frozen_classifier(capture)

    def logit(stream: Tensor) -> float:
        stream = batch_first(stream, capture.site(0).stream.reads_tokens_first)
        return float(read(stream[0].flatten(0, -2)[None])[0, target])

    sums = stream_sums(capture)
    constant, reached = logit(0 * sums.read[0]), logit(sums.read[0])
    parts = {"embedding": reached - constant}
    for block in range(capture.depth):
        _raise_unless_equal(logit(sums.read[block]), reached, capture, block)
        for branch, stream in sums.added[block]:
            name = f"block {block} {branch}"
            before, reached = reached, logit(stream)
            parts[name] = parts.get(name, 0.0) + reached - before  # a branch may add more than once
    _raise_unless_equal(float(capture.logits[target]), reached, capture, capture.depth)
    return {**parts, "constant": constant}


def _raise_unless_equal(logit: float, expected: float, capture: Capture, block: int) -> None:
    if abs(logit - expected) > HANDED_ON * max(1, abs(expected)):
        raise UnsupportedError(
            Text(
                "{model}: what comes after block {block} does not read what the block leaves, so the logit is no sum "
                "of what the blocks add.",
                "{model}：块 {block} 之后读取的不是该块的输出，因此 logit 不是各块贡献之和。",
            ).format(model=capture.model.title, block=block - 1)
        )
