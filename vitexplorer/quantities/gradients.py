"""Gradients of a target's score, such as a class's logit: one pass in each direction, cached for several views.

No attention matrix has to be in the graph. An attention call gives O = A V, so the gradient with respect to the
attention after softmax is dL/dA = (dL/dO) V^T, one product of tensors that the tap keeps anyway; the model's own kernel
runs. The gradients are requested by name (`torch.autograd.grad`), so the shared module gets no `.grad`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import AttentionCall, Capture, Graph, plain_tap, with_graph
from vitexplorer.controls.explained import Target
from vitexplorer.core.cache import BytesCache
from vitexplorer.quantities.backward_rules import ruled
from vitexplorer.quantities.both_signs import apply_sign
from vitexplorer.quantities.scores import scores
from vitexplorer.tracing.attention_call import WEIGHTS_AT_ONCE

MOST_BYTES = 256 << 20
"""Most bytes that one process caches for all captures together; one class of ViT-B/16 at 224 pixels takes 23 MB"""


@dataclass(frozen=True)
class Gradients:
    """Gradients of one score with respect to values inside the network."""

    target: Target
    """Target that was differentiated"""
    backward: str
    """Rules of the backward pass: a name of `BACKWARD`"""
    outputs: dict[int, Tensor] = field(repr=False)
    """Gradients by block with respect to the output of its attention call, (windows, heads, queries, head dim)"""
    norms: dict[int, Tensor] = field(repr=False)
    """Output of each block's first norm, in the module's layout"""
    norm_gradients: dict[int, Tensor] = field(repr=False)
    """Gradients with respect to `norms`"""
    input: Float[Tensor, "batch channels height width"] = field(repr=False)
    """Gradient with respect to the normalised input"""

    @property
    def nbytes(self) -> int:
        """Memory that these gradients keep alive, in bytes."""
        tensors = [*self.outputs.values(), *self.norms.values(), *self.norm_gradients.values(), self.input]
        return sum(tensor.nbytes for tensor in tensors)


# ------------------------------------------------------------------------------------------ one pass each way


def gradients(capture: Capture, target: Target, backward: str = "plain") -> Gradients:
    """Return gradients of a target's score by the rules `backward`, a name of `BACKWARD`.

    The network runs once in each direction, or only back if the capture kept its graph. Results are cached by capture,
    target and rules.
    """
    result = _cached(capture, target, backward)
    if result is None:
        result = _differentiate(capture, target, backward)
        _keep(capture, result)
    return result


def at_outputs(capture: Capture, target: Target, backward: str) -> Mapping[int, Tensor]:
    """Return `outputs` of `gradients`; if the capture kept its graph, the backward pass ends at the first of them."""
    graph = _partial_graph(capture, target, backward)
    if graph is None:
        return gradients(capture, target, backward).outputs
    outputs = _outputs(capture, graph)
    return dict(zip(outputs, _slopes(capture, target, backward, graph, list(outputs.values())), strict=True))


def at_norm(capture: Capture, block: int, target: Target, backward: str) -> tuple[Tensor, Tensor] | None:
    """Return the output of a block's first norm and the gradient with respect to it; None for a block without a norm.

    Taken from `gradients`; if the capture kept its graph, the backward pass ends at that norm.
    """
    graph = _partial_graph(capture, target, backward)
    if graph is None:
        result = gradients(capture, target, backward)
        return (result.norms[block], result.norm_gradients[block]) if block in result.norms else None
    norm = graph.tap.normed.get(block)
    return None if norm is None else (norm.detach(), *_slopes(capture, target, backward, graph, [norm]))


def _partial_graph(capture: Capture, target: Target, backward: str) -> Graph | None:
    """Return the graph that the capture kept, if a partial backward pass is all that is left to do."""
    return None if _cached(capture, target, backward) else _reusable_graph(capture, backward)


def _reusable_graph(capture: Capture, backward: str) -> Graph | None:
    return capture.graph if backward == "plain" else None  # other rules make another graph


def reusing_graph(capture: Capture) -> Capture:
    """Return the capture with the graph of its pass, so that gradients of several scores share one forward pass."""
    return capture if capture.graph else replace(capture, graph=_graph(capture))


def _graph(capture: Capture, backward: str = "plain") -> Graph:
    """Return the graph that the capture kept, or run the network once more."""
    reusable = _reusable_graph(capture, backward)
    if reusable is not None:
        return reusable
    with ruled(backward):
        tap = plain_tap(capture.model, capture.sites, for_gradients=True)
        return with_graph(capture.run, capture.input.tensor, tap)


def _slopes(capture: Capture, target: Target, backward: str, graph: Graph, of: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Compute the gradients of the score with respect to tensors of the graph; zero where it does not depend on one."""
    with torch.enable_grad(), ruled(backward):
        score = scores(capture, target, graph.output, graph.tap.made.get(capture.depth - 1))[0]
    return torch.autograd.grad(score, of, retain_graph=graph is capture.graph, materialize_grads=True)


