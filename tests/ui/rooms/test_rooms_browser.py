"""All rooms for all kinds of models, in light and dark: no console error, no empty figure, no exception text.

A visit walks through all rooms by their tabs, and in light through another view of each, or all that are quick under
`--thorough`; each room is made narrow and wide. Two visits are to the Chinese page, which has no English word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest
from playwright.sync_api import Page, Route, expect

from tests.helpers.app import Visit, Visiting
from tests.helpers.room_checks import (
    PATIENCE,
    SHIFTS,
    assert_fits,
    assert_focus_is_seen,
    assert_is_chinese,
    assert_is_read,
    assert_nothing_went_wrong,
    assert_open_to_all,
    assert_still,
    choose_model,
    choose_view,
    go_to,
    panel_of,
    wait_for_view,
)
from tests.helpers.thorough import quick
from vitexplorer.controls.any_target import WORDS
from vitexplorer.core.text import Language
from vitexplorer.ui.page import ROOMS

pytestmark = pytest.mark.browser

MODELS = {
    "vit": {"model": "scenes_vit_patch16_192"},
    "dino": {"model": "scenes_dino_patch16_192"},  # which has no classifier
    "swin": {"model": "scenes_swin_patch4_window6_192"},
    "two prefix tokens": {"model": "scenes_deit_patch16_192"},
    "attention alone": {"model": "pvt_v2_b0", "weights": "random"},  # whose keys are pooled
}
WALKS = [(model, theme) for model in MODELS for theme in ("light", "dark")]
WALKS.remove(("attention alone", "light"))
LEADS = {
    "patches": (".vx-board", "attention"),
    "size": ("#vx-size-board", "flow"),
    "what_if": (".vx-changes", "finetune"),
}
"""Element of each room's own figure, and the next room"""
ALIKE = ("outputs", "positions", "flow")
"""Rooms made of the parts of Tokens and Attention: their parts are checked there unless under `--thorough`"""
SHIFTED = 0.02
"""Allowed layout shift when a room opens on a phone, of the 0.05 that a walk through all may have"""
WAITING = """() => document.querySelector('main')
  .insertAdjacentHTML('beforeend', '<p class="progress-text">queue: 1/2</p>')"""
"""Script that adds gradio's English words of a slow answer, which a Chinese page hides"""
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.mark.parametrize("walk", quick(WALKS, keep=[("vit", "light")]))
def test_every_room_is_whole(visit: Visit, url: str, walk: tuple[str, str], thorough: bool) -> None:
    (model, theme), page = walk, visit.page
    language: Language = "zh" if model == "vit" else "en"
    page.set_viewport_size(PHONE)  # where a room that is entered has most that could move
    visit.open(url, __theme=theme, lang=language, **MODELS[model])
    page.evaluate(SHIFTS)
    if language == "zh":
        page.evaluate(WAITING)
    for room in (sign.key for sign in ROOMS):
        before = page.evaluate("window.shift")
        go_to(page, room, language)
        assert page.evaluate("window.shift") - before < SHIFTED, room
        assert_focus_is_seen(page, room)
        page.set_viewport_size(DESKTOP)
        panel, is_new = panel_of(page, room), thorough or room not in ALIKE
        if panel.count():
            buttons = panel.locator(".below button:not([data-slow], [data-refused])")
            keys = buttons.evaluate_all("buttons => buttons.map(({dataset}) => dataset.view)")
            for key in keys[1 : None if thorough else 2] if is_new and theme == "light" else []:
                choose_view(page, room, key)
                assert_is_read(page, key)
            if panel.get_attribute("data-drawn"):  # not every room has a view for every model
                panel.and_(page.locator(f'[data-theme="{theme}"]')).wait_for(timeout=PATIENCE)
        assert_nothing_went_wrong(page, room)
        if language == "zh":
            assert_is_chinese(page, room)
        assert_is_read(page, room)
        assert_still(page, room)
        if is_new:
            assert_open_to_all(page, room, is_whole=thorough or room == "patches")  # bar and rail are the same in all
        assert_fits(page, room)
        if room == "compare" and model == "vit":
            assert_maps_fade(page)
            assert_both_passes_are_followed(page)
        if room == "what_if":
            assert_scales_differ_in_words(page)
        assert room != "patches" or page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        page.set_viewport_size(PHONE)
        assert_fits(page, room)
        if room == "patches":
            assert_open_to_all(page, room, is_whole=True)
        own, next_room = LEADS.get(room, ("", ""))
        if own and page.locator(f"{own} .next:visible").count():
            page.locator(f"{own} .next").click()
            expect(page.locator(".vx-rail [aria-current]")).to_have_attribute("data-room", next_room)


