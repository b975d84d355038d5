"""Attention of a block as sent to the canvas, against the capture."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.attention_payload import BROWSER, fetched, unpack_attention
from tests.helpers.page_pictures import SMALL, SWIN
from tests.helpers.small_families import capture_case
from tests.helpers.waiting import now
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.block_data import block_data, default_query, row_file
from vitexplorer.ui.canvas.files import packed_block, size


@pytest.mark.parametrize("picture", [SMALL, SWIN], ids=["vit", "swin"])
def test_a_block_travels_as_it_is(engine: Engine, picture: Picture) -> None:
    capture = now(engine.capture(picture))
    data = block_data(capture, 1, "en")
    weights, positions, _ = unpack_attention(fetched(data.attention))
    truth = capture.call(1).weights().numpy()
    assert np.abs(weights - truth).max() <= truth.max() / 509
    np.testing.assert_array_equal(positions, capture.positions(1))


def test_every_block_is_named_before_it_is_packed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = now(engine.capture(SMALL))
    strip = strip_of(capture, 0, "cls", "en")
    assert all(facts.ahead for facts in strip.blocks)
    assert block_data(capture, 2, "en").attention == strip.blocks[2].attention
    assert fetched(strip.blocks[2].attention) == packed_block(capture, 2)
    for accepted, encoding in {"br": "br", "gzip": None, "identity": None}.items():
        answer = BROWSER.get(strip.blocks[2].attention.url[1:], headers={"accept-encoding": accepted})
        assert answer.headers.get("content-encoding") == encoding
        assert answer.content == packed_block(capture, 2)
    for wrong in (f"{capture.depth}", "-1", "x"):
        assert BROWSER.get(strip.blocks[2].attention.url[1:-1] + wrong).status_code == 404
    assert BROWSER.get("/attention/somebody/0").status_code == 404
    monkeypatch.setattr("vitexplorer.ui.canvas.block_data.FETCHED_AHEAD", size(capture, 0) - 1)
    assert not any(facts.ahead for facts in strip_of(capture, 0, "cls", "en").blocks)


@pytest.mark.parametrize("query", ["cls", "mean", (3, 5)])
def test_a_single_row_travels_as_it_is(engine: Engine, query) -> None:
    capture = now(engine.capture(SMALL))
    with open(row_file(capture, 2, query).path, "rb") as file:
        weights, positions, _ = unpack_attention(file.read())
    truth = vx.compute("head_gallery", capture, block=2, query=query)
    values = weights[0, :, 0, positions[0] >= 0].T.reshape(truth.values.shape)
    np.testing.assert_allclose(values, truth.values, atol=truth.values.max() / 509)


OTHER_KEYS = ["pvt_v2", "mvitv2_class", "levit", "hiera", "cait"]


@pytest.mark.parametrize("case", OTHER_KEYS)
def test_queries_and_keys_of_every_block_travel_as_they_lie(case: str) -> None:
    capture = capture_case(case)
    for block in range(capture.depth):
        data, keys = block_data(capture, block, "en"), capture.key_grid(block)
        weights, positions, queries = unpack_attention(fetched(data.attention))
        truth = capture.call(block).weights().numpy()
        assert np.abs(weights - truth).max() <= np.ptp([0, *truth.ravel()]) / 509
        np.testing.assert_array_equal(positions, capture.positions(block))
        np.testing.assert_array_equal(queries, capture.query_positions(block))
        lies = data.keys or data
        assert (lies.rows, lies.cols, lies.cell) == (keys.rows, keys.cols, keys.patch_size)
        assert (data.rows, data.cols, data.cell) == (
            capture.grid(block).rows, capture.grid(block).cols, capture.grid(block).patch_size
        )  # fmt: skip
        assert ("patches" in data.silent) == (not (queries >= 0).any())
        assert len(fetched(data.attention)) == size(capture, block)
        query = default_query(capture, block)
        with open(row_file(capture, block, query).path, "rb") as file:
            row, at, _ = unpack_attention(file.read())
        gallery = vx.compute("head_gallery", capture, block=block, query=query)
        patches = row[0, :, 0, at[0] >= 0].T.reshape(gallery.values.shape)
        np.testing.assert_allclose(patches, gallery.values, atol=np.ptp([0, *row.ravel()]) / 509)
        assert (at < 0).sum() == len(gallery.prefix_names)
