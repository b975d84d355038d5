"""Cases that ask by a text, and the table of a model that reads texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import vitexplorer as vx
from vitexplorer.core.text import UnsupportedError
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.data import worded_cases, worded_grid_cases
from vitexplorer.evaluation.evaluating import drawn_kinds
from vitexplorer.evaluation.methods import explainer, map_views, title_of
from vitexplorer.evaluation.protocol import PROTOCOLS
from vitexplorer.scenes.worded import draw_worded

METHOD = "text_map:method=naclip"


@pytest.fixture(scope="module")
def model():
    return vx.load_model("scenes_clip", device="cpu")


def test_a_text_means_the_masked_thing():
    cases = worded_cases(6, 64)
    assert len(cases) == 6
    assert all(case.mask.any() for case in cases)
    scene = draw_worded("test", 0, 64)
    first = next(case for case in cases if np.array_equal(case.image, scene.image))
    assert np.array_equal(first.mask, scene.masks[0])
    assert first.target.startswith("text: a")


def test_a_grid_has_four_things_and_a_cell_for_each():
    cases = worded_grid_cases(4, 64)
    assert len({case.target for case in cases}) == 4
    assert np.sum([case.cell for case in cases], axis=0).tolist() == np.ones((64, 64)).tolist()
    assert all((case.mask & ~case.cell).sum() == 0 for case in cases)


@torch.no_grad()
def test_deletion_and_insertion_follow_the_cosine(model):
    """Slow twin: patch by patch, with the definitions of the curves and trapezoids."""
    case = worded_cases(1, 192)[0]
    captured, explain = vx.capture(model, case.image, fit="squash"), explainer(METHOD, case, 0)
    trial = Trial(captured, case, explain(captured, case.target), explain, 0)
    text = torch.from_numpy(vx.embed_text(model, [case.target.removeprefix("text: ")]))
    image, order = captured.input.tensor, np.argsort(-trial.map.values.ravel(), kind="stable")
    counts = [round(step * 144 / 10) for step in range(11)]
    values = []
    for count in counts:
        deleted = image.clone()
        for patch in order[:count]:
            row, col = divmod(int(patch), 12)
            deleted[:, :, 16 * row : 16 * row + 16, 16 * col : 16 * col + 16] = 0
        values.append(F.cosine_similarity(model.module(deleted), text).item())
    area = sum((a + b) / 2 * (m - n) / 144 for a, b, n, m in zip(values, values[1:], counts, counts[1:], strict=False))
    deletion, insertion = PROTOCOLS["deletion_insertion"].measure(trial)
    assert deletion == pytest.approx(area, abs=1e-4)
    assert insertion > deletion


def test_the_table_has_the_ways_to_find_a_text(model):
    cases = worded_cases(8, 192)
    table = vx.evaluate(model, [METHOD, "attn_lrp"], data=cases, protocols=["pointing"])
    assert table.methods == (METHOD, "attn_lrp", "random", "oracle")
    assert title_of(METHOD).en == "Text on the patches (NACLIP)"
    assert table.values[-1] == 1
    assert (table.values[:2] > table.values[2]).all()
    assert any("no zero of its own" in note.en for note in table.notes)


def test_every_map_of_a_text_is_offered(model):
    methods = map_views(vx.capture(model, worded_cases(1, 192)[0].image, fit="squash"))
    assert {"attn_lrp", METHOD, "text_map:method=legrad"} <= set(methods)
    assert "text_map:method=proxyclip" not in methods


def test_a_protocol_of_answers_is_refused(model):
    with pytest.raises(UnsupportedError, match="a cosine for each text"):
        vx.evaluate(model, [METHOD], protocols=["road"])
    with pytest.raises(UnsupportedError, match="a cosine for each text"):
        vx.evaluate(model, [METHOD], protocols=["road"], data=worded_cases(1, 192))
    assert drawn_kinds(model).keys() == PROTOCOLS.keys() - {"road", "parts"}
