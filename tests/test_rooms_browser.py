"""Every room for every kind of model, in light and dark: no console error, no empty figure, no exception's text.

One server and one browser; a visit walks through all rooms by their tabs, and in light through all quick views.
"""

from __future__ import annotations

import re
from typing import get_args

import pytest
from playwright.sync_api import Page, expect

from tests.app import Visit
from vitexplorer.ui.address import RoomKey
from vitexplorer.ui.words import UI_WORDS

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
EXCEPTION = re.compile(r"Traceback|\b\w+Error\b|\bException\b|\bundefined\b|\[object |Something went wrong|\bNone\b")
PATIENCE = 60_000
"""milliseconds"""


def panel_of(page: Page, room: str):
    return page.locator(f"#vx-{room}-panel .vx-panel")


def wait_for_view(page: Page, room: str, view: str | None = None) -> None:
    """Until the panel shows a view or says why not; a figure is drawn and has something in it."""
    named = f'[data-view="{view}"]' if view else "[data-view]"
    panel = page.locator(f"#vx-{room}-panel .vx-panel{named}")
    panel.wait_for(timeout=PATIENCE)
    if panel.get_attribute("data-state") == "refused":
        assert len(panel.locator(".refused").inner_text()) > 20
        return
    page.wait_for_function(
        """([room, view]) => { const panel = document.querySelector(`#vx-${room}-panel .vx-panel`);
        return panel.dataset.drawn === panel.dataset.view && (!view || panel.dataset.view === view)
          && panel.querySelectorAll('.figure .main-svg').length > 0
          && panel.querySelector('.figure').getBoundingClientRect().height > 100
          && panel.querySelectorAll('.figure .annotation').length > 3; }""",
        arg=[room, view],
        timeout=PATIENCE,
    )


def wait_for_canvas(page: Page, room: str) -> None:
    """Until the canvas of a room has painted a map that is not all one number."""
    page.wait_for_function(
        f"document.querySelector('#vx-{room}-canvas .vx-canvas')?.dataset.state === 'ready'", timeout=PATIENCE
    )
    shown = page.evaluate(f"document.querySelector('#vx-{room}-canvas .vx-canvas').vx.read().map")
    assert max(shown) > min(shown) >= 0


def wait_for_own_picture(page: Page, room: str) -> None:
    """Until the board or canvas of a room is there, or the sentence that says why there is none."""
    own = ".vx-board" if room == "patches" else f"#vx-{room}-canvas"
    page.locator(f"{own}:visible, #vx-{room}-refused:visible").first.wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-refused").count():
        assert page.locator(own).count() == 0
        assert len(page.locator(f"#vx-{room}-refused").first.inner_text()) > 40
    elif room != "patches":
        wait_for_canvas(page, room)


@pytest.mark.parametrize(("model", "theme"), WALKS)
def test_every_room_is_whole(chromium, url: str, model: str, theme: str) -> None:
    visit = Visit(chromium)
    visit.open(url, __theme=theme, **MODELS[model])
    page = visit.page
    for room in get_args(RoomKey):
        page.get_by_role("tab", name=UI_WORDS[f"room_{room}"].en, exact=True).click()
        if room in ("patches", "attention", "flow"):
            wait_for_own_picture(page, room)
        if page.locator(f"#vx-{room}-panel").count():
            wait_for_view(page, room)
            quick = panel_of(page, room).locator(".views button:not([data-slow])")
            keys = [button.get_attribute("data-view") for button in quick.all()]
            for key in keys[1:] if theme == "light" else []:
                panel_of(page, room).locator(f'.views button[data-view="{key}"]').click()
                wait_for_view(page, room, key)
            if panel_of(page, room).get_attribute("data-drawn"):  # not every room has a view for every model
                panel_of(page, room).and_(page.locator(f'[data-theme="{theme}"]')).wait_for(timeout=PATIENCE)
        said = page.locator("main").inner_text()
        assert not EXCEPTION.search(said), (room, EXCEPTION.search(said))
    visit.close()


def test_a_slow_view_is_stopped_and_the_page_goes_on(chromium, url: str) -> None:
    visit = Visit(chromium)
    visit.open(url, room="flow", model="vit_small_patch16_224", weights="random")  # slow enough to be stopped
    page, panel = visit.page, panel_of(visit.page, "flow")
    wait_for_view(page, "flow")
    panel.locator('[data-view="integrated_gradients"]').first.click()
    wait_for_view(page, "flow", "integrated_gradients")
    drawn = page.evaluate("document.querySelector('#vx-flow-panel .vx-panel').dataset.shown")
    steps = panel.locator('[name="steps"]')
    steps.evaluate("input => { input.value = 300; input.dispatchEvent(new Event('change', {bubbles: true})); }")
    work = panel.locator(".work")
    expect(work).to_contain_text(re.compile(r"\d+ of 301"), timeout=PATIENCE)
    assert 0 <= float(work.locator("progress").evaluate("bar => bar.value")) < 1
    work.get_by_role("button", name="Stop").click()
    expect(work).to_be_hidden()
    assert panel.locator('[name="steps"]').input_value() == "32"
    page.wait_for_timeout(1500)
    assert page.evaluate("document.querySelector('#vx-flow-panel .vx-panel').dataset.shown") == drawn
    expect(work).to_be_hidden()
    panel.locator('[data-view="random"]').first.click()
    wait_for_view(page, "flow", "random")
    visit.close()