def assert_maps_fade(page: Page) -> None:
    """Check that the large map of Compare becomes the left or the right one, and the difference again."""
    choose_view(page, "compare", "maps")
    fading = page.locator("#vx-compare-panel .fading")
    seen = """(layers) => {
      const {data} = document.querySelector('#vx-compare-panel .figure');
      const shown = data.filter(({meta, visible}) => meta?.layer !== undefined && visible);
      return shown.map(({meta}) => meta.layer).join() === layers;
    }"""
    for act, layers in (
        (lambda: fading.locator("input").fill("0"), "1"),
        (lambda: fading.locator("input").fill("40"), "1,2"),
        (lambda: page.locator("#vx-compare-panel .presses button").last.press("Enter"), "2"),
        (lambda: fading.locator(".blink").click(), "1"),
        (lambda: fading.locator(".first").click(), "0"),
    ):
        act()
        page.wait_for_function(seen, arg=layers)


def assert_both_passes_are_followed(page: Page) -> None:
    """Check that the verdict names a picked patch on both sides, and that the live networks follow one token."""
    choose_view(page, "compare", "network")
    panel = panel_of(page, "compare")
    left, right = (page.locator(f"#vx-{side}-pass .vx-network") for side in ("left", "right"))
    for picture in (left, right):  # the whole pass; one that comes later would follow the patch that is picked now
        expect(picture).to_have_attribute("data-at", "8", timeout=PATIENCE)
    picture = panel.locator(".vx-picker")
    box = picture.bounding_box()
    picture.click(position={"x": 0.3 * box["width"], "y": 0.6 * box["height"]})
    reading = panel.locator(".reading")
    for side in ("左侧", "右侧"):
        expect(reading).to_contain_text(f"{side}的第 7 行第 3 列的图块读取最多的是", timeout=PATIENCE)

    links = left.locator(".links")
    x, y, width, height = left.evaluate("(root) => root.gridOf(3)")
    token = {"x": x + width * 9.5 / 12, "y": y + height * 3.5 / 12}
    for act, query in (
        (lambda: links.hover(position=token), "3,9"),
        (lambda: page.mouse.move(0, 0), "cls"),
        (lambda: links.click(position=token), "3,9"),
        (lambda: page.mouse.move(0, 0), "3,9"),
        (lambda: links.press("ArrowRight"), "3,10"),
        (lambda: right.locator(".links").press("ArrowDown"), "4,10"),
    ):
        act()
        for picture in (left, right):
            expect(picture).to_have_attribute("data-query", query, timeout=PATIENCE)


def assert_scales_differ_in_words(page: Page) -> None:
    """Check that What if says where the brightest colour is not the same share in both runs."""
    ends = page.locator(".vx-what-if .vx-canvas .high").all_inner_texts()
    line = page.locator(".vx-changes .scales").inner_text()
    assert len(ends) == 2
    assert all(end in line for end in ends) if ends[0] != ends[1] else line == "", (ends, line)


@pytest.fixture(scope="module")
def staying(visiting: Visiting, url: str) -> Iterator[Visit]:
    """Open one page that goes on from room to room."""
    with visiting() as visit:
        visit.open(url, room="tokens", **MODELS["vit"])
        yield visit


def test_a_patch_is_picked_on_the_picture(staying: Visit) -> None:
    page, panel = staying.page, panel_of(staying.page, "tokens")
    go_to(page, "tokens")
    choose_view(page, "tokens", "patch_similarity")
    picture = panel.locator(".vx-picker")
    box = picture.bounding_box()
    picture.click(position={"x": 0.1 * box["width"], "y": 0.9 * box["height"]})
    expect(panel.locator(".python")).to_contain_text("query=(10, 1)", timeout=PATIENCE)
    picture.press("ArrowRight")
    expect(panel.locator(".python")).to_contain_text("query=(10, 2)", timeout=PATIENCE)


