"""Room Words: its numbers are those of the views, refused texts are named, and files of vectors open."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.built_parts import built
from tests.helpers.page_pictures import SMALL
from tests.helpers.small_models import picture
from tests.helpers.small_texts import JOINT, SIDE, save_clip, save_siglip
from tests.helpers.waiting import now
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import Settings
from vitexplorer.models.examples import examples
from vitexplorer.quantities.texts.methods import METHODS
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS
from vitexplorer.service.engine import Engine, TimedCapture
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.rooms.words.room import WordsRoom
from vitexplorer.ui.rooms.words.suggested import texts_of_scene, things_of_scene
from vitexplorer.ui.rooms.words.text_board import TextBoardData
from vitexplorer.ui.rooms.words.text_maps import LONGEST, MOST
from vitexplorer.ui.rooms.words.truth import worded_scene
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext

TEXTS = ["a red gear", "the background", "a cat"]
ADDRESS = Address(model="small_clip", image="scene_gear")


def room_with(captured: Capture, address: Address = ADDRESS) -> WordsRoom:
    engine = Engine(Settings())
    engine._captures.put(address.picture, TimedCapture(captured, 0.1))
    return built(WordsRoom(RoomContext(engine, Translations(), gr.State(address))))


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    folder = tmp_path_factory.mktemp("clip")
    save_clip(folder)
    return vx.capture(vx.load_model(folder, device="cpu"), picture(SIDE, SIDE))


@pytest.fixture(scope="module")
def room(captured: Capture) -> WordsRoom:
    return room_with(captured)


def answered(room: WordsRoom, address: Address = ADDRESS, **sent: object) -> TextBoardData:
    return now(room.ask(gr.EventData(None, {"asked": 1, **sent}), address, ()))[room.board]


def further(room: WordsRoom, method: str, texts: tuple[str, ...]) -> TextBoardData:
    return now(room.further(gr.EventData(None, {"asked": 2, "what": method}), ADDRESS, texts))[room.board]


def numbers_of(data: TextBoardData) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return maps and best texts by method, read as the browser reads them."""
    shape = (len(data.counted), len(data.texts), data.rows, data.cols)
    content = data.numbers.path.read_bytes()
    maps = np.frombuffer(content, "<f4", count=int(np.prod(shape))).reshape(shape)
    best = np.frombuffer(content, np.uint8, offset=maps.nbytes).reshape(shape[0], *shape[2:])
    return dict(zip(data.counted, maps, strict=True)), dict(zip(data.counted, best, strict=True))


def test_the_numbers_are_those_of_the_views(room: WordsRoom, captured: Capture) -> None:
    assert answered(room, texts=TEXTS).counted == ["naclip"]  # the others follow one by one
    methods = [item.key for item in answered(room, texts=TEXTS).methods]
    for method in methods:
        data = further(room, method, tuple(TEXTS))
        maps, best = numbers_of(data)
        beside = {"texts": TEXTS} if method == "text_decomposition" else {}
        for at, text in enumerate(TEXTS):
            values = vx.compute("text_map", captured, text=text, method=method, **beside).values
            np.testing.assert_allclose(maps[method][at], values, rtol=1e-4, atol=1e-6)
        whole = vx.compute("text_segmentation", captured, texts=TEXTS, method=method)
        np.testing.assert_array_equal(best[method], whole.values)
    data = answered(room, texts=TEXTS)
    assert data.counted == [key for key in methods if METHODS[key].scores is None]  # all are in memory now
    scores = vx.compute("text_scores", captured, texts=TEXTS)
    assert data.cosines == scores.values.tolist()
    np.testing.assert_array_equal(data.shares, scores.answers)
    assert data.how == scores.how.en


def test_methods_without_a_meaning_are_named_with_their_reason(room: WordsRoom) -> None:
    data = answered(room, texts=TEXTS)
    assert {item.title for item in data.senseless} == {
        *("dino.txt", "The wrong half"),
        *("ProxyCLIP", "Pooling of one patch"),
    }
    assert all(item.why.endswith(".") for item in data.senseless)
    assert len(data.methods) + len(data.senseless) == len(METHODS)


def test_one_text_has_no_share(room: WordsRoom) -> None:
    data = answered(room, texts=["a cat"])
    assert data.shares == [None]
    assert "softmax over one text is 1" in data.how


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("   ", "must not be empty"),
        ("x" * (LONGEST + 1), "characters"),
        ("cat " * 50, "tokens"),
        ("a\x00cat", "control characters"),
        ("\ud800", "control characters"),
    ],
)
def test_a_bad_text_gets_a_sentence(room: WordsRoom, text: str, reason: str) -> None:
    data = answered(room, texts=["a cat", text])
    assert list(data.refused) == ["1"]
    assert reason in data.refused["1"]
    assert data.numbers is None


