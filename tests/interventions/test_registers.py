"""Test-time registers: a planted neuron is found, its output goes to the new token, patches become ordinary."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.long_token import BLOCK, NEURON, PATCH, planted
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.interventions import INTERVENTIONS
from vitexplorer.interventions.registers import moved, outliers, register_neurons
from vitexplorer.quantities.outliers import far_out

CHANGE = {"registers": {"neurons": 1}}


def by_hand(capture, neuron: tuple[int, int]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Compute the stream after each block and the logits with the new token, neuron by neuron, token by token."""
    module, prefix = capture.model.module, len(capture.prefix_tokens)
    with torch.no_grad():
        tokens = module.patch_embed(capture.input.tensor)
        tokens = module.norm_pre(module.patch_drop(module._pos_embed(tokens)))
        tokens = torch.cat([tokens[:, :prefix], torch.zeros_like(tokens[:, :1]), tokens[:, prefix:]], 1)
        stream = []
        for number, block in enumerate(module.blocks):
            tokens = tokens + block.ls1(block.attn(block.norm1(tokens)))
            hidden = block.mlp.act(block.mlp.fc1(block.norm2(tokens)))
            if number == neuron[0]:
                activations = hidden[0, :, neuron[1]].tolist()
                for place in range(len(activations)):
                    hidden[0, place, neuron[1]] = activations[place] if place < prefix else 0
                hidden[0, prefix, neuron[1]] = max(activations)
            tokens = tokens + block.ls2(block.mlp.fc2(hidden))
            stream.append(tokens[0])
        remaining = torch.cat([tokens[:, :prefix], tokens[:, prefix + 1 :]], 1)
        return stream, module.forward_head(module.norm(remaining))[0]


def test_the_planted_neuron_is_found():
    captured = planted()
    place = len(captured.prefix_tokens) + PATCH
    assert outliers(captured, captured.depth - 1).tolist() == [place]
    (result,) = register_neurons(captured, captured.depth - 1, 1).items()
    assert (result[0], result[1].tolist()) == (BLOCK, [NEURON])
    assert {at: len(result) for at, result in register_neurons(captured, BLOCK, 9).items()}.keys() <= {0, BLOCK}
    with pytest.raises(UnsupportedError, match="nothing to move"):
        register_neurons(captured, 0, 1)


def test_the_changed_run_is_that_of_the_slow_twin():
    captured = planted()
    changed = vx.intervene(captured, CHANGE)
    stream, logits = by_hand(captured, (BLOCK, NEURON))
    assert torch.allclose(changed.logits, logits, atol=1e-5)
    for block, tokens in enumerate(stream):
        assert torch.allclose(changed.residual_after(block), tokens, atol=1e-4)
    assert not torch.allclose(changed.logits, captured.logits, atol=1e-3)


@pytest.mark.parametrize("pool", ["token", "avg"])
def test_what_is_pooled_is_without_the_new_token(pool):
    """The classifier on the pooled feature and the module's own head give the same logits."""
    changed = vx.intervene(planted(pool), CHANGE)
    module = changed.model.module
    assert len(changed.prefix_tokens) == len(planted(pool).prefix_tokens) + 1
    with torch.no_grad():
        last = changed.residual_after(changed.depth - 1)[None]
        assert torch.equal(changed.model.family.read_out(module, last, "own")[0], changed.logits)
        assert torch.allclose(module.head(changed.embedding), changed.logits, atol=1e-6)


def test_the_patches_become_ordinary_and_the_register_long():
    captured = planted()
    changed = vx.intervene(captured, CHANGE)
    assert changed.prefix_tokens == (*captured.prefix_tokens, "reg1")
    norms = changed.residual_after(changed.depth - 1).norm(dim=-1).numpy()
    prefix = len(captured.prefix_tokens)
    assert not far_out(norms[prefix + 1 :]).any()
    assert norms[prefix] > 2 * np.median(norms[prefix + 1 :])
    tokens = prefix + 1 + captured.grid(0).num_patches
    assert changed.attention(1).shape[-2:] == (tokens, tokens)
    assert torch.equal(vx.intervene(captured, {}).output, captured.output)


def test_every_view_of_a_map_follows():
    changed = vx.intervene(planted(), CHANGE)
    for view in ("attention_map", "attention_rollout", "token_norms", "head_gallery", "before_after", "grad_cam"):
        assert np.isfinite(vx.compute(view, changed).values).any(), view
    assert "10 neurons" in INTERVENTIONS["registers"].says(changed, neurons=10, block=3).en


def test_activations_are_moved():
    hidden = torch.tensor([[[1.0, 5], [2, 6], [9, 7], [3, 8]]])
    assert moved(hidden, torch.tensor([0]), 1).tolist() == [[[1, 5], [9, 6], [0, 7], [0, 8]]]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("swin", "windows"),
        ("vit", "On this image no patch"),
        ("siglip", "all tokens together"),
        ("registers_only", "averages its patches before its last norm"),
    ],
)
def test_where_there_is_nothing_to_move_or_no_place_for_a_token(name, why):
    reason = INTERVENTIONS["registers"].refuses(capture_small(name))
    assert why in reason.en


def test_changes_that_count_on_the_tokens_do_not_go_with_it():
    for other in ("positions:how=off", "top_k:k=2", "shuffle_patches"):
        with pytest.raises(SettingError, match="cannot be added together"):
            vx.intervene(planted(), f"registers:neurons=1;{other}")
    assert torch.isfinite(vx.intervene(planted(), "registers:neurons=1;temperature:temperature=2").output).all()
