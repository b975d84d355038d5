"""Room Words in a browser: texts, the map of each, the best text of each patch, pointing, methods, both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.helpers.app import Visit
from tests.helpers.room_checks import (
    assert_fits,
    assert_is_chinese,
    assert_is_read,
    assert_nothing_went_wrong,
    assert_open_to_all,
    assert_still,
)
from tests.helpers.small_dino_txt import Files
from tests.helpers.small_texts import save_clip

pytestmark = pytest.mark.browser
SIZES = ((1440, 900), (1366, 768), (1920, 1080), (390, 844))
OPEN = """async (path) => {
  localStorage.setItem('vx-visitor', 'a'.repeat(32));
  const headers = {'Content-Type': 'application/octet-stream', 'X-Visitor': 'a'.repeat(32)};
  const answer = await fetch('./model?' + new URLSearchParams({path, lang: 'en'}), {method: 'POST', headers});
  return (await answer.text()).trim().split('\\n').at(-1);
}"""
"""Script that opens a model from a folder of this machine; returns the last line of the answer"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words") / "small_clip"
    save_clip(folder, hidden_size=192, intermediate_size=768, image_size=224, blocks=12)  # of a shape that timm names
    return folder


def opened(visit: Visit, url: str, folder: Path, quick: int = 8, **parameters: str) -> Locator:
    """Open the room with the model of a folder, and wait for the maps of all methods that are quick."""
    visit.page.goto(url)
    model = json.loads(visit.page.evaluate(OPEN, str(folder)))["model"]
    visit.open(url, room="words", model=model, image="scene_gear", **parameters)
    root = visit.page.locator('.vx-words[data-state="ready"]')
    root.wait_for()
    expect(root.locator(".methods canvas")).to_have_count(quick)
    return root


def write(page: Page, root: Locator, number: int, text: str) -> None:
    root.locator(".fields input").nth(number).fill(text)
    page.keyboard.press("Enter")


def test_a_person_compares_texts(visit: Visit, url: str, folder: Path) -> None:
    root, page = opened(visit, url, folder), visit.page
    expect(root.locator(".reading")).to_contain_text("“a gear” points most at row")
    write(page, root, 0, "a red gear")
    expect(root.locator(".reading")).to_contain_text("“a red gear” points most at row")
    root.locator(".all").click()
    expect(root).to_have_attribute("data-text", "all")
    expect(root.locator(".reading")).to_contain_text("Of the patches: “")
    expect(root.locator(".legend li")).to_have_count(2)
    view = root.locator(".view").bounding_box()
    page.mouse.move(view["x"] + 0.6 * view["width"], view["y"] + 0.1 * view["height"])
    expect(root).to_have_attribute("data-patch", "1,8")
    expect(root.locator(".hint")).to_have_text("At row 1, column 8")
    assert all(root.locator(".number").all_inner_texts())
    root.locator(".pick").nth(1).click()
    root.locator('[data-method="gem"]').click()
    expect(root).to_have_attribute("data-method", "gem")
    expect(root.locator(".changes")).to_contain_text("GEM: In the last six blocks")
    root.locator('[data-method="legrad"]').click()
    expect(root).to_have_attribute("data-method", "legrad")
    expect(root.locator(".unit")).to_have_text("cosine per unit of attention")
    link = page.evaluate("Object.fromEntries(new URL(location.href).searchParams)")
    assert (link["texts"], link["text"], link["method"]) == ("a red gear;only the background", "2", "legrad")
    assert "text='only the background', method='legrad'" in root.locator(".python").text_content()
    root.locator(".pick").first.click()
    root.locator(".apart").click()
    expect(root.locator(".fields input")).to_have_count(5)
    root.locator(".pick").nth(3).click()
    expect(root.locator(".beside")).to_contain_text("The maps of “no red gear” and “a red gear” have a correlation of ")
    assert_nothing_went_wrong(page, "words")
    assert_is_read(page, "words")
    assert_open_to_all(page, "words", is_whole=False)


