"""Gradients of what is explained, a class's logit or another score: a pass in each direction, kept for several views.

No attention matrix has to be in the graph. An attention call gives O = A V, so the gradient with respect to the
attention after softmax is dL/dA = (dL/dO) V^T, one product of what the tap keeps anyway; the kernel stays the model's
own. The gradients are asked for by name (`torch.autograd.grad`), so that no `.grad` of the shared module is written.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import AttentionCall, Capture, Graph, plain_tap, with_graph
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

    The network runs once in each direction, or back alone where the capture kept its graph; the next call for the same
    capture, target and rules finds them again. `backward` names other rules than those of the gradient, see `BACKWARD`.
    Raises UnsupportedError for a class of a model without a classifier, SettingError for one it does not have.
    """
    target = _explained(capture, target)
    found = _KEPT.get(capture, target, backward)
    if found is None:
        found = _differentiate(capture, target, backward)
        _KEPT.put(capture, found)
    return found


def at_outputs(capture: Capture, target: Target | None = None, backward: str = "plain") -> Mapping[int, Tensor]:
    """`outputs` of `gradients`; where the capture kept its graph the way back ends at the first of them."""
    target = _explained(capture, target)
    graph = _shorter(capture, target, backward)
    if graph is None:
        return gradients(capture, target, backward).outputs
    outputs = _outputs(capture, graph)
    return dict(zip(outputs, _slopes(capture, target, backward, graph, list(outputs.values())), strict=True))


def at_norm(
    capture: Capture, block: int, target: Target | None = None, backward: str = "plain"
) -> tuple[Tensor, Tensor] | None:
    """What the first norm of a block gives, and the gradient with respect to it; None for a block without a norm.

    From `gradients`; where the capture kept its graph the way back ends at that norm.
    """
    target = _explained(capture, target)
    graph = _shorter(capture, target, backward)
    if graph is None:
        found = gradients(capture, target, backward)
        return (found.norms[block], found.norm_gradients[block]) if block in found.norms else None
    norm = graph.tap.normed.get(block)
    return None if norm is None else (norm.detach(), *_slopes(capture, target, backward, graph, [norm]))


def _explained(capture: Capture, target: Target | None) -> Target:
    control = AnyTargetControl()
    return control.default(capture) if target is None else control.parse(target, capture, {})


def _shorter(capture: Capture, target: Target, backward: str) -> Graph | None:
    """The graph that the capture kept, where going back through part of it is all that is left to do."""
    return None if _KEPT.get(capture, target, backward) else _kept_graph(capture, backward)


def _kept_graph(capture: Capture, backward: str) -> Graph | None:
    return capture.graph if backward == "plain" else None  # other rules make another graph


def _graph(capture: Capture, backward: str = "plain") -> Graph:
    """The graph that the capture kept, or the network once more."""
    kept = _kept_graph(capture, backward)
    if kept is not None:
        return kept
    with ruled(backward):
        tap = plain_tap(capture.model, capture.sites, for_gradients=True)
        return with_graph(capture.run, capture.input.tensor, tap)


def _slopes(capture: Capture, target: Target, backward: str, graph: Graph, of: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The gradients of the score with respect to tensors of the graph; zero where it does not depend on one."""
    with torch.enable_grad(), ruled(backward):
        score = scores(capture, target, graph.output, graph.tap.made.get(capture.depth - 1))[0]
    return torch.autograd.grad(score, of, retain_graph=graph is capture.graph, materialize_grads=True)


def _outputs(capture: Capture, graph: Graph) -> dict[int, Tensor]:
    calls = {block: graph.tap.calls.get(block, []) for block in range(capture.depth)}
    return {block: made[0].output for block, made in calls.items() if len(made) == 1}


def _differentiate(capture: Capture, target: Target, backward: str) -> Gradients:
    graph = _graph(capture, backward)
    outputs = _outputs(capture, graph)
    norms = {block: graph.tap.normed[block] for block in range(capture.depth) if block in graph.tap.normed}
    found = _slopes(capture, target, backward, graph, [*outputs.values(), *norms.values(), graph.input])
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
    tap = _graph(capture, backward).tap
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