def test_back_and_forward_walk_through_views_and_a_link_restores_one(staying: Visit) -> None:
    page, panel = staying.page, panel_of(staying.page, "tokens")
    go_to(page, "tokens")
    choose_view(page, "tokens", "patch_to_token")
    choose_view(page, "tokens", "patch_similarity")
    panel.locator('[name="block"]').evaluate(
        "input => { input.value = 2; input.dispatchEvent(new Event('change', {bubbles: true})); }"
    )
    expect(page).to_have_url(re.compile(r"view=patch_similarity.*v\.block=2"))
    link = page.url
    page.go_back()
    wait_for_view(page, "tokens", "patch_to_token")
    assert "v.block" not in page.url
    page.go_forward()
    wait_for_view(page, "tokens", "patch_similarity")
    expect(panel.locator('[name="block"]')).to_have_value("2")
    page.goto(link)
    wait_for_view(page, "tokens", "patch_similarity")
    assert panel.locator('[name="block"]').input_value() == "2"
    page.locator("#vx-tokens-panel .below img").nth(4).wait_for(timeout=PATIENCE)  # all views have their previews


def test_the_last_of_quick_questions_is_answered(staying: Visit) -> None:
    page, panel = staying.page, panel_of(staying.page, "tokens")
    go_to(page, "tokens")
    choose_view(page, "tokens", "token_pca")
    panel.locator('[name="block"]').evaluate(
        """async (input) => { for (const block of [1, 2, 3, 4, 0, 1, 2, 3]) {
          input.value = block;
          input.dispatchEvent(new Event('change', {bubbles: true}));
          await new Promise((resolve) => setTimeout(resolve, 20));  // some meet an answer that is on its way
        } }"""
    )
    expect(panel.locator(".python")).to_contain_text("block=3", timeout=PATIENCE)


def test_a_term_explains_itself_and_the_numbers_are_read(staying: Visit) -> None:
    """Explanations open on hover, focus and click, close with Escape, and work in the next view's texts too."""
    page, panel = staying.page, panel_of(staying.page, "tokens")
    go_to(page, "tokens")
    for view, read in (
        ("token_norms", "after block 0"),
        ("patch_similarity", "The patch most similar to the patch in row"),
    ):
        panel.locator(f'[data-view="{view}"]').first.click()
        wait_for_view(page, "tokens", view)
        expect(panel.locator(".reading")).to_contain_text(read, timeout=PATIENCE)
        terms, explanation = panel.locator(".misleads .vx-term"), page.locator(".vx-explains")
        terms.first.hover()
        expect(explanation).to_contain_text("One vector of the sequence")
        expect(terms.first).to_have_attribute("aria-describedby", "vx-explains")
        page.keyboard.press("Escape")
        expect(explanation).to_be_hidden()
        terms.first.click()
        expect(explanation).to_be_visible()
        page.keyboard.press("Tab")
        expect(explanation).not_to_contain_text("One vector of the sequence")
        panel.locator(".question").click(position={"x": 1, "y": 1})
        expect(explanation).to_be_hidden()


