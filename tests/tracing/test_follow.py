"""Following a pass: what a tap sees is what a change changes.

A small module has every way of writing attention that timm has: one kernel, or a softmax of scores with four axes or
five, with a dropout between, with the values transposed. The twin does without it, in loops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vitexplorer.interventions.changed_pass import ChangedPass, Effect
from vitexplorer.interventions.heads_off import silenced
from vitexplorer.interventions.top_k import keep_highest
from vitexplorer.models.seeding import seeded
from vitexplorer.tracing.follow import OUTSIDE, FollowedPass
from vitexplorer.tracing.tap import AttentionTap

WINDOWS, HEADS, TOKENS, DIM = 2, 3, 5, 4
TEMPERATURE, TOP_SCORES = 1.7, 2
OFF = torch.tensor([False, True, False])
SCALE = 0.5


def by_kernel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, scale=SCALE)


def by_softmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.transpose(-2, -1) * SCALE).softmax(dim=-1) @ v


def with_dropout(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.matmul(F.dropout(F.softmax(q * SCALE @ k.mT, -1), 0.1, training=False), v)


def with_values_transposed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (v.mT @ torch.softmax(q @ k.mT * SCALE, dim=-1).mT).mT


WAYS = (by_kernel, by_softmax, with_dropout, with_values_transposed)


@dataclass(frozen=True, eq=False)
class Block:
    """Block that computes attention in one way, between two linear layers, one of them outside."""

    way: object
    axes: int

    def __post_init__(self):
        with seeded(0):
            object.__setattr__(self, "inside", nn.Linear(DIM, 3 * DIM).requires_grad_(False))
            object.__setattr__(self, "outside", nn.Linear(DIM, DIM).requires_grad_(False))

    @property
    def block_of(self) -> dict[int, int]:
        known = {id(parameter): 0 for parameter in self.inside.parameters()}
        return known | {id(parameter): OUTSIDE for parameter in self.outside.parameters()}

    def parts(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.inside(x).chunk(3, dim=-1)

    def __call__(self, x: Tensor) -> Tensor:
        """Run the block on (windows, heads, tokens, dim), same shape out; with five axes the batch comes first."""
        one_more = self.axes == 5
        out = self.way(*(part[None] if one_more else part for part in self.parts(x)))
        return self.outside(out[0] if one_more else out)


def block_of_each(test):
    ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
    return ways(pytest.mark.parametrize("axes", [4, 5])(test))


def tokens() -> Tensor:
    return torch.randn(WINDOWS, HEADS, TOKENS, DIM, generator=torch.Generator().manual_seed(1)) * 3


def attended(weights_of, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute weights and output, query by query; `weights_of` turns the scores of a row into weights."""
    weights, out = np.zeros((WINDOWS, HEADS, TOKENS, TOKENS)), np.zeros((WINDOWS, HEADS, TOKENS, DIM))
    for at in np.ndindex(WINDOWS, HEADS, TOKENS):
        weights[at] = weights_of([SCALE * float(q[at] @ k[at[:2]][key]) for key in range(TOKENS)])
        out[at] = sum(weights[at][key] * v[at[:2]][key] for key in range(TOKENS))
    return weights, out


def softmax(scores: list[float]) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def hot_and_short(scores: list[float]) -> np.ndarray:
    """Compute the weights of the highest scores alone, at the temperature."""
    least = sorted(scores)[-TOP_SCORES]
    return softmax([score / TEMPERATURE if score >= least else -np.inf for score in scores])


CHANGES = (
    Effect(temperature=TEMPERATURE),
    Effect(scores=lambda block, scores: keep_highest(scores, TOP_SCORES)),
    Effect(values=lambda block, values: silenced(values, OFF)),
)


@block_of_each
def test_a_tap_sees_the_weights_and_what_they_give(way, axes):
    block, x = Block(way, axes), tokens()
    with AttentionTap(block.block_of, keep_outputs=True) as tap:
        out = block(x)
    assert torch.equal(out, block(x))
    (call,) = tap.calls[0]
    weights, mixture = attended(softmax, *(part.double().numpy() for part in block.parts(x)))
    call = call.arranged((lambda tensor: tensor[0]) if axes == 5 else None)
    np.testing.assert_allclose(call.weights(), weights, atol=1e-6)
    np.testing.assert_allclose(call.output, mixture, atol=1e-5)
    assert torch.equal(call.value, block.parts(x)[2])


@block_of_each
def test_a_change_changes_what_a_tap_sees(way, axes):
    block, x = Block(way, axes), tokens()
    with AttentionTap(block.block_of, keep_outputs=True) as tap, ChangedPass(block.block_of, CHANGES):
        out = block(x)
    q, k, v = (part.double().numpy() for part in block.parts(x))
    weights, mixture = attended(hot_and_short, q, k, np.where(OFF[:, None, None], 0, v))
    (call,) = tap.calls[0]
    call = call.arranged((lambda tensor: tensor[0]) if axes == 5 else None)
    np.testing.assert_allclose(call.weights(), weights, atol=1e-6)
    np.testing.assert_allclose(call.output, mixture, atol=1e-5)
    np.testing.assert_allclose(out, block.outside(torch.from_numpy(mixture).float()), atol=1e-5)


@block_of_each
def test_outside_the_blocks_nothing_changes(way, axes):
    block, x = Block(way, axes), tokens()
    nowhere = dict.fromkeys(block.block_of, OUTSIDE)
    with ChangedPass(nowhere, CHANGES):
        out = block(x)
    assert torch.equal(out, block(x))


@block_of_each
def test_who_says_nothing_changes_nothing(way, axes):
    block, x = Block(way, axes), tokens()
    with FollowedPass(block.block_of) as followed:
        out = block(x)
    assert torch.equal(out, block(x))
    assert followed.block == OUTSIDE


def test_a_swapped_parameter_is_where_the_one_it_stands_for_is():
    block, x = Block(by_softmax, 4), tokens()
    other = torch.zeros_like(block.inside.weight)
    with ChangedPass(block.block_of, (Effect(tensors=((block.inside.weight, other),)),)) as changed:
        changed_out = F.linear(x, block.inside.weight)
        assert changed.block == 0
    assert torch.equal(changed_out, torch.zeros_like(changed_out))


def test_products_and_softmaxes_that_are_no_attention_are_left_alone():
    block, x = Block(by_softmax, 4), tokens()
    with ChangedPass(dict.fromkeys(block.block_of, 0), CHANGES) as changed:
        changed.block = 0
        assert torch.equal(x.softmax(-1), torch.softmax(x, -1))  # no product before it
        flat = x[0, 0] @ x[0, 0].mT
        over_heads = (x @ x.mT).softmax(1)
    assert torch.equal(flat, x[0, 0] @ x[0, 0].mT)
    torch.testing.assert_close(over_heads, (x @ x.mT / TEMPERATURE).softmax(1))
