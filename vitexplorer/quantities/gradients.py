"""Gradients of what is explained, a class's logit or another score: a pass in each direction, kept for several views.

No attention matrix has to be in the graph. An attention call gives O = A V, so the gradient with respect to the
attention after softmax is dL/dA = (dL/dO) V^T, one product of what the tap keeps anyway; the kernel stays the model's
own. The gradients are asked for by name (`torch.autograd.grad`), so that no `.grad` of the shared module is written.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capture import AttentionCall, AttentionTap, Capture
from vitexplorer.controls import AnyTargetControl
from vitexplorer.controls.explained import Target
from vitexplorer.quantities.backward_rules import ruled
from vitexplorer.quantities.both_signs import kept
from vitexplorer.quantities.scores import scores

MOST_BYTES = 256 << 20
"""kept in one process for all captures together; one class of ViT-B/16 at 224 pixels takes 23 MB"""


@dataclass(frozen=True)
class Gradients:
    """The gradients of one score with respect to what the network computed on the way."""

    target: Target
    """what was differentiated"""
    backward: str
    """by which rules: a name of `BACKWARD`"""
    outputs: dict[int, Tensor] = field(repr=False)
    """by block: with respect to the output of its attention call, (windows, heads, queries, head dim)"""
    norms: dict[int, Tensor] = field(repr=False)
    """by block: what its first norm gives, as the module lays it out"""
    norm_gradients: dict[int, Tensor] = field(repr=False)
    """by block: with respect to that"""
    input: Float[Tensor, "batch channels height width"] = field(repr=False)
    """with respect to the normalised input"""

    @property
    def nbytes(self) -> int:
        """Memory that these gradients keep alive, in bytes."""
        tensors = [*self.outputs.values(), *self.norms.values(), *self.norm_gradients.values(), self.input]
        return sum(tensor.nbytes for tensor in tensors)


# ------------------------------------------------------------------------------------------ one pass each way


def gradients(capture: Capture, target: Target | None = None, backward: str = "plain") -> Gradients:
    """Gradients of what is explained (`target`, the model's first choice when None; `scores` says what else).

    The network runs once in each direction; the next call for the same capture, target and rules finds them again.
    `backward` names other rules than those of the gradient, see `BACKWARD`.
    Raises UnsupportedError for a class of a model without a classifier, SettingError for one it does not have.
    """
    control = AnyTargetControl()
    target = control.default(capture) if target is None else control.parse(target, capture, {})
    found = _KEPT.get(capture, target, backward)
    if found is None:
        found = _differentiate(capture, target, backward)
        _KEPT.put(capture, found)
    return found


def _run_with_graph(capture: Capture, backward: str = "plain") -> tuple[AttentionTap, Tensor, Tensor]:
    """The network once more, its graph kept: the tap, the input and the logits."""
    given = capture.input.tensor.detach().clone().requires_grad_()
    tap = AttentionTap(capture.model.block_of_parameter, keep_norms=True, keep_outputs=True)
    with torch.enable_grad(), ruled(backward), tap:
        logits = capture.run(given)
    return tap, given, logits


def _differentiate(capture: Capture, target: Target, backward: str) -> Gradients:
    tap, given, logits = _run_with_graph(capture, backward)
    blocks = range(capture.depth)
    outputs = {block: tap.calls[block][0].output for block in blocks if len(tap.calls.get(block, ())) == 1}
    norms = {block: tap.normed[block] for block in blocks if block in tap.normed}
    with torch.enable_grad(), ruled(backward):
        score = scores(capture, target, logits, tap.made.get(capture.depth - 1))[0]
    found = torch.autograd.grad(
        score, [*outputs.values(), *norms.values(), given], allow_unused=True, materialize_grads=True
    )
    return Gradients(
        target,
        backward,
        outputs=dict(zip(outputs, found, strict=False)),
        norms={block: norm.detach() for block, norm in norms.items()},
        norm_gradients=dict(zip(norms, found[len(outputs) :], strict=False)),
        input=found[-1],
    )


def block_gradients(
    capture: Capture, score: Callable[[Float[Tensor, "tokens dim"]], Tensor], backward: str = "plain"
) -> Iterator[Float[Tensor, "windows heads queries head_dim"]]:
    """For each block, the gradient of a score of the tokens that leave it, with respect to its own attention output.

    One forward pass; each block's backward pass ends in the block it began in, so that all of them together are one.
    """
    tap, _, _ = _run_with_graph(capture, backward)
    for block in range(capture.depth):
        capture.call(block)  # refuses a block whose attention cannot be shown
        with torch.enable_grad(), ruled(backward):
            reached = score(tap.made[block][0].flatten(0, -2))
        (found,) = torch.autograd.grad(
            reached, tap.calls[block][0].output, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        yield found


# ------------------------------------------------------------------------------------------ what they say of attention


def attention_gradient(
    call: AttentionCall,
    output_gradient: Float[Tensor, "windows heads queries head_dim"],
    queries: slice = slice(None),
) -> Float[Tensor, "windows heads rows keys"]:
    """dL/dA, A after softmax, for the chosen query rows."""
    return output_gradient[:, :, queries] @ call.value.transpose(-2, -1)


def weighed_attention(
    call: AttentionCall, output_gradient: Float[Tensor, "windows heads queries head_dim"], sign: str = "positive"
) -> Iterator[tuple[slice, Float[Tensor, "windows rows keys"]]]:
    """mean over heads of relu(dL/dA * A), a few query rows at a time; without the relu where both signs are kept."""
    for queries, weights in call.in_pieces():
        yield queries, kept(attention_gradient(call, output_gradient, queries) * weights, sign).mean(1)


# ------------------------------------------------------------------------------------------ kept


class KeptGradients:
    """The gradients that were used last, up to a number of bytes; those of a capture go when it goes."""

    def __init__(self, most_bytes: int):
        """Args: most_bytes: what is older is forgotten beyond it, and what is larger is not kept at all."""
        self._most_bytes = most_bytes
        self._lock = threading.RLock()  # a capture may go, and be forgotten here, while this thread holds the lock
        self._kept: OrderedDict[tuple[int, Target, str], tuple[weakref.ref[Capture], Gradients]] = OrderedDict()

    def get(self, capture: Capture, target: Target, backward: str = "plain") -> Gradients | None:
        """What is kept for a target of this very capture."""
        with self._lock:
            key = id(capture), target, backward
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][1]

    def put(self, capture: Capture, found: Gradients) -> None:
        """Keep the gradients of a target."""
        key = id(capture), found.target, found.backward
        with self._lock:
            self._kept[key] = weakref.ref(capture, lambda _: self._forget(key)), found
            self._kept.move_to_end(key)
            while self._kept and self.nbytes > self._most_bytes:
                self._kept.popitem(last=False)

    def _forget(self, key: tuple[int, Target, str]) -> None:
        with self._lock:
            self._kept.pop(key, None)

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes."""
        with self._lock:
            return sum(found.nbytes for _, found in list(self._kept.values()))


_KEPT = KeptGradients(MOST_BYTES)