def test_a_patch_is_picked_on_the_picture(chromium, url: str) -> None:
    visit = Visit(chromium)
    visit.open(url, room="tokens", **MODELS["vit"])
    page, panel = visit.page, panel_of(visit.page, "tokens")
    wait_for_view(page, "tokens")
    panel.locator('[data-view="patch_similarity"]').first.click()
    wait_for_view(page, "tokens", "patch_similarity")
    picture = panel.locator(".picker")
    box = picture.bounding_box()
    picture.click(position={"x": 0.1 * box["width"], "y": 0.9 * box["height"]})
    expect(panel.locator(".python")).to_contain_text("query=(10, 1)", timeout=PATIENCE)
    picture.press("ArrowRight")
    expect(panel.locator(".python")).to_contain_text("query=(10, 2)", timeout=PATIENCE)
    visit.close()


def test_the_last_of_quick_questions_is_answered(chromium, url: str) -> None:
    visit = Visit(chromium)
    visit.open(url, room="tokens", **MODELS["vit"])
    panel = panel_of(visit.page, "tokens")
    wait_for_view(visit.page, "tokens")
    panel.locator('[data-view="token_pca"]').first.click()
    wait_for_view(visit.page, "tokens", "token_pca")
    panel.locator('[name="block"]').evaluate(
        """async (input) => { for (const block of [1, 2, 3, 4, 0, 1, 2, 3]) {
          input.value = block;
          input.dispatchEvent(new Event('change', {bubbles: true}));
          await new Promise((resolve) => setTimeout(resolve, 20));  // some meet an answer that is on its way
        } }"""
    )
    expect(panel.locator(".python")).to_contain_text("block=3", timeout=PATIENCE)
    visit.close()


def test_a_mask_is_painted_on_the_picture(chromium, url: str) -> None:
    visit = Visit(chromium)
    visit.open(url, room="outputs", model="scenes_mae_patch16_192")  # 12 x 12 patches
    page, panel = visit.page, panel_of(visit.page, "outputs")
    wait_for_view(page, "outputs")
    panel.locator('[data-view="mae_reconstruction"]').first.click()
    wait_for_view(page, "outputs", "mae_reconstruction")
    painter, python, seed = panel.locator(".painter"), panel.locator(".python"), panel.locator('[name="seed"]')
    expect(painter).to_have_attribute("data-hidden", "108")  # three quarters, by the seed
    expect(seed).to_be_enabled()
    page.evaluate("document.querySelector('#vx-outputs-panel .painter').scrollIntoView()")
    box = painter.locator(".sheet").bounding_box()

    def go(row: int, col: int) -> None:
        page.mouse.move(box["x"] + box["width"] * (col + 0.5) / 12, box["y"] + box["height"] * (row + 0.5) / 12)

    painter.get_by_role("button", name="Show all").click()
    expect(painter).to_contain_text("Nothing is hidden yet")
    shown = int(panel.get_attribute("data-shown"))
    go(2, 2)
    page.mouse.down()
    go(2, 3)
    page.mouse.up()
    expect(painter).to_contain_text("2 of 144 patches (1 %)")
    expect(python).to_contain_text("mask=(26, 27)", timeout=PATIENCE)
    expect(panel).to_have_attribute("data-shown", str(shown + 1), timeout=PATIENCE)
    expect(panel.locator(".figure")).to_contain_text("2 of 144 patches are hidden")
    expect(seed).to_be_disabled()

    go(2, 3)  # from a hidden patch: what the pointer passes is shown, also where it is quicker than its events
    page.mouse.down()
    go(2, 0)
    page.mouse.up()
    expect(painter).to_have_attribute("data-hidden", "0")
    painter.locator(".sheet").press("ArrowDown")
    painter.locator(".sheet").press("Space")
    expect(python).to_contain_text("mask=(36,)", timeout=PATIENCE)

    go(0, 0)
    page.mouse.down()
    for row in range(12):
        go(row, 11 * (row % 2))
        go(row, 11 - 11 * (row % 2))
    expect(painter).to_contain_text("At least one patch must stay visible.")
    page.mouse.up()
    expect(painter).to_have_attribute("data-hidden", "143")

    painter.get_by_role("button", name="Choose by the seed").click()
    expect(python).to_contain_text("mask=()", timeout=PATIENCE)  # though the question before it may still be open
    expect(painter).to_have_attribute("data-hidden", "108")
    expect(seed).to_be_enabled()
    visit.close()
