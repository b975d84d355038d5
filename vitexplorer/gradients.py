"""One forward and one backward pass for one class: what the gradient views need.

No attention matrix has to be in the graph. A block's output is O = A V, so the gradient with respect to the attention
after softmax is dL/dA = (dL/dO) V^T, one product of what the tap keeps anyway; the kernel stays the model's own. The
gradients are asked for by name (`torch.autograd.grad`), so that no `.grad` of the shared module is ever written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capture import AttentionTap, Capture
from vitexplorer.interfaces import SettingError, UnsupportedError
from vitexplorer.words import Text


@dataclass(frozen=True)
class Gradients:
    """A capture and the gradients of one logit with respect to what the network computed on the way."""

    capture: Capture
    target: int
    """the class whose logit was differentiated"""
    output_gradients: tuple[Tensor, ...] = field(repr=False)
    """by block: with respect to the output of its attention call, (windows, heads, queries, head dim)"""
    input_gradient: Float[Tensor, "batch channels height width"] = field(repr=False)
    """with respect to the normalised input"""
    norm_outputs: tuple[Tensor, ...] = field(repr=False)
    """by block: what its first norm gives, as the module lays it out"""
    norm_gradients: tuple[Tensor, ...] = field(repr=False)
    """by block: with respect to that"""

    def attention_gradient(self, block: int) -> Float[Tensor, "windows heads queries keys"]:
        """dL/dA of a block, A after softmax."""
        return self.output_gradients[block] @ self.capture.call(block).value.transpose(-2, -1)


def choose_target(capture: Capture, target: int | None) -> int:
    """The class to explain; the model's first choice when None.

    Raises UnsupportedError for a model without a classifier, SettingError for a class it does not have.
    """
    if capture.logits is None:
        raise UnsupportedError(
            Text(
                "{model} has no classifier, so there is no class to explain.",
                "{model} 没有分类头,因此没有可以解释的类别。",
            ).format(model=capture.model.name)
        )
    if target is None:
        return int(capture.logits.argmax())
    if not 0 <= target < len(capture.logits):
        raise SettingError(
            Text(
                "There is no class {target}: the classes are 0 to {last}.", "没有类别 {target}:类别编号为 0 到 {last}。"
            ).format(target=target, last=len(capture.logits) - 1)
        )
    return target


def gradients(capture: Capture, target: int | None = None) -> Gradients:
    """Run the network once forward and once backward for one class (`target`, the first choice when None)."""
    target = choose_target(capture, target)
    model, blocks = capture.model, range(capture.depth)
    given = capture.input.tensor.detach().requires_grad_()
    with torch.enable_grad(), AttentionTap(model.block_of_parameter, keep_norms=True) as tap:
        logit = model.module(given)[0, target]
    outputs = [tap.calls[block][0].output for block in blocks]
    norms = [tap.normed[block] for block in blocks]
    found = torch.autograd.grad(logit, [*outputs, *norms, given], allow_unused=True, materialize_grads=True)
    return Gradients(
        capture,
        target,
        output_gradients=found[: len(outputs)],
        norm_outputs=tuple(norm.detach() for norm in norms),
        norm_gradients=found[len(outputs) : -1],
        input_gradient=found[-1],
    )
