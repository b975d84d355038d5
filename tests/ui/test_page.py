"""The page without a browser: caches, addresses, languages, and what every event answers."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import PIL.Image
import pytest

import vitexplorer as vx
from tests.helpers.app import Steps
from tests.helpers.attention_payload import BROWSER, fetched, unpack_attention
from tests.helpers.built_parts import built
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.waiting import now
from vitexplorer.core.cache import BytesCache, Memory
from vitexplorer.core.settings import ASSETS, Settings
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.core.types import Query
from vitexplorer.models import images
from vitexplorer.models.catalog import catalog, find
from vitexplorer.service.engine import Engine, Explored, Picture, weights_of
from vitexplorer.service.image_store import examples, keep_upload, open_image
from vitexplorer.service.jobs import Waiting, following
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.block_data import block_data, default_query, row_file
from vitexplorer.ui.canvas.canvas import CanvasData, Strip
from vitexplorer.ui.canvas.files import block_address, packed_block, size
from vitexplorer.ui.canvas.payload import packed_bytes
from vitexplorer.ui.kit.language import LanguageMiddleware, Translations, language_of, with_language
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.page import ROOMS, Page
from vitexplorer.ui.panel.room_figures import Question, RoomFigures
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.rooms.finetune.room import FinetuneRoom
from vitexplorer.ui.rooms.flow.room import FlowRoom, rollout_data
from vitexplorer.ui.rooms.patches.room import PatchesRoom
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.data import SizeData
from vitexplorer.ui.rooms.size.room import SizeRoom
from vitexplorer.ui.rooms.what_if.room import WhatIfRoom
from vitexplorer.ui.shell.address import Address, ShownView
from vitexplorer.ui.shell.exploring import exploring, ready
from vitexplorer.ui.shell.model_menu import model_chip
from vitexplorer.ui.shell.room_context import Desk, Updates
from vitexplorer.ui.shell.room_sign import next_button
from vitexplorer.ui.shell.status import StatusData
from vitexplorer.ui.shell.visit import Visit
from vitexplorer.views import VIEWS

SMALL = Picture("scene_flower", "vit_tiny_patch16_224", "random")
SWIN = Picture("scene_flower", "swin_tiny_patch4_window7_224", "random")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Settings())


# ---------------------------------------------------------------------------------------------- cache


def test_the_cache_lets_go_of_what_was_not_used_for_longest() -> None:
    cache: BytesCache[str, int] = BytesCache(10, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 4)
    assert cache.get("a") == 4
    cache.put("c", 4)
    assert cache.get("b") is None
    assert (cache.get("a"), cache.get("c"), cache.nbytes) == (4, 4, 8)


def test_the_cache_keeps_the_newest_however_large() -> None:
    cache: BytesCache[str, int] = BytesCache(10, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 400)
    assert (cache.get("a"), cache.get("b")) == (None, 400)


def test_caches_of_one_memory_make_room_for_each_other() -> None:
    memory = Memory(10)
    texts: BytesCache[str, str] = BytesCache(memory, len)
    sizes: BytesCache[str, int] = BytesCache(memory, lambda size: size)
    texts.put("same key", "abcd")
    sizes.put("same key", 4)
    assert (texts.get("same key"), sizes.get("same key"), memory.nbytes) == ("abcd", 4, 8)
    sizes.put("same key", 5)
    texts.put("new", "ab")  # "abcd" was used before sizes' value was written anew
    assert (texts.get("same key"), sizes.get("same key"), memory.nbytes) == (None, 5, 7)
    assert [(len(cache), cache.nbytes) for cache in (texts, sizes)] == [(1, 2), (1, 5)]


def test_what_is_claimed_counts_until_it_is_let_go() -> None:
    memory = Memory(10)
    cache: BytesCache[str, int] = BytesCache(memory, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 4)
    with memory.claimed(6):
        assert (cache.get("a"), cache.get("b"), memory.nbytes) == (None, 4, 10)
    assert memory.nbytes == 4


# ---------------------------------------------------------------------------------------------- address and language


def test_an_address_takes_what_makes_sense_and_defaults_for_the_rest() -> None:
    address = Address.read(
        {"model": "vit_tiny_patch16_224", "image": "scene_ring", "block": "7", "head": "x; rm", "room": "../cellar"}
    )
    assert (address.model, address.image, address.block) == ("vit_tiny_patch16_224", "scene_ring", "7")
    assert (address.head, address.room) == ("", "attention")


@pytest.mark.parametrize(
    ("said", "size", "python"),
    [
        ({"size": "96"}, "96", 'fit="crop", size=96)'),
        ({"size": "96x128", "fit": "squash"}, "96x128", 'fit="squash", size=(96, 128))'),
        ({"size": "96", "fit": "native"}, "", 'fit="native")'),
        ({"size": "96;"}, "", 'fit="crop")'),
    ],
)
def test_an_address_has_a_size_and_python_says_it(engine: Engine, said: dict[str, str], size: str, python: str) -> None:
    address = Address.read({"model": "vit_tiny_patch16_224", **said})
    assert address.picture.size == size
    desk = Desk(engine, Translations(), gr.State(address), gr.State("en"))
    assert python in desk.python_lines(address, "attention_map")


def test_sizes_are_offered_with_their_cost_once(engine: Engine) -> None:
    costs = now(engine.size_choices(SMALL.model, SMALL.weights))
    assert [cost.size[0] for cost in costs] == [224, 336, 448, 672]
    assert now(engine.size_choices(SMALL.model, SMALL.weights)) is costs


def test_each_size_has_a_run_of_its_own(engine: Engine) -> None:
    large = now(engine.capture(replace(SMALL, size="32")))
    assert large.provenance.input_size == (32, 32)
    assert now(engine.capture(SMALL)).provenance.input_size == (224, 224)
    assert large.model.module is now(engine.capture(SMALL)).model.module
    assert weights_of(large.model) == 0


@pytest.mark.parametrize("image", ["../../etc/passwd", "upload-zz", "<script>", ""])
def test_an_address_names_images_only(image: str) -> None:
    assert Address.read({"image": image}) == Address.read({})


def test_what_an_address_does_not_name_is_what_the_page_shows_first() -> None:
    first = Address.read({})
    assert (first.model, first.size, first.image) == ("scenes_dino_patch16_192", "384", "scene_gear")
    assert Address.read({"image": "scene_ring", "room": "flow"}) == replace(first, image="scene_ring", room="flow")
    assert Address.read({"model": SMALL.model}) == Address(model=SMALL.model, image=first.image)


def test_a_link_with_a_room_s_former_name_opens_it() -> None:
    assert Address.read({"room": "survey"}).room == "folder"
    assert ShownView.read('{"search": "?room=survey&v.survey=pets", "theme": "light"}').room == "folder"


def test_an_empty_address_is_a_bundled_model_on_a_bundled_image() -> None:
    address = Address.read({})
    assert next(entry for entry in catalog() if entry.name == address.model).bundled
    assert address.image in examples()


@pytest.mark.parametrize(
    ("query", "accept", "language"),
    [
        ("lang=zh", "en", "zh"),
        ("lang=en", "zh-CN", "en"),
        ("", "zh-CN,en;q=0.5", "zh"),
        ("lang=xx", "zh", "en"),
        ("", "", "en"),
    ],
)
def test_the_address_decides_the_language_before_the_browser(query: str, accept: str, language: str) -> None:
    assert language_of(query, accept) == language


def test_a_page_carries_its_language_and_is_made_once_for_all_who_reach_it_under_one_name() -> None:
    made = []

    async def app(scope, receive, send):
        made.append(scope)
        headers = [(b"content-type", b"text/html"), (b"content-length", b"26")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<html><head>", "more_body": True})
        await send({"type": "http.response.body", "body": "</head>图</html>".encode()})

    pages = LanguageMiddleware(app)

    def fetched(query: bytes, host: bytes) -> bytes:
        sent: list[dict] = []

        async def send(message: dict) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "headers": [(b"host", host)]}
        now(pages({**scope, "query_string": query}, None, send))
        start, body = sent
        assert len(start["headers"]) == 4
        start["headers"].append((b"x-of", b"one visitor"))
        assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
        return body["body"]

    chinese = fetched(b"lang=zh", b"a")
    assert b'<html lang="zh-CN">' in chinese
    assert fetched(b"lang=zh&room=flow", b"a") == chinese
    assert len(made) == 1
    assert fetched(b"", b"a") != chinese == fetched(b"lang=zh", b"b")
    assert len(made) == 3


def test_only_pages_are_rewritten() -> None:
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b"<html><head>"})

    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "query_string": b"lang=zh", "headers": []}
    now(LanguageMiddleware(app)(scope, None, send))
    assert sent[1]["body"] == b"<html><head>"


def test_the_language_cannot_carry_a_script() -> None:
    assert language_of("lang=%27%3C/script%3E", "") == "en"
    assert with_language("<html><head>", "en").count("</script>") == 1


# ---------------------------------------------------------------------------------------------- the engine


def test_an_image_and_a_model_run_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first = now(engine.explore(SMALL))
    monkeypatch.setattr(Engine, "_run", lambda *_: pytest.fail("the network ran again"))
    assert now(engine.explore(SMALL)) is first
    block_data(first.capture, 3, "en")
    rollout_data(first.capture, {**ROLLOUT, "head_fusion": "max", "discard_ratio": 0.3, "start_block": 0}, "zh")
    for view in ("attention_map", "head_gallery", "attention_rollout"):
        vx.compute(view, first.capture)


def test_each_fit_has_a_run_of_its_own(engine: Engine) -> None:
    runs = [now(engine.explore(replace(SMALL, fit=fit))).capture for fit in ("crop", "squash", "crop")]
    assert [run.input.fit for run in runs] == ["crop", "squash", "crop"]
    assert runs[0] is runs[2]


def test_many_visitors_share_one_run() -> None:
    engine, runs = Engine(Settings()), []
    real = engine._run
    engine._run = lambda *arguments: (runs.append(1), real(*arguments))[1]
    threads = [threading.Thread(target=lambda: now(engine.explore(SMALL))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1


def test_what_an_installation_forbids_is_said() -> None:
    closed = Engine(Settings(any_model=False, downloads=False))
    with pytest.raises(ExplainedError, match="listed models only"):
        now(closed.explore(Picture("scene_flower", "vit_tiny_patch16_224_of_mine")))
    not_bundled = next(entry for entry in catalog() if not entry.bundled)
    with pytest.raises(ExplainedError, match="does not fetch weights"):
        now(closed.explore(Picture("scene_flower", not_bundled.name)))


def test_a_failed_exploration_ends_in_a_sentence(engine: Engine) -> None:
    wrong = Address.read({"model": "vit_tinny_patch16_224", "weights": "random"})
    *_, last = Steps(exploring(engine, "a person", wrong, Address.read({}), "en"))
    assert isinstance(last, StatusData)
    assert last.kind == "error"
    assert "Did you mean" in last.text
    assert "the last good one" in last.text
    *_, last = Steps(exploring(engine, "a person", wrong, Address(), "zh"))  # nothing is on the screen yet
    assert "您是指" in last.text
    assert "上一次" not in last.text


@pytest.mark.parametrize("size", ["100", "1", "100000", "0", "3x900000000"])
def test_a_link_with_an_impossible_size_shows_the_models_own_and_says_so(engine: Engine, size: str) -> None:
    odd = Address.read({"model": SMALL.model, "image": SMALL.image, "weights": "random", "size": size})
    kept = now(engine.explore(SMALL))
    *_, instead, explored = Steps(exploring(engine, "a person", odd, Address(), "en"))
    assert instead.address == replace(odd, size="")
    assert explored is kept
    assert "Nearest: " in ready(explored, instead.address, "en", instead.why).hint
    *_, last = Steps(exploring(engine, "a person", odd, instead.address, "en"))  # what is on the screen stays
    assert last.kind == "error"


def test_what_is_kept_is_shown_while_somebody_else_has_the_turn(engine: Engine) -> None:
    explored, address = now(engine.explore(SMALL)), Address(model=SMALL.model, image=SMALL.image, weights="random")
    ended = threading.Event()
    busy = Steps(following(Waiting("another"), engine.short.run("busy", lambda report: ended.wait(5))))
    next(busy)
    assert list(Steps(exploring(engine, "a person", address, Address(), "en"))) == [explored]
    ended.set()
    list(busy)


def test_a_photograph_before_a_model_of_drawn_scenes_is_met_with_a_hint(engine: Engine) -> None:
    address = Address.read({"model": "scenes_vit_patch16_192", "image": "chelsea"})
    said = ready(now(engine.explore(address.picture)), address, "en")
    assert "knows photographs" in said.hint
    assert find(said.hint_model) is not None
    scene = replace(address, image="scene_fish")
    said = ready(now(engine.explore(scene.picture)), scene, "en")
    assert (said.hint, said.answer) == ("", "fish 92 %")


def test_an_unforeseen_error_is_logged_and_not_shown(engine: Engine, monkeypatch, caplog) -> None:
    monkeypatch.setattr(engine, "explore", lambda *_: 1 / len(""))
    *_, last = Steps(exploring(engine, "a person", Address.read({}), Address(), "en"))
    assert last.kind == "error"
    assert "division" not in last.text
    assert "division" in caplog.text


# ---------------------------------------------------------------------------------------------- images


@pytest.fixture(scope="module")
def visit(engine: Engine) -> Visit:
    """The frame of a whole page."""
    page = Page(Settings(), Desk(engine, Translations(), gr.State(Address()), gr.State("en"), visitor=gr.State("")))

    async def build() -> None:  # gradio leaves a loop open where none is running
        with gr.Blocks(analytics_enabled=False) as blocks:
            page.build(blocks)

    now(build())
    return page.visit


def test_a_link_to_a_room_that_is_not_here_opens_the_first(visit: Visit) -> None:
    for query, room in (("room=cellar", "attention"), ("room=flow", "flow"), ("room=survey", "folder")):
        went = visit.go(gr.EventData(None, {"query": query}), Address(), "en")
        assert (went[visit.wanted].room, went[visit.rail].room) == (room, room)


def test_an_upload_is_kept_by_its_content(tmp_path) -> None:
    path = tmp_path / "a.png"
    pixels = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    PIL.Image.fromarray(pixels).save(path)
    image = keep_upload(str(path))
    np.testing.assert_array_equal(open_image(image).pixels, pixels)
    with pytest.raises(ExplainedError, match="no longer here"):
        open_image("upload-" + 64 * "0")


def test_an_upload_is_opened_and_hashed_once(tmp_path, monkeypatch) -> None:
    path, read, hashed = tmp_path / "a.png", [], []
    PIL.Image.effect_noise((40, 30), 50).convert("RGB").save(path)
    for name, asked in (("open_image", read), ("image_hash", hashed)):
        real = getattr(images, name)
        monkeypatch.setattr(images, name, lambda it, real=real, asked=asked, **to: asked.append(it) or real(it, **to))
    engine = Engine(Settings())
    image = keep_upload(str(path))
    captures = [now(engine.explore(Picture(image, SMALL.model, "random", fit))).capture for fit in ("crop", "squash")]
    assert (read, len(hashed)) == ([str(path)], 1)
    assert {"upload-" + capture.provenance.image_hash for capture in captures} == {image}


@pytest.mark.parametrize(
    ("sent", "changes"),
    [
        ({"image": "scene_ring"}, {"image": "scene_ring", "query": ""}),
        ({"model": "vit_tiny_patch16_224"}, {"model": "vit_tiny_patch16_224", "block": "", "head": "", "query": ""}),
        ({"weights": "random"}, {"weights": "random"}),
        ({"fit": "pad"}, {"fit": "pad", "query": ""}),
    ],
)
def test_a_choice_changes_what_it_names_and_what_then_begins_anew(visit: Visit, sent, changes) -> None:
    before = Address(image="scene_fish", model=SMALL.model, block="3", head="1", query="2,2")
    chosen = visit.choose(gr.EventData(None, sent), before, "en")
    assert chosen[visit.wanted] == replace(before, **changes)
    assert chosen[visit.model].name == chosen[visit.wanted].model


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"room": 3},
        {"image": "../secret"},
        {"model": "a b"},
        {"cellar": "x"},
        {"fit": "x", "image": "y"},
    ],
)
def test_a_choice_that_is_none_changes_nothing(visit: Visit, sent) -> None:
    assert visit.choose(gr.EventData(None, sent), Address(image="scene_fish"), "en") == gr.skip()


@pytest.mark.parametrize(("size", "is_own"), [("", False), ("224", True), ("224x224", True), ("192", False)])
def test_the_models_own_size_is_no_other_picture(engine: Engine, size: str, is_own: bool) -> None:
    assert not engine.is_own_size(replace(SMALL, model="never loaded", size=size))
    now(engine.model(SMALL.model, SMALL.weights))
    assert engine.is_own_size(replace(SMALL, size=size)) == is_own


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_is_in_memory_comes_with_the_choice(engine: Engine, monkeypatch, is_kept: bool) -> None:
    page = Page(Settings(), Desk(engine, Translations(), gr.State(), gr.State()))
    page.visit = SimpleNamespace(wanted="wanted")

    async def explore(*_: Any) -> AsyncGenerator[Updates, None]:
        for said in ("running", "filled"):
            yield {"rooms": said}

    async def told() -> list[Updates]:
        wanted = Address(model=SMALL.model, weights=SMALL.weights, size="224")
        chosen = page._chosen({"wanted": wanted}, Address(), "en", gr.Request())
        return [updates async for updates in chosen]

    monkeypatch.setattr(page, "explore", explore)
    monkeypatch.setattr(engine, "kept", lambda _: is_kept or None)
    now(engine.model(SMALL.model, SMALL.weights))
    said = now(told())
    assert said[0]["wanted"].size == ""
    assert [*map(sorted, said)] == ([["rooms", "wanted"], ["rooms"]] if is_kept else [["wanted"], ["rooms"], ["rooms"]])


# ---------------------------------------------------------------------------------------------- rooms


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.key)
def test_a_room_has_the_name_of_its_folder_and_says_what_it_shows(room: type[Room]) -> None:
    assert room.__module__ == f"vitexplorer.ui.rooms.{room.key}.room"
    assert room.title.en
    assert room.invitation.en
    assert re.fullmatch(r"[MAa-zHVLhvlczZ\d. -]+", room.icon)
    assert room.__doc__.splitlines()[0].endswith(".")


def test_every_view_stands_in_a_room() -> None:
    assert {view.room for view in vx.views().values()} <= {room.key for room in ROOMS}


def test_where_nothing_may_be_trained_no_room_leads_to_fine_tuning(engine: Engine) -> None:
    page = Page(Settings(trainings=0), Desk(engine, Translations(), gr.State(), gr.State()))
    assert FinetuneRoom not in page.desk.rooms
    assert next_button(page.desk.rooms, "compare", "en")["next_room"] == "folder"
    assert next_button(page.desk.rooms, "folder", "en") == {"next": "", "next_room": ""}


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
    for wrong in (f"{capture.depth}", "-1", "x"):
        assert BROWSER.get(strip.blocks[2].attention.url[1:-1] + wrong).status_code == 404
    assert BROWSER.get("/attention/somebody/0").status_code == 404
    monkeypatch.setattr("vitexplorer.ui.canvas.block_data.FETCHED_AHEAD", size(capture, 0) - 1)
    assert not any(facts.ahead for facts in strip_of(capture, 0, "cls", "en").blocks)


def test_the_files_of_a_capture_go_with_it() -> None:
    capture = vx.capture(load_small("vit"), picture(64, 64))
    address = block_address(capture, 0)
    assert BROWSER.get(address.url[1:]).status_code == 200
    del capture
    gc.collect()
    assert BROWSER.get(address.url[1:]).status_code == 404


@pytest.mark.parametrize("query", ["cls", "mean", (3, 5)])
def test_a_single_row_travels_as_it_is(engine: Engine, query) -> None:
    capture = now(engine.capture(SMALL))
    with open(row_file(capture, 2, query).path, "rb") as file:
        weights, positions, _ = unpack_attention(file.read())
    truth = vx.compute("head_gallery", capture, block=2, query=query)
    shown = weights[0, :, 0, positions[0] >= 0].T.reshape(truth.values.shape)
    np.testing.assert_allclose(shown, truth.values, atol=truth.values.max() / 509)


def rows_of(strip: Strip) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The rows of a strip, block by block: weights, keys, queries."""
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
        wanted = asked[facts.block] if asked else query
        if (
            wanted == (5, 13) and facts.block
        ):  # the patch at the same place: half as many rows and columns in each stage
            ratio = capture.grid(facts.block).patch_size // capture.grid(0).patch_size
            wanted = (5 // ratio, 13 // ratio)
        truth = vx.compute("head_gallery", capture, block=facts.block, query=wanted).values
        shown = weights[0, :, 0, keys[0] >= 0].T.reshape(truth.shape)
        np.testing.assert_allclose(shown, truth, atol=np.ptp([0, *weights.ravel()]) / 509)


def test_a_strip_that_is_too_much_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vitexplorer.ui.canvas.all_heads.MOST_WEIGHTS", 1e3)
    assert strip_of(capture_small("vit"), 0, "mean", "en") is None
    assert strip_of(capture_small("vit"), 0, "cls", "en") is not None


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
        shown = vx.compute("head_gallery", capture, block=block, query=query)
        patches = row[0, :, 0, at[0] >= 0].T.reshape(shown.values.shape)
        np.testing.assert_allclose(patches, shown.values, atol=np.ptp([0, *row.ravel()]) / 509)
        assert (at < 0).sum() == len(shown.prefix_names)


ROLLOUT = {"query": "mean", "head_fusion": "mean", "discard_ratio": 0.0}


def made(room: type[Room], engine: Engine) -> Room:
    return built(room(Desk(engine, Translations(), gr.State(Address()), gr.State("en"))))


def engine_with(case: str) -> tuple[Engine, Address]:
    """An engine that holds the capture of a small model, and the address of it."""
    engine, address = Engine(Settings()), Address(model=case, image="scene_flower", weights="random")
    engine._captures.put(address.picture, Explored(capture_case(case), 0.1))
    return engine, address


def test_a_query_that_does_not_look_in_a_block_is_not_in_the_lines_of_python() -> None:
    engine, address = engine_with("cait")
    room = made(AttentionRoom, engine)
    filled = room.fill(now(engine.explore(address.picture)), replace(address, query="1,2"), "en")
    data = filled[room.canvas]
    assert (data.block, data.silent, data.query) == (3, ["patches"], "1,2")  # the canvas says that it does not look
    assert "block=3, head='mean', query='cls'" in data.python

    def first_block(**sent: object) -> CanvasData:
        event = {"block": 3, "head": "mean", "query": "1,2", "to": 0, "asked": 5, **sent}
        return now(room.show_block(gr.EventData(None, event), address, "en"))[room.canvas]

    other = first_block()
    assert (other.silent, other.asked) == (["cls"], 5)
    assert "block=0, head='mean', query=(1, 2)" in other.python
    assert "block=0, head=1, query='mean'" in first_block(head="1", query="cls").python


@pytest.mark.parametrize(
    ("room", "view", "filled"),
    [
        (PatchesRoom, "patch_grid", "board"),
        (FlowRoom, "attention_rollout", "canvas"),
    ],
)
def test_a_room_says_why_it_has_no_picture_of_a_model(room: type[Room], view: str, filled: str) -> None:
    engine, address = engine_with("pvt_v2")
    here = made(room, engine)

    def entered(address: Address, language: Language) -> Updates:
        answer = here.fill(now(engine.explore(address.picture)), address, language)
        if room is FlowRoom:
            answer |= now(here.enter("flow", address, None, language))
            assert answer.pop(here.filled) == address
        return answer

    for language, said in (("en", "only the attention of single blocks"), ("zh", "只能显示单个块的注意力")):
        refused = entered(address, language)
        sentence, column = (refused[part] for part in here.own.components)
        assert VIEWS[view].question.in_(language) in sentence.value
        assert said in sentence.value
        assert (sentence.visible, column.visible) == (True, False)
        assert len(refused) == 2  # whatever else is there keeps what it has
    now(engine.explore(SMALL))
    shown = entered(Address(model=SMALL.model, image=SMALL.image, weights="random"), "en")
    assert [shown[part].visible for part in here.own.components] == [False, True]
    assert set(shown) == {*here.own.components, *(getattr(here, part) for part in filled.split())}


@pytest.mark.parametrize("room", ["attention", "flow", "tokens", "outputs", "positions", "size"])
def test_every_view_of_a_room_is_refused_in_a_sentence(room: str) -> None:
    engine, address = engine_with("pvt_v2")
    panel = RoomFigures(Desk(engine, Translations(), gr.State(), gr.State()), room)
    for view in panel.views():
        data = now(panel._show(Question(view), address, "en"))
        assert bool(data.refused) != VIEWS[view].any_family, view
        assert not data.refused or "only the attention of single blocks" in data.refused


def test_parameters_are_counted_for_every_family() -> None:
    engine, address = engine_with("pvt_v2")
    capture = now(engine.capture(address.picture))
    data = now(made(SizeRoom, engine).enter("size", address, None, "en"))
    board = next(value for value in data.values() if isinstance(value, SizeData))
    parts = board.tables[0]
    assert [row.name for row in parts.rows][:3] == ["patch embedding", "stages.0", "stages.1"]
    assert parts.total == board.total.counted == sum(one.numel() for one in capture.model.module.parameters())
    assert board.total.exact is board.total.rough is board.total.macs is None
    assert board.notes[0].startswith("No closed formula")
    assert 'vx.compute("parameters"' in board.python


def test_changes_of_the_pixels_are_possible_where_only_attention_is_stated() -> None:
    engine, address = engine_with("pvt_v2")
    room = made(WhatIfRoom, engine)
    entered = now(room.enter("what_if", address, Address(), None, "en"))
    assert not entered[room.picker].refused
    assert entered[room.stage.left].attention != entered[room.stage.right].attention
    refused = {item.key for item in entered[room.picker].items if item.refused}
    assert refused == {"positions", "temperature", "top_k", "heads_off", "registers"}


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


def test_the_menu_lists_every_model_with_its_state() -> None:
    chip = model_chip(Address(model=SMALL.model), "zh", Settings(downloads=False))
    states = {item.name: item.state for item in chip.models}
    assert set(states) == {entry.name for entry in catalog()}
    assert all(re.search("内置|已在本机|无法获取", state) for state in states.values())
    assert chip.title == SMALL.model, "of a model that is not listed its name is all there is"


def test_examples_have_licences_and_files() -> None:
    assert len(examples()) >= 6
    for example in examples().values():
        assert example.path.is_relative_to(ASSETS)
        assert example.path.is_file()
        assert example.licence
        assert example.source


def test_a_widget_leaves_no_file_beside_its_source() -> None:
    class Drawn(Widget):
        stem = "drawn"

    assert issubclass(Drawn, gr.HTML)
    assert not Path(__file__).with_suffix(".pyi").exists()