def test_a_slow_view_is_stopped_and_the_page_goes_on(staying: Visit) -> None:
    page, panel = staying.page, panel_of(staying.page, "flow")
    go_to(page, "attention")
    go_to(page, "flow")
    page.locator('.vx-views:has(#vx-flow-panel) button[data-view="trust"]:visible').first.click()
    expect(panel.locator(".work")).to_be_visible()
    expect(panel.locator(".seen")).to_be_visible()  # the picture stands on the stage until the first figure
    choose_view(page, "flow", "integrated_gradients")
    drawn = page.evaluate("document.querySelector('#vx-flow-panel .vx-panel').dataset.shown")
    steps = panel.locator('[name="steps"]')
    steps.evaluate("input => { input.value = 300; input.dispatchEvent(new Event('change', {bubbles: true})); }")
    work = panel.locator(".work")
    expect(work).to_contain_text(re.compile(r"\d+ of 301"), timeout=PATIENCE)
    assert 0 <= float(work.locator("progress").evaluate("bar => bar.value")) < 1
    work.get_by_role("button", name="Stop").click()
    expect(work).to_be_hidden()
    assert panel.locator('[name="steps"]').input_value() == "32"
    assert page.evaluate("document.querySelector('#vx-flow-panel .vx-panel').dataset.shown") == drawn
    choose_view(page, "flow", "random")
    expect(work).to_be_hidden()
    choose_view(page, "flow", "side_by_side")
    first = panel.locator(".figure .hm").first.bounding_box()  # a map that is pressed is shown large
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    expect(panel.locator(".figure .hovertext")).not_to_have_count(0)
    page.locator("#vx-header").dispatch_event("pointerdown")  # a finger cannot leave: its next tap is elsewhere
    expect(panel.locator(".figure .hovertext")).to_have_count(0)
    page.mouse.move(first["x"] + first["width"] / 3, first["y"] + first["height"] / 3)
    expect(panel.locator(".figure .hovertext")).not_to_have_count(0)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#vx-flow-canvas")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("view=attention_rollout"))
    choose_view(page, "flow", "side_by_side")  # and the same by keyboard
    method = panel.locator(".presses button").first
    method.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(method).to_be_focused()
    assert method.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    drawn, pressed = panel.locator(".figure .hm").first.bounding_box(), method.bounding_box()
    assert [drawn[side] for side in ("x", "y", "width")] == pytest.approx(
        [pressed[side] for side in ("x", "y", "width")], abs=2
    )
    expect(method).to_have_accessible_name("Attention rollout")
    page.keyboard.press("Enter")
    expect(page.locator("#vx-flow-canvas")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("view=attention_rollout"))
    listed = page.locator("#vx-flow-canvas .vx-previews")  # arrow keys go from group to group
    listed.locator("[aria-selected=true]").press("ArrowRight")
    wait_for_view(page, "flow", "attn_lrp")
    strip = panel.locator(".below")
    expect(strip.get_by_role("tablist", name="Gradient").locator("[aria-selected=true]")).to_be_focused()
    assert strip.locator(".heading").all_text_contents() == ["Attention", "Gradient", "Perturbation", "Judge"]
    expect(strip.locator("[data-view=attn_lrp]")).to_have_accessible_name("AttnLRP")
    size = page.viewport_size
    page.set_viewport_size({"width": 1000, "height": 900})
    strip.locator(".vx-previews").evaluate("strip => { strip.scrollLeft = 1000; }")
    panel.locator(".next").click()
    wait_for_view(page, "flow", "generic_relevance")
    page.wait_for_function(
        """() => { const strip = document.querySelector('#vx-flow-panel .below .vx-previews');
        const [around, tile] = [strip, strip.querySelector('[data-view="generic_relevance"]')].map((one) =>
          one.getBoundingClientRect());
        return tile.left >= around.left && tile.right <= around.right; }"""
    )
    page.set_viewport_size(size)