@pytest.mark.parametrize("text", ["🦄🦄", "مرحبا بالعالم", "<img src=x onerror=alert(1)>", "‮reversed", "{text}"])
def test_an_odd_text_is_a_text(room: WordsRoom, text: str) -> None:
    data = answered(room, texts=[text, "a cat", "a cat"])
    assert (data.texts, data.refused) == ([text, "a cat"], {})


def test_a_link_names_texts_and_method(room: WordsRoom) -> None:
    address = Address.read({"texts": "a cat;a gear; ", "text": "2", "method": "gem", "room": "words"})
    address = Address(**{**address.parameters(), "model": ADDRESS.model, "image": ADDRESS.image, "size": ""})
    updates = now(room.enter("words", address, None, ()))
    data = updates[room.board]
    assert (data.texts, data.text, data.method) == (["a cat", "a gear"], "2", "gem")
    assert updates[room.texts] == ("a cat", "a gear")
    assert "text='{text}', method='{method}'" in data.python
    assert "text_segmentation" in data.python_all


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_model_without_texts_says_so(language: str) -> None:
    engine = Engine(Settings())
    address = Address(model=SMALL.model, image=SMALL.image, weights="random", language=language)
    room = built(WordsRoom(RoomContext(engine, Translations(), gr.State(address))))
    data = now(room.enter("words", address, None, ("a cat",)))[room.board]
    assert data.rows == 0
    assert [offer.address["model"] for offer in data.offers] == ["scenes_clip", "scenes_captioner"]
    assert (
        data.offers[0].title
        == {"en": "Type texts: open CLIP (drawn scenes)", "zh": "输入文字：打开 CLIP（合成场景）"}[language]
    )
    assert {"en": "reads no texts", "zh": "不能读取文字"}[language] in data.reading
    assert "192" in data.vectors


def test_a_file_of_vectors_needs_no_text_half(tmp_path: Path) -> None:
    folder, file = tmp_path / "clip", tmp_path / "texts.safetensors"
    save_clip(folder, tokenizer=False)
    captured = vx.capture(vx.load_model(folder, device="cpu"), picture(SIDE, SIDE))
    room = room_with(captured)
    vectors = np.random.default_rng(0).standard_normal((MOST + 2, JOINT))
    names = [f"text {number}" for number in range(MOST + 2)]
    vx.save_texts(file, names, vectors)
    data = answered(room, files=[str(file)])
    assert (data.texts, data.reads) == (names[:MOST], False)
    assert data.notice == f"The file has {MOST + 2} texts; the first {MOST} are used."
    assert "vx.load_texts" in data.python
    value = vx.compute("text_map", captured, text=vectors[1], method="naclip").values
    np.testing.assert_allclose(numbers_of(data)[0]["naclip"][1], value, atol=1e-6)
    vx.save_texts(file, names, vectors[:, 1:])
    assert "both must come from one model" in answered(room, files=[str(file)]).refused["-1"]
    file.write_bytes(b"no file")
    assert answered(room, files=[str(file)]).refused["-1"].endswith(".")


def test_a_siglip_has_a_sigmoid_and_its_own_method(tmp_path: Path) -> None:
    save_siglip(tmp_path)
    address = Address(model="small_siglip", image="scene_gear")
    room = room_with(vx.capture(vx.load_model(tmp_path, device="cpu"), picture(SIDE, SIDE)), address)
    data = answered(room, address, texts=["a cat"])
    assert "sigmoid" in data.how
    assert data.shares[0] is not None
    assert "siglip_pooling" in [item.key for item in data.methods]
    assert "bimodal" not in [item.key for item in data.methods]


def test_a_drawn_scene_suggests_what_is_true_of_it_and_one_text_that_is_not():
    image = examples()["scene_red_gear"].hash
    assert things_of_scene(image) == (("a red gear", "一个红色的齿轮"), ("a green ring", "一个绿色的圆环"))
    assert texts_of_scene(image)[2:] == (("red", "红色"), ("gear", "齿轮"), ("a mug", "一个杯子"))
    plain = examples()["scene_gear"].hash
    assert things_of_scene(plain) == (("a gear", "一个齿轮"),)
    assert texts_of_scene(plain) == (("a gear", "一个齿轮"), ("a mug", "一个杯子"))
    assert things_of_scene(examples()["chelsea"].hash) == texts_of_scene("") == ()


def test_the_examples_name_the_things_that_are_drawn():
    for example in examples().values():
        if scene := worded_scene(example.hash):
            drawn = [(LABEL_NAMES[thing.shape], COLOURS[thing.colour]) for thing in scene.things]
            assert list(zip(example.labels, example.colours, strict=True)) == drawn
