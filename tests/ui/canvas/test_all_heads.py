"""Strip of all heads against the capture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.attention_payload import unpack_attention
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small
from vitexplorer.core.types import Query
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.canvas import Strip
from vitexplorer.ui.canvas.payload import packed_bytes


def rows_of(strip: Strip) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the rows of a strip, block by block: weights, keys, queries."""
    content, rows = Path(strip.rows.path).read_bytes(), []
    while content:
        length = packed_bytes(*(int(n) for n in np.frombuffer(content, "<u4", 5)[1:]))
        rows.append(unpack_attention(content[:length]))
        content = content[length:]
    return rows


@pytest.mark.parametrize(
    ("case", "block", "query", "asked"),
    [
        ("vit", 1, "cls", ["cls"] * 4),
        ("swin", 0, (5, 13), None),  # later stages are coarser
        ("cait", 3, "cls", ["mean", "mean", "cls", "cls"]),  # the class token looks in the last blocks alone
        ("hiera", 0, "mean", None),
    ],
)
def test_the_strip_has_a_row_of_every_head_of_every_block(case: str, block: int, query: Query, asked) -> None:
    capture = capture_small(case) if case in ("vit", "swin") else capture_case(case)
    strip = strip_of(capture, block, query, "en")
    assert [facts.block for facts in strip.blocks] == list(range(capture.depth))
    for facts, (weights, keys, _) in zip(strip.blocks, rows_of(strip), strict=True):
        expected_query = asked[facts.block] if asked else query
        if (
            expected_query == (5, 13) and facts.block
        ):  # the patch at the same place: half as many rows and columns in each stage
            ratio = capture.grid(facts.block).patch_size // capture.grid(0).patch_size
            expected_query = (5 // ratio, 13 // ratio)
        truth = vx.compute("head_gallery", capture, block=facts.block, query=expected_query).values
        values = weights[0, :, 0, keys[0] >= 0].T.reshape(truth.shape)
        np.testing.assert_allclose(values, truth, atol=np.ptp([0, *weights.ravel()]) / 509)


def test_a_strip_that_is_too_much_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vitexplorer.ui.canvas.all_heads.MOST_WEIGHTS", 1e3)
    assert strip_of(capture_small("vit"), 0, "mean", "en") is None
    assert strip_of(capture_small("vit"), 0, "cls", "en") is not None
