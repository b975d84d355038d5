"""A text taken apart: its words, its denial and a template, of which the model reads each."""

from __future__ import annotations

import pytest

import vitexplorer as vx
from vitexplorer.capturing.capture import Capture
from vitexplorer.models.examples import examples
from vitexplorer.ui.rooms.words.word_by_word import taken_apart


@pytest.fixture(scope="module")
def captured() -> Capture:
    return vx.capture(vx.load_model("scenes_clip"), examples()["scene_red_gear"].path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a red gear", ("a red gear", "red", "gear", "no red gear", "a photo of a red gear")),
        ("gear", ("gear", "no gear", "a photo of gear")),
        (
            "a small red gear left of a blue fish",  # at most three of its words
            (
                *("a small red gear left of a blue fish", "small", "red", "gear"),
                *("no small red gear left of a blue fish", "a photo of a small red gear left of a blue fish"),
            ),
        ),
        ("一个红色的齿轮", ("一个红色的齿轮", "红色", "齿轮", "没有红色的齿轮", "一张照片：一个红色的齿轮")),
        ("a zebra", ()),
    ],
)
def test_a_text_is_taken_apart(captured: Capture, text: str, parts: tuple[str, ...]) -> None:
    assert taken_apart(text, captured) == parts
