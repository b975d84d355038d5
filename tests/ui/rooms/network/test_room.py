"""Data of the picture of the whole network against the view, and its size."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.attention_payload import unpack_attention
from tests.helpers.small_models import RECIPES, capture_small, picture
from vitexplorer.core.format import percent
from vitexplorer.ui.network.network import network_data, read_from
from vitexplorer.ui.rooms.network.room import valid_settings

MOST_BYTES = 400_000


@pytest.mark.parametrize("key", ["vit", "swin", "encoder", "deit_distilled", "registers_only"])
def test_the_data_are_the_views(key: str) -> None:
    captured = capture_small(key)
    result = vx.compute("network", captured)
    data = network_data(captured, result.query, "en", result)
    assert data.grids == [(grid.rows, grid.cols, grid.patch_size) for grid in result.grids]
    packed = np.frombuffer(data.colours.path.read_bytes(), np.uint8).reshape(-1, 3)
    expected = np.concatenate([row[: grid.num_patches] for row, grid in zip(result.values, result.grids, strict=True)])
    np.testing.assert_array_equal(packed, np.rint(255 * expected))
    assert [answer and answer.index for answer in result.lens or ()] == [
        answer and int(answer.name.removeprefix("class ")) for answer in data.lens
    ]
    assert [answer and percent(answer.value) for answer in result.lens or ()] == [
        answer and answer.value for answer in data.lens
    ]
    if result.attention_adds is None:
        assert (data.adds, data.has_sum) == ([], False)
    else:
        np.testing.assert_array_equal(data.adds, np.stack([result.attention_adds, result.mlp_adds], 1))
    if key == "encoder":
        np.testing.assert_array_equal(data.similarity, result.similarity[-1])
    assert data.reading == vx.reading(result)
    assert not data.asks


@pytest.mark.parametrize("key", RECIPES)
def test_the_answer_is_read_from_the_tokens_that_move_it(key: str) -> None:
    captured = capture_small(key)
    model = captured.model
    if captured.logits is None:
        assert read_from(captured) == []
        return
    tokens = captured.residual(captured.depth - 1).detach().clone()[None].requires_grad_()
    answer = model.family.read_out(model.module, tokens, model.family.own_reading(model.module))
    (slope,) = torch.autograd.grad(answer[0].std(), tokens)
    moves = slope[0].abs().amax(-1).gt(0).tolist()
    names = [*captured.prefix_tokens, *["patches"] * captured.grid(captured.depth - 1).num_patches]
    assert read_from(captured) == [*dict.fromkeys(name for name, moved in zip(names, moves, strict=True) if moved)]


def test_the_rows_of_the_followed_token_are_its_attention() -> None:
    captured = capture_small("vit")
    result = vx.compute("network", captured, query=(1, 2))
    data = network_data(captured, (1, 2), "en")
    assert data.asks
    content = data.strip.rows.path.read_bytes()
    size = len(content) // captured.depth
    for block in range(captured.depth):
        weights, _, queries = unpack_attention(content[block * size : (block + 1) * size])
        assert queries.tolist() == [[1 * captured.grid(0).cols + 2]]
        expected = result.heads[block].reshape(len(weights[0]), -1)
        np.testing.assert_allclose(weights[0, :, 0, 1:], expected, atol=weights.max() / 509)


def test_the_whole_figure_of_a_large_model_travels_light() -> None:
    model = vx.load_model("vit_base_patch16_224", weights="random")
    captured = vx.capture(model, picture(224, 224))
    data = network_data(captured, "cls", "en")
    files = [data.image, data.colours, data.strip.rows]
    assert sum(file.path.stat().st_size for file in files[1:]) + len(json.dumps(data.model_dump())) < MOST_BYTES


def test_what_the_model_does_not_have_counts_as_not_chosen() -> None:
    captured = capture_small("encoder")
    assert valid_settings(captured, query="99,99", target="3") == {"query": "cls", "target": None, "links": 8}
    assert valid_settings(captured, query="1,2")["query"] == (1, 2)
    assert valid_settings(capture_small("vit"), query="dist", target="no such class")["query"] == "cls"
