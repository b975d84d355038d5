"""The whole network: colours against a slow twin, everything else against the views that it comes from."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.expected_refusals import is_refused
from tests.helpers.readings import checked_reading
from tests.helpers.reference_network import colours_of_stage
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.network_result import NetworkResult
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import Query


def network(captured: Capture, **settings: object) -> NetworkResult:
    return vx.compute("network", captured, **settings)


def test_colours_are_those_of_the_definition(any_capture):
    result = network(any_capture)
    prefix = len(any_capture.prefix_tokens)
    streams = [any_capture.residual(0), *map(any_capture.residual_after, range(any_capture.depth))]
    streams = [stream[prefix:].double().numpy() for stream in streams]
    assert [len(stream) for stream in streams] == [grid.num_patches for grid in result.grids]
    stages: dict[tuple[int, ...], list[int]] = {}
    for row, stream in enumerate(streams):
        stages.setdefault(stream.shape, []).append(row)
    for (patches, _), rows in stages.items():
        assert rows == [*range(rows[0], rows[-1] + 1)]
        expected = colours_of_stage([streams[row] for row in rows])
        np.testing.assert_allclose(result.values[rows, :patches].reshape(-1, 3), expected, atol=1e-6)
        assert np.isnan(result.values[rows, patches:]).all()


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "dinov3", "registers_only", "swin_padded", "encoder"])
def test_links_are_the_largest_entries_of_the_attention(key):
    captured = capture_small(key)
    grid = captured.grid(0)
    for query in {"cls" if "cls" in captured.prefix_tokens else "mean", "mean", (0, 0), (grid.rows - 1, grid.cols - 1)}:
        result = network(captured, query=query, links=3)
        for block in range(captured.depth):
            rows = rows_by_token(captured, result.queries[block], block)
            for head, row in enumerate(rows):
                largest = sorted(row, key=lambda token: -row[token])[:3]
                assert result.links[block].tokens[head].tolist() == largest
                weights = [row[token] for token in largest]
                np.testing.assert_allclose(result.links[block].weights[head], weights, atol=1e-6)
                patches = [row[token] for token in sorted(row) if token >= len(captured.prefix_tokens)]
                np.testing.assert_allclose(result.heads[block][head].ravel(), patches, atol=1e-6)
                assert result.rest[block, head] == pytest.approx(1 - sum(weights), abs=1e-5)


def rows_by_token(captured: Capture, query: Query, block: int) -> list[dict[int, float]]:
    """Return each head's attention of a query, by index of the key in the sequence, from `attention_map`."""
    prefix = len(captured.prefix_tokens)
    rows = []
    for head in range(captured.num_heads(block)):
        seen = vx.compute("attention_map", captured, block=block, head=head, query=query)
        weights = [*seen.prefix_weights, *seen.values.ravel()]
        places = [*range(len(seen.prefix_weights)), *range(prefix, prefix + seen.values.size)]
        rows.append({place: float(weight) for place, weight in zip(places, weights, strict=True)})
    return rows


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "registers_only", "parallel", "swin", "siglip"])
def test_answers_and_bars_are_those_of_their_views(key):
    captured = capture_small(key)
    result = network(captured, target=2)
    lens = vx.compute("logit_lens", captured, token="own")
    read = dict(zip(lens.blocks, lens.top, strict=True))
    for block, answer in enumerate(result.lens):
        assert (answer is None) == (block not in read)
        if answer:
            assert answer.index == read[block][0].index
            assert answer.value == pytest.approx(read[block][0].probability, abs=1e-6)
    if is_refused("logit_attribution", key):
        assert result.attention_adds is result.mlp_adds is result.start is result.bias is None
        assert any(note.en.startswith("Logit attribution needs") or "no sum" in note.en for note in result.notes)
        return
    attribution = vx.compute("logit_attribution", captured, target=2)
    parts = dict(zip(attribution.parts, attribution.values.tolist(), strict=True))
    for block in range(captured.depth):
        if f"block {block} attn + mlp" in parts:
            assert result.attention_adds[block] == pytest.approx(parts[f"block {block} attn + mlp"], abs=1e-6)
            assert result.mlp_adds[block] == 0
        else:
            assert result.attention_adds[block] == pytest.approx(parts[f"block {block} attn"], abs=1e-6)
            assert result.mlp_adds[block] == pytest.approx(parts[f"block {block} mlp"], abs=1e-6)
    whole = result.start + result.attention_adds.sum() + result.mlp_adds.sum() + result.bias
    assert whole == pytest.approx(float(captured.logits[2]), abs=1e-4)
    assert whole == pytest.approx(attribution.logit, abs=1e-6)


def test_without_a_classifier_there_is_the_similarity_to_the_class_token():
    captured = capture_small("encoder")
    result = network(captured)
    assert result.lens is result.attention_adds is result.target is None
    assert result.top == ()
    for block in range(captured.depth):
        tokens = captured.residual_after(block).double().numpy()
        for place, token in enumerate(tokens[1:]):
            expected = token @ tokens[0] / np.linalg.norm(token) / np.linalg.norm(tokens[0])
            assert result.similarity[block, place] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(UnsupportedError, match="no classifier"):
        network(captured, target=1)


def test_a_followed_patch_stays_at_its_place_where_grids_shrink():
    captured = capture_small("swin")  # grids of 16, 8 and 4
    assert network(captured, query=(13, 6)).queries == ((13, 6), (13, 6), (6, 3), (6, 3), (3, 1), (3, 1))
    assert network(captured, query=(13, 6)).windows[1] is not None
    with pytest.raises(SettingError, match="rows 0 to 15"):
        network(captured, query=(16, 0))


@pytest.mark.parametrize("key", ["vit", "encoder", "swin", "parallel", "registers_only"])
def test_the_sentence_names_blocks_and_numbers(key):
    result = network(capture_small(key), query=(1, 2))
    checked_reading(result)
