"""Rollouts of the room Flow against the view's."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.attention_payload import unpack_attention
from tests.helpers.page_pictures import ROLLOUT, SMALL
from tests.helpers.small_models import capture_small
from tests.helpers.waiting import now
from vitexplorer.service.engine import Engine
from vitexplorer.ui.rooms.flow.room import rollout_data


def test_the_rollout_of_every_query_is_the_rollout(engine: Engine) -> None:
    capture = now(engine.capture(SMALL))
    data = rollout_data(capture, {**ROLLOUT, "start_block": 0}, "en")
    with open(data.attention.path, "rb") as file:
        weights, _, _ = unpack_attention(file.read())
    for query, row in (("cls", 0), ((2, 3), 1 + 2 * 14 + 3)):
        truth = vx.compute("attention_rollout", capture, query=query).values.ravel()
        np.testing.assert_allclose(weights[0, 0, row, 1:], truth, atol=weights.max() / 509)


@pytest.mark.parametrize("start", [0, 5])
def test_the_rollout_of_swin_goes_from_patches_of_the_last_stage_to_those_of_another(start: int) -> None:
    capture = capture_small("swin")
    data = rollout_data(capture, {**ROLLOUT, "start_block": start}, "en")
    with open(data.attention.path, "rb") as file:
        weights, keys, queries = unpack_attention(file.read())
    last, first = capture.grid(capture.depth - 1), capture.grid(start)
    assert (data.rows, data.cols, queries.size) == (last.rows, last.cols, last.num_patches)
    assert (keys.size, data.keys and data.keys.cell) == (first.num_patches, first.patch_size if first != last else None)
    truth = vx.compute("attention_rollout", capture, query=(1, 2), start_block=start).values.ravel()
    np.testing.assert_allclose(weights[0, 0, last.cols + 2], truth, atol=weights.max() / 509)