def test_one_text_says_what_its_scale_is(visit: Visit, url: str, folder: Path) -> None:
    root, page = opened(visit, url, folder), visit.page
    root.locator(".drop").nth(1).click()
    expect(root.locator(".note")).to_contain_text("With one text the scale is this map's own range")
    expect(root.locator(".how")).to_contain_text("softmax over one text is 1")
    expect(root.locator(".all")).to_be_disabled()
    write(page, root, 0, "x" * 10_000)
    expect(root.locator(".fields .refused")).to_contain_text("characters")
    write(page, root, 0, "<img src=x onerror=alert(1)> 🦄 مرحبا")
    expect(root.locator(".reading")).to_contain_text("“<img src=x onerror=alert(1)> 🦄 مرحبا”")
    assert_fits(page, "words")


def test_the_chinese_page_has_no_english(visit: Visit, url: str, folder: Path) -> None:
    root, page = opened(visit, url, folder, lang="zh", texts="红色齿轮;背景", method="raw"), visit.page
    expect(root).to_have_attribute("data-method", "raw")
    root.locator(".senseless summary").click()
    root.locator(".more summary").first.click()
    assert_is_chinese(page, "words")
    root.locator(".all").click()
    assert_is_chinese(page, "words")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert_fits(page, "words")
        assert_still(page, "words")


def test_a_model_without_texts_has_one_sentence(visit: Visit, url: str) -> None:
    visit.open(url, room="words")
    root = visit.page.locator('.vx-words[data-state="none"]')
    expect(root.locator(".reading")).to_contain_text("reads no texts")
    expect(visit.page.locator("#vx-words-figures")).to_be_hidden()
    root.locator(".offer").first.click()
    expect(visit.page.locator('.vx-words[data-state="ready"] .fields li')).to_have_count(2)
    assert_nothing_went_wrong(visit.page, "words")


def test_a_person_reads_a_caption(visit: Visit, url: str) -> None:
    visit.open(url, room="words", model="scenes_captioner", image="scene_red_fish", text="2")
    page = visit.page
    root = page.locator('.vx-captions[data-state="ready"]')
    root.wait_for()
    words = root.locator(".sentence button")
    expect(root).to_have_attribute("data-word", "2")
    expect(root.locator("figure canvas")).to_have_count(3)
    expect(words.locator("visible=true")).to_have_count(words.count())
    little = words.filter(has_text=re.compile("^(a|left|of)")).first
    little.hover()
    expect(root.locator(".word-note")).to_contain_text("names nothing in the picture")
    fish = words.filter(has_text="fish")
    fish.click()
    expect(root.locator(".word-note")).to_contain_text("where it comes from, by three readings")
    number = fish.evaluate("(button) => 1 + [...button.parentElement.children].indexOf(button)")
    page.wait_for_url(re.compile(f"text={number}"))
    box = root.locator("figure canvas").first.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    expect(root.locator(".unit").first).to_contain_text("row 6, column 6: ")
    assert_nothing_went_wrong(page, "words")
    assert_open_to_all(page, "words", is_whole=False)
    root.locator(".languages button", has_text="Chinese").click()
    expect(words.filter(has_text="鱼")).to_have_count(1)
    root.locator(".offer").click()
    page.locator('.vx-words[data-state="ready"]').wait_for()
    expect(page.locator(".vx-captions")).to_be_hidden()


def test_a_chinese_caption_fits_every_size(visit: Visit, url: str) -> None:
    visit.open(url, room="words", model="scenes_captioner", image="scene_red_fish", lang="zh")
    page = visit.page
    page.locator('.vx-captions[data-state="ready"]').wait_for()
    assert_is_chinese(page, "words")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert_fits(page, "words")
        assert_still(page, "words")


def test_the_wrong_half_is_seen_beside_the_right_one(visit: Visit, url: str, tmp_path: Path) -> None:
    folder = Files("dinov2").save(tmp_path / "small_dino")
    root, page = opened(visit, url, folder, 7, texts="a red gear;the background"), visit.page
    expect(root).to_have_attribute("data-method", "dino_txt")
    root.get_by_text("The wrong half").first.click()
    expect(root).to_have_attribute("data-method", "class_half")
    expect(root.locator(".changes")).to_contain_text("the commonest mistake with dino.txt")
    assert_nothing_went_wrong(page, "words")