def test_a_mask_is_painted_on_the_picture(staying: Visit) -> None:
    page, panel = staying.page, panel_of(staying.page, "outputs")
    choose_model(page, "scenes_mae_patch16_192")  # 12 x 12 patches
    go_to(page, "outputs")
    choose_view(page, "outputs", "mae_reconstruction")
    painter, python, seed = panel.locator(".vx-painter"), panel.locator(".python"), panel.locator('[name="seed"]')
    expect(painter).to_have_attribute("data-hidden", "108")  # three quarters, by the seed
    expect(seed).to_be_enabled()
    page.evaluate("document.querySelector('#vx-outputs-panel .vx-painter').scrollIntoView()")

    def go(row: int, col: int) -> None:
        box = painter.locator(".vx-sheet").bounding_box()
        page.mouse.move(box["x"] + box["width"] * (col + 0.5) / 12, box["y"] + box["height"] * (row + 0.5) / 12)

    painter.get_by_role("button", name="Show all").click()
    expect(painter).to_contain_text("Nothing is hidden yet")
    count = int(panel.get_attribute("data-shown"))
    go(2, 2)
    page.mouse.down()
    go(2, 3)
    page.mouse.up()
    expect(painter).to_contain_text("2 of 144 patches (1 %)")
    expect(python).to_contain_text("mask=(26, 27)", timeout=PATIENCE)
    expect(panel).to_have_attribute("data-shown", str(count + 1), timeout=PATIENCE)
    expect(panel.locator(".facts")).to_contain_text("2 of 144 patches are hidden")
    expect(seed).to_be_disabled()

    go(2, 3)  # from a hidden patch: what the pointer passes is shown, also where it is quicker than its events
    page.mouse.down()
    go(2, 0)
    page.mouse.up()
    expect(painter).to_have_attribute("data-hidden", "0")
    painter.locator(".vx-sheet").press("ArrowDown")
    painter.locator(".vx-sheet").press("Space")
    expect(python).to_contain_text("mask=(36,)", timeout=PATIENCE)

    painter.locator(".vx-sheet").press("Control+z")  # the patch of the keyboard, then the stroke that showed all
    expect(painter).to_have_attribute("data-hidden", "0")
    expect(painter).to_contain_text("Nothing is hidden yet")
    painter.get_by_role("button", name="Undo").click()
    expect(painter).to_have_attribute("data-hidden", "2")
    expect(python).to_contain_text("mask=(26, 27)", timeout=PATIENCE)
    for _ in range(2):
        painter.get_by_role("button", name="Undo").click()
    expect(painter).to_have_attribute("data-hidden", "108")  # whom the seed chose, and it has its say again
    expect(painter.get_by_role("button", name="Undo")).to_be_disabled()
    expect(python).to_contain_text("mask=()", timeout=PATIENCE)
    expect(seed).to_be_enabled()
    painter.locator(".vx-sheet").press("Control+Shift+z")
    expect(painter).to_have_attribute("data-hidden", "0")
    held: list[Route] = []
    page.route("**/queue/join**", lambda route: held.append(route))
    painter.get_by_role("button", name="Redo").click()
    expect(painter).to_have_attribute("data-hidden", "2")
    expect(seed).to_be_disabled()

    go(0, 0)
    page.mouse.down()
    corners = [(row, col) for row in range(12) for col in ((0, 11) if row % 2 == 0 else (11, 0))]
    painter.locator(".vx-sheet").evaluate(
        """(sheet, corners) => {  // all in one event, as a busy browser tells of them
          const {left, top, width, height} = sheet.getBoundingClientRect();
          const at = ([row, col]) => new PointerEvent('pointermove', {
            isPrimary: true, clientX: left + width * (col + 0.5) / 12, clientY: top + height * (row + 0.5) / 12,
          });
          sheet.dispatchEvent(new PointerEvent('pointermove', {isPrimary: true, coalescedEvents: corners.map(at)}));
        }""",
        corners,
    )
    expect(painter).to_contain_text("At least one patch must stay visible.")
    for one in held:
        one.continue_()
    expect(python).to_contain_text("mask=(26, 27)", timeout=PATIENCE)  # an answer that comes during a stroke leaves it
    page.unroute("**/queue/join**")
    page.mouse.up()
    expect(painter).to_have_attribute("data-hidden", "143")

    painter.get_by_role("button", name="Choose by the seed").click()
    expect(python).to_contain_text("mask=()", timeout=PATIENCE)  # though the question before it may still be open
    expect(painter).to_have_attribute("data-hidden", "108")
    expect(seed).to_be_enabled()


@pytest.mark.thorough
def test_every_kind_of_target_is_chosen_in_the_page_and_stands_in_its_address(visit: Visit, url: str) -> None:
    visit.open(url, room="flow", view="generic_relevance", model="scenes_vit_patch16_192", image="scene_fish")
    page, inside = visit.page, "#vx-flow-panel .vx-target"
    kind = page.locator(f"{inside} select[name=target]")
    kind.wait_for(timeout=PATIENCE)

    def explained(written: str) -> None:
        page.wait_for_function(
            "(wanted) => new RegExp(`^${wanted}$`).test(new URL(location.href).searchParams.get('v.target'))",
            arg=written,
            timeout=PATIENCE,
        )

    kind.select_option("rather")
    explained(r"\d+ vs \d+")
    kind.select_option("alike")
    explained(r"patch \d+,\d+")
    page.locator(f"{inside} .vx-picker").press("ArrowUp")
    page.locator(f"{inside} .vx-picker").click(position={"x": 5, "y": 5})
    explained("patch 0,0")
    kind.select_option("region")
    sheet = page.locator(f"{inside} .vx-sheet")
    for key in (" ", "ArrowRight", " "):
        sheet.press(key)
    explained(r"region 6.6\+6.7")
    kind.select_option("like")
    explained("like scene_flower")
    assert "scene_flower" in page.inner_text("#vx-flow-panel .reading")
    other = page.get_by_label(WORDS["pick_other"].en)
    other.click(position={"x": 5, "y": 5})
    explained("like scene_flower patch 0,0")
    other.press("ArrowDown")
    explained("like scene_flower patch 1,0")
    expect(page.locator(f"{inside} .remark")).to_have_text(re.compile("row 1, col"))
    page.reload()
    kind.wait_for(timeout=PATIENCE)
    assert kind.input_value() == "like"
    expect(page.locator(f"{inside} .remark")).to_have_text(re.compile("row 1, col"))
    page.get_by_role("button", name=WORDS["whole"].en).click()
    explained("like scene_flower")
    page.get_by_label(WORDS["image"].en, exact=True).select_option("scene_gear")
    explained("like scene_gear")
    expect(other.locator(".mark")).to_be_hidden()
    assert "text" not in kind.locator("option").evaluate_all("options => options.map(({value}) => value)")
    choose_model(page, "scenes_clip")
    kind.select_option("text")
    page.locator(f"{inside} input[type=text]").fill("a red gear")
    page.keyboard.press("Enter")
    explained("text: a red gear")
    expect(page.locator("#vx-flow-panel .reading")).to_contain_text("a red gear")
    page.reload()
    expect(page.locator(f"{inside} input[type=text]")).to_have_value("a red gear", timeout=PATIENCE)