def _outputs(capture: Capture, graph: Graph) -> dict[int, Tensor]:
    calls = {block: graph.tap.calls.get(block, []) for block in range(capture.depth)}
    return {block: block_calls[0].output for block, block_calls in calls.items() if len(block_calls) == 1}


def _differentiate(capture: Capture, target: Target, backward: str) -> Gradients:
    graph = _graph(capture, backward)
    outputs = _outputs(capture, graph)
    norms = {block: graph.tap.normed[block] for block in range(capture.depth) if block in graph.tap.normed}
    slopes = _slopes(capture, target, backward, graph, [*outputs.values(), *norms.values(), graph.input])
    return Gradients(
        target,
        backward,
        outputs=dict(zip(outputs, slopes, strict=False)),
        norms={block: norm.detach() for block, norm in norms.items()},
        norm_gradients=dict(zip(norms, slopes[len(outputs) :], strict=False)),
        input=slopes[-1],
    )


def block_gradients(
    capture: Capture, score: Callable[[Float[Tensor, "tokens dim"]], Tensor], backward: str = "plain"
) -> Iterator[Float[Tensor, "windows heads queries head_dim"]]:
    """Yield, for each block, the gradient of a score of its output tokens with respect to its own attention output.

    One forward pass in all. Each block's backward pass stays within that block, so together they cost one.
    """
    tap = _graph(capture, backward).tap
    for block in range(capture.depth):
        capture.call(block)  # refuses a block whose attention cannot be shown
        with torch.enable_grad(), ruled(backward):
            score_of_output = score(tap.made[block][0].flatten(0, -2))
        (gradient,) = torch.autograd.grad(
            score_of_output, tap.calls[block][0].output, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        yield gradient


# ------------------------------------------------------------------------------------------ gradients of attention


def attention_gradient(
    call: AttentionCall, output_gradient: Float[Tensor, "windows heads queries head_dim"], queries: slice = slice(None)
) -> Float[Tensor, "windows heads rows keys"]:
    """Compute dL/dA, A after softmax, for the chosen query rows."""
    return output_gradient[:, :, queries] @ call.value.transpose(-2, -1)


def mean_gradient(
    call: AttentionCall, output_gradient: Float[Tensor, "1 heads queries head_dim"], sign: str
) -> Float[Tensor, " keys"]:
    """Compute the mean over heads and queries of relu(dA), of dA for both signs, a few query rows at a time."""
    _, heads, queries, _ = output_gradient.shape
    step = max(1, WEIGHTS_AT_ONCE // (heads * call.num_tokens))
    slopes = (attention_gradient(call, output_gradient, slice(q, q + step)) for q in range(0, queries, step))
    return sum(apply_sign(slope, sign).sum((0, 1, 2)) for slope in slopes) / (heads * queries)


def weighed_attention(
    call: AttentionCall, output_gradient: Float[Tensor, "windows heads queries head_dim"], sign: str = "positive"
) -> Iterator[tuple[slice, Float[Tensor, "windows rows keys"]]]:
    """Yield the mean over heads of relu(dL/dA * A), a few query rows at a time; without relu for both signs."""
    for queries, weights in call.in_pieces():
        yield queries, apply_sign(attention_gradient(call, output_gradient, queries) * weights, sign).mean(1)


def weighed_blocks(
    capture: Capture, target: Target, sign: str, backward: str
) -> Callable[[int], Iterator[tuple[slice, Float[Tensor, "windows rows keys"]]]]:
    """Return the function that gives the `weighed_attention` of a block for a target."""
    outputs = at_outputs(capture, target, backward)
    return lambda block: weighed_attention(capture.call(block), outputs[block], sign)


# ------------------------------------------------------------------------------------------ cache

_CACHE: BytesCache[tuple[int, Target, str], tuple[weakref.ref[Capture], Gradients]] = BytesCache(
    MOST_BYTES, lambda entry: entry[1].nbytes
)
"""Gradients by id of their capture, target and rules; they go with the capture"""


def _cached(capture: Capture, target: Target, backward: str) -> Gradients | None:
    entry = _CACHE.get((id(capture), target, backward))
    return None if entry is None else entry[1]


def _keep(capture: Capture, result: Gradients) -> None:
    """Cache gradients, unless they alone would exceed the limit."""
    key, cache = (id(capture), result.target, result.backward), _CACHE
    if result.nbytes <= MOST_BYTES:
        cache.put(key, (weakref.ref(capture, lambda _: cache.drop(key)), result))
