"""Room Compare without a browser: both sides follow the address, matched by place and by share of depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gradio as gr
import numpy as np
import pytest

from tests.helpers.app import Steps
from tests.helpers.built_parts import built
from tests.helpers.reference_places import slow_place
from tests.helpers.small_models import load_small, picture
from tests.helpers.waiting import now
from vitexplorer.capturing.capture import capture
from vitexplorer.comparisons import compare
from vitexplorer.comparisons.network import ONE_BASIS, OTHER_WEIGHTS, OWN_BASES
from vitexplorer.core.settings import Settings
from vitexplorer.interventions import intervene
from vitexplorer.models.catalog import catalog
from vitexplorer.models.examples import examples
from vitexplorer.quantities.places import matched, placed
from vitexplorer.quantities.stream_colours import stream_colours
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.panel.room_figures import Question
from vitexplorer.ui.rooms.compare.room import CompareRoom
from vitexplorer.ui.rooms.compare.sides import DEIT, chosen
from vitexplorer.ui.shell.address import COMPARED, Address
from vitexplorer.ui.shell.room_context import RoomContext

VIT, SWIN, DINO = "scenes_vit_patch16_192", "scenes_swin_patch4_window6_192", "scenes_dino_patch16_192"
HERE = Address(image="scene_flower", model=VIT, room="compare")


@pytest.fixture(scope="module")
def room() -> CompareRoom:
    context = RoomContext(Engine(Settings()), Translations(), gr.State(), visitor=gr.State())
    return built(CompareRoom(context))


def event(target: object = None, **data: object) -> gr.EventData:
    return gr.EventData(target, data)


def last(steps: Iterator) -> dict:
    *_, result = Steps(steps)
    return result


def entered(room: CompareRoom, address: Address = HERE, beside: Address = HERE, current: Address | None = None) -> dict:
    return last(room.enter("compare", address, beside, current, "", gr.Request()))


def test_a_comparison_of_answers_offers_another_model_for_the_side_without_one(room):
    source = now(room.panel.source(replace(HERE, model=DINO, other_model=VIT)))
    offer = source.nearest("answers")
    assert (offer.former, offer.model, offer.changes["model"]) == (DINO, DEIT, DEIT)
    offer = now(room.panel.source(replace(HERE, other_model=DINO))).nearest("answers")
    assert (offer.former, offer.changes["other_model"]) == (DINO, DEIT)
    assert now(room.panel.source(replace(HERE, model=DINO, other_model=DINO))).nearest("answers") is None
    assert now(room.panel.source(replace(HERE, other_model=SWIN))).nearest("shared_pca") is None


# ------------------------------------------------------------------------------------------------ places and depths


@pytest.mark.parametrize(("one", "other"), [("vit", "swin"), ("swin_padded", "vit"), ("dinov3", "vit")])
def test_a_patch_stands_beside_the_one_at_its_place(one, other):
    left, right = (capture(load_small(key), picture(64, 64)) for key in (one, other))
    for block, to in ((0, 0), (left.depth - 1, right.depth - 1)):
        grid = left.grid(block)
        for row in range(grid.rows):
            for col in range(grid.cols):
                there = placed((row, col), (left, block), (right, to))
                assert there == slow_place(row, col, left, block, right, to)


def test_a_token_that_the_other_has_not_is_its_mean():
    vit, swin = (capture(load_small(key), picture(64, 64)) for key in ("vit", "swin"))
    assert placed("cls", (vit, 0), (swin, 0)) == "mean"
    assert placed("cls", (vit, 0), (vit, 1)) == "cls"
    assert placed("mean", (swin, 0), (vit, 0)) == "mean"


def test_blocks_of_unequal_depth_stand_at_the_same_share():
    assert [matched(block, 6, 10) for block in range(6)] == [0, 2, 4, 5, 7, 9]
    assert [matched(block, 12, 12) for block in range(12)] == list(range(12))
    assert (matched(0, 1, 12), matched(5, 12, 1)) == (11, 0)


# ------------------------------------------------------------------------------------------------ the address


def test_the_other_side_is_as_the_left_where_it_says_nothing():
    left = Address(image="scene_fish", model=VIT, size="384", fit="squash", weights="random")
    assert left.other == left.picture
    assert replace(left, other_model=DINO).other == Picture("scene_fish", DINO, "random", "squash", "")
    assert replace(left, other_size="own").other.size == ""
    assert replace(left, other_fit="native", other_size="384").other.size == ""


def test_what_a_url_says_of_the_other_side_is_checked():
    fields = {
        "other_model": DINO,
        "other_image": "scene_ring",
        "other_size": "own",
        "other_change": "top_k:k=4",
        "left_change": "top_k:k=2",
    }
    assert {name: getattr(Address.read(fields), name) for name in fields} == fields
    wrong = {"other_model": "../x", "other_image": "nothing_here", "other_size": "x", "other_weights": "best"}
    assert all(getattr(Address.read(wrong), name) == "" for name in wrong)


# ------------------------------------------------------------------------------------------------ the room


def test_a_neighbour_stands_there_before_the_first_click(room):
    updates = entered(room)
    sides, left, right = (updates[part] for part in (room.sides, *room.stage.canvases))
    assert updates[room.beside].other.model == DINO
    assert (left.link, right.link) == ("compare", "compare")
    assert left.attention.url != right.attention.url
    assert sides.address["other_model"] == DINO
    assert not updates[room.image].takes_drops
    assert updates[room.model].name == DINO
    known = {"ViT beside DINO", "ViT beside Swin", "without and with registers", "192 beside 384 px"}
    assert {one.label for one in sides.presets} >= known
    models = {one.changes[side] for one in sides.presets for side in ("model", "other_model")}
    assert models <= {entry.name for entry in catalog()}


def test_a_link_opens_the_very_comparison(room):
    linked = replace(HERE, other_model=SWIN, block="2", query="11,3", head="1")
    updates = entered(room, linked)
    left, right = (updates[canvas] for canvas in room.stage.canvases)
    assert (left.block, right.block) == (2, 4)
    assert (left.query, left.head, right.head) == ("11,3", "1", "1")
    pair = now(room.pair(updates[room.beside]))
    assert right.query == ",".join(map(str, placed((11, 3), (pair.left, 2), (pair.right, 4))))
    assert any("2 of 0–5" in note for note in updates[room.sides].notes)
    assert any("no class token" in note for note in updates[room.sides].notes)
    again = entered(room, replace(linked, other_block="7"))
    assert again[room.stage.right].block == 7


def test_what_was_chosen_stays_when_the_left_side_is_another(room):
    beside = replace(HERE, other_model=SWIN, other_weights="random")
    other = replace(HERE, image="scene_ring")
    updates = entered(room, other, beside, HERE)
    assert updates[room.beside].other == Picture("scene_ring", SWIN, "random")
    assert "RANDOM" in updates[room.stage.right].warning
    assert "RANDOM" not in updates[room.stage.left].warning


def test_another_right_side_is_chosen(room):
    beside = entered(room, replace(HERE, language="zh"))[room.beside]

    def choose(**data: object) -> dict:
        return last(room.choose(event(**data), beside, (5, 5), "", gr.Request()))

    assert choose(size="384")[room.beside].other == Picture("scene_flower", DINO, size="384")
    changed = choose(change="top_k:k=4")
    assert "更改后的运行" in changed[room.stage.right].warning
    assert changed[room.sides].changes == {"left_change": "", "change": "top_k:k=4"}
    other = choose(left_change="top_k:k=4")
    assert "更改后的运行" in other[room.stage.left].warning
    assert "更改后的运行" not in other[room.stage.right].warning
    assert any("左侧的更改" in note for note in other[room.sides].notes)
    refused = choose(size="385")
    assert set(refused) == {room.sides}
    assert "385" in refused[room.sides].refused


@pytest.mark.parametrize("data", [{}, {"model": "../x"}, {"size": 384}, {"lang": "en"}, {"model": DINO, "size": ""}])
def test_whatever_a_browser_sends_is_checked(data):
    assert chosen(data, HERE) is None


def test_the_two_canvases_move_together(room):
    beside = entered(room, replace(HERE, other_model=SWIN))[room.beside]
    moved = now(room.move(event(room.stage.right, to=4, block=9), beside, (5, 9)))
    assert moved[room.blocks] == (2, 4)
    assert [moved[canvas].block for canvas in room.stage.canvases] == [2, 4]
    assert now(room.move(event(room.stage.left, to=99), beside, (5, 9))) == gr.skip()
    assert now(room.move(event(room.stage.left, query="1,1", block=5), beside, (5, 9))) == gr.skip()


def test_the_sides_are_swapped_by_the_address(room):
    address = replace(HERE, size="384", other_model=SWIN, other_image="scene_ring", left_change="top_k:k=4")
    sides = entered(room, address)[room.sides]
    swapped = Address.read({**sides.swapped, "room": "compare"})
    assert (swapped.picture, swapped.other) == (address.other, address.picture)
    assert (swapped.left_change, swapped.other_change) == ("", "top_k:k=4")
    assert all(name in sides.address for name in COMPARED)


def test_more_pictures_are_named_by_their_ids(room):
    address = replace(HERE, other_model=VIT, other_image="scene_ring", left_change="top_k:k=4")
    figures, named = room.panel, "scene_fish,scene_gear"
    left = now(figures.capture(address))
    result = now(figures.compute(address, left, "shared_pca", {"images": named}))
    more = [intervene(capture(left.model, examples()[one].path), "top_k:k=4") for one in named.split(",")]
    expected = compare("shared_pca", left, now(room.pair(address)).right, images=more)
    np.testing.assert_array_equal(result.values, expected.values)
    lines = figures.python(address, "shared_pca", result.settings)
    assert "images=images)" in lines
    assert 'for file in ("picture_3.png", "picture_4.png",)]' in lines
    data = now(figures._show(Question("shared_pca", {"images": named}), address))
    (field,) = (one for one in data.controls if one.kind == "images")
    assert (data.settings["images"], field.value) == (named, named)
    many = now(figures._show(Question("shared_pca", {"images": "a,b,c,d,e"}), address))
    assert "4 at most" in many.refused


def test_figures_are_of_the_changed_left(room):
    address = replace(HERE, other_model=VIT, left_change="top_k:k=4")
    figures = room.panel
    left = now(figures.capture(address))
    assert left.change is not None
    assert figures.run(address) != figures.run(replace(address, left_change=""))
    expected = compare("maps", left, capture(left.model, examples()["scene_flower"].path))
    np.testing.assert_array_equal(now(figures.compute(address, left, "maps", {})).values, expected.values)
    lines = figures.python(address, "maps", {})
    assert 'left = vx.intervene(left, "top_k:k=4")' in lines
    assert "right = vx.intervene" not in lines


# ------------------------------------------------------------------------------------------------ both networks


def test_both_networks_follow_one_token(room):
    beside = replace(HERE, other_model=SWIN)
    left, right = room.passes.pictures
    both = now(room.follow(event(room.sides), beside))
    assert [(both[side].leads, both[side].link, both[side].query) for side in (left, right)] == [
        (True, "compare", "cls"),
        (False, "compare", "mean"),
    ]
    data = now(room.follow(event(right, query="14,38", whole=True), beside))[right]
    assert (data.query, data.asks, data.question) == ("14,38", False, "Right: Swin (drawn scenes) · 192 px")
    assert data.reading
    assert now(room.follow(event(right, query="99,99"), beside)) == gr.skip()
    assert now(room.follow(event(room.sides), Address())) == gr.skip()


def test_two_runs_of_one_model_have_colours_of_one_basis(room):
    beside, (left, right) = replace(HERE, other_model=VIT, other_size="384"), room.passes.pictures
    both, pair = now(room.follow(event(room.sides), beside)), now(room.pair(beside))
    for side, colours in zip((left, right), stream_colours(pair.left, pair.right), strict=True):
        packed = b"".join(np.rint(255 * each).astype(np.uint8).tobytes() for each in colours)
        assert both[side].colours.path.read_bytes() == packed
        assert both[side].words["hint"].endswith(ONE_BASIS.en)
        assert now(room.follow(event(side, query="1,2"), beside))[side].colours == both[side].colours
    other = now(room.follow(event(room.sides), replace(HERE, other_model=SWIN)))[left]
    assert other.words["hint"].endswith(OWN_BASES.en)
    assert other.colours != both[left].colours
    untrained = replace(HERE, other_model=VIT, other_weights="random")
    assert now(room.follow(event(room.sides), untrained))[left].words["hint"].endswith(OTHER_WEIGHTS.en)


def test_a_refused_comparison_has_no_networks(room, monkeypatch):
    beside = replace(HERE, other_model=SWIN)
    monkeypatch.setattr(now(room.pair(beside)).right.model.family, "shows_tokens", False, raising=False)
    assert now(room.follow(event(room.sides), beside)) == gr.skip()