def test_a_view_that_the_model_lacks_comes_from_another(visit: Visit, url: str) -> None:
    """One click changes the model of all rooms; the notice and the browser's back lead back.

    A model of which only the attention of single blocks is shown keeps its picture, and offers the other.
    """
    page = visit.page
    visit.open(url, room="patches", model="pvt_v2_b0", weights="random")
    refused = panel_of(page, "patches")
    expect(refused.locator(".seen")).to_be_visible()
    expect(refused.locator(".elsewhere")).to_have_text(
        "pvt_v2_b0: for the PVTv2 family, only the attention of single blocks can be shown. "
        "Show it with ViT (drawn scenes)"
    )
    visit.open(url, room="outputs", view="logit_lens", model="scenes_dino_patch16_192", size="384")
    expect(page.locator(".vx-status .line")).to_have_text(re.compile(r"^ViT says: gear \d+\s%$"), timeout=PATIENCE)
    panel = panel_of(page, "outputs")
    lens = panel.and_(page.locator('[data-drawn="logit_lens"]'))
    change = lens.locator(".elsewhere button")
    for back in (page.locator(".vx-came-from .back").click, page.go_back):
        change.wait_for(timeout=PATIENCE)
        expect(panel.locator(".elsewhere")).to_contain_text("This is what “ViT (drawn scenes)” shows.")
        expect(page).to_have_url(re.compile("view=logit_lens.*model=scenes_dino_patch16_192.*size=384"))
        before = panel.locator(".reading").inner_text()
        change.click()
        expect(change).to_be_hidden(timeout=PATIENCE)
        expect(page).to_have_url(re.compile("view=logit_lens.*model=scenes_vit_patch16_192"))
        lens.wait_for(timeout=PATIENCE)
        assert panel.locator(".reading").inner_text() == before
        back()
    change.wait_for(timeout=PATIENCE)
    expect(page.locator(".vx-came-from")).to_have_count(0)


def test_a_chosen_folder_is_sent_as_it_is(visit: Visit, url: str, tmp_path: Path) -> None:
    """The server checks each file against the checksum that the browser computed."""
    folder = tmp_path / "宠物 1.2"
    for label in ("猫", "dog"):
        for number in range(3):
            picture = folder / label / f"{number}.png"
            picture.parent.mkdir(parents=True, exist_ok=True)
            PIL.Image.new("RGB", (24, 24), (200, 90, 20 + number)).save(picture)
    (folder / ".DS_Store").write_bytes(b"\0")
    visit.open(url, room="folder", model="scenes_vit_patch16_192")
    room = visit.page.locator(".vx-survey")
    expect(room.locator(".start:not([inert]) .go")).to_be_disabled(timeout=PATIENCE)  # its texts have arrived
    room.locator(".folder").set_input_files(folder)
    expect(room.locator(".chosen")).to_have_text("宠物 1.2: 6 images in 2 folders.", timeout=PATIENCE)
    expect(room.locator(".go")).to_be_enabled()
