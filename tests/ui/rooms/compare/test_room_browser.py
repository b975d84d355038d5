"""Room Compare in a browser: a place under the mouse on the left is marked on the right."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import vitexplorer as vx
from tests.helpers.app import Visit
from tests.helpers.finetune_folders import class_folder
from tests.helpers.finetune_page import TRAINED, set_field, tick_only
from tests.helpers.room_checks import (
    PATIENCE,
    assert_fits,
    assert_nothing_went_wrong,
    choose_model,
    choose_view,
    wait_for_view,
)
from tests.helpers.thorough import always, later
from vitexplorer.comparisons import reading
from vitexplorer.models.examples import examples

pytestmark = pytest.mark.browser

VIT, SWIN, DINO = "scenes_vit_patch16_192", "scenes_swin_patch4_window6_192", "scenes_dino_patch16_192"
MAE = "scenes_mae_patch16_192"
LEFT, RIGHT = "#vx-left-canvas .vx-canvas", "#vx-right-canvas .vx-canvas"


def ready(page: Page) -> None:
    """Wait until both canvases have painted."""
    for canvas in (LEFT, RIGHT):
        page.locator(f'{canvas}[data-state="ready"]').wait_for(timeout=PATIENCE)
    page.locator('.vx-sides[data-state="ready"]').wait_for(timeout=PATIENCE)


def left_place(page: Page, row: float, col: float) -> tuple[float, float]:
    """Return x and y of a place on the left picture, in patches of a 12 x 12 grid."""
    view = page.locator(f"{LEFT} .view")
    view.scroll_into_view_if_needed()
    box = view.bounding_box()
    return box["x"] + col / 12 * box["width"], box["y"] + row / 12 * box["height"]


HIDDEN = [patch for patch in range(144) if patch % 4]
"""Three of four patches, as a masked autoencoder hides them"""


@pytest.mark.parametrize("size", [later(size) for size in ((1920, 1080), (1440, 900), (1366, 768), (390, 844))])
def test_the_pass_of_the_visible_patches_stands_beside_the_whole(visit: Visit, url: str, size: tuple[int, int]) -> None:
    page = visit.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    cells = "+".join(f"{patch // 12}.{patch % 12}" for patch in HIDDEN)
    change = f"mask_patches:patches={cells},how=attention"
    visit.open(
        url, room="compare", model=MAE, other_model=MAE, image="scene_gear", other_change=quote(change), view="network"
    )
    right = page.locator("#vx-right-pass .vx-network[data-ready]")
    right.wait_for(timeout=PATIENCE)
    plain = vx.capture(vx.load_model(MAE), examples()["scene_gear"].path)
    expected = vx.compute("network", vx.intervene(plain, change))
    assert expected.hidden.sum() == len(HIDDEN)
    expect(right.locator(".reading")).to_have_text(vx.reading(expected), timeout=PATIENCE)
    assert_fits(page, "compare")
    assert_nothing_went_wrong(page, "compare")


@pytest.mark.parametrize(
    ("other", "left", "right"),
    [
        always({"other_model": SWIN}, "3,9", "1,4"),
        later({"other_model": DINO}, "3,9", "3,9"),
        later({"other_model": VIT, "other_size": "384"}, "3,9", "7,19"),
        later({"other_model": VIT, "other_change": "top_k:k=4"}, "3,9", "3,9"),
    ],
)
def test_the_same_place_is_marked_on_both_sides(
    visit: Visit, url: str, other: dict[str, str], left: str, right: str, thorough: bool
) -> None:
    page = visit.page
    visit.open(url, room="compare", model=VIT, **other)
    ready(page)
    place = left_place(page, 3.6, 9.6)
    page.mouse.move(*place)
    expect(page.locator(LEFT)).to_have_attribute("data-query", left)
    expect(page.locator(RIGHT)).to_have_attribute("data-query", right)
    page.mouse.click(*place)
    expect(page).to_have_url(re.compile(f"query={left.replace(',', '%2C')}"))
    link = page.url
    page.mouse.move(0, 0)
    ends = [page.locator(f"{canvas} .high").inner_text() for canvas in (LEFT, RIGHT)]
    scales = page.locator(".vx-sides .scales").inner_text()
    assert (" is {} on the left and {} on the right".format(*ends) in scales) == (ends[0] != ends[1])
    if not thorough:
        return
    page.goto(link)
    ready(page)
    expect(page.locator(LEFT)).to_have_attribute("data-query", left)
    expect(page.locator(RIGHT)).to_have_attribute("data-query", right)


@pytest.mark.thorough
def test_a_pair_to_begin_with_stands_in_the_address_whole(visit: Visit, url: str) -> None:
    page = visit.page
    visit.open(url, room="compare", model=VIT, other_model=DINO)
    ready(page)
    expect(page).to_have_url(re.compile(r"(?=.*other_block=)(?=.*view=)"))  # the room has written its own choices
    page.locator(f"{LEFT} .view").press("]")
    expect(page).to_have_url(re.compile("head=0"))
    for _ in range(2):  # the left side stays as it was, and then the whole pair; the head is the visitor's
        page.get_by_role("button", name="ViT beside Swin").click()
        expect(page).to_have_url(re.compile(r"(?=.*other_model=scenes_swin)(?=.*block=5)(?=.*head=0)"))
        expect(page.locator(LEFT)).to_have_attribute("data-head", "0")
    ready(page)
    link = page.url
    page.goto(link)
    ready(page)
    expect(page.locator(RIGHT)).to_have_attribute("data-block", "9")


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1440, 900), (1920, 1080)])
def test_the_maps_and_all_comparisons_are_in_the_window_at_once(
    chromium: Browser, url: str, width: int, height: int
) -> None:
    visit = Visit(chromium, width, height)
    page = visit.page
    visit.open(url, room="compare", model=VIT, other_model=DINO)
    wait_for_view(page, "compare", "maps")
    for part in (".figure", ".below", ".fading"):
        box = page.locator(f"#vx-compare-panel {part}").bounding_box()
        assert box["y"] > 0
        assert box["y"] + box["height"] < height - 36, "above the thread"
    visit.close()


@pytest.mark.thorough
def test_several_pictures_share_one_basis(visit: Visit, url: str) -> None:
    page, panel = visit.page, "#vx-compare-panel"
    visit.open(url, room="compare")
    ready(page)
    page.get_by_role("button", name="several pictures, one basis").click()
    reading, pictures = page.locator(f"{panel} .reading"), page.locator(f"{panel} .vx-images li")
    expect(page.locator(f"{panel} .python")).to_contain_text('"right.png"', timeout=PATIENCE)  # of the new pair
    expect(reading).to_contain_text("5 pictures share one basis", timeout=PATIENCE)
    expect(pictures).to_have_count(3)
    page.locator(f"{panel} .vx-images li button").first.click()
    expect(reading).to_contain_text("4 pictures", timeout=PATIENCE)
    page.locator(f"{panel} .vx-images summary").click()
    page.locator(f"{panel} .vx-images .offer button:visible").last.click()
    expect(reading).to_contain_text("5 pictures", timeout=PATIENCE)
    page.locator(f'{panel} .vx-images input[type="file"]').set_input_files(examples()["scene_ring"].path)
    expect(reading).to_contain_text("6 pictures", timeout=PATIENCE)
    expect(page.locator(f"{panel} .vx-images")).to_contain_text("4 more pictures at most")
    text, link = reading.inner_text(), page.url
    page.goto(link)
    expect(reading).to_have_text(text, timeout=PATIENCE)
    expect(pictures).to_have_count(4)
    seen = "all => all.every((one) => one.naturalWidth)"
    assert page.locator(f"{panel} .vx-images li img").evaluate_all(seen)
    with page.expect_download() as saving:
        page.locator(f"{panel} .more").get_by_role("button", name="CSV").click()
    rows = Path(saving.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len({row["picture_hash"] for row in csv.DictReader(rows)}) == 6


@pytest.mark.thorough
def test_sides_are_swapped_chosen_and_saved(visit: Visit, url: str) -> None:
    page = visit.page
    visit.open(url, room="compare", model=VIT, other_model=SWIN)
    ready(page)
    page.locator(".vx-sides .swap").click()
    expect(page.locator("#vx-model .vx-model")).to_have_attribute("data-model", SWIN, timeout=PATIENCE)
    expect(page.locator("#vx-other-model .vx-model")).to_have_attribute("data-model", VIT, timeout=PATIENCE)
    page.locator("#vx-other-model .chip").click()
    page.keyboard.type(DINO)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"other_model={DINO}"), timeout=PATIENCE)
    choose_model(page, VIT)
    ready(page)
    expect(page.locator("#vx-other-model .vx-model")).to_have_attribute("data-model", DINO)
    page.locator(".vx-sides .changed.right-side").click()
    expect(page.locator(f"{RIGHT} .warning")).to_contain_text("CHANGED RUN", timeout=PATIENCE)
    page.locator(".vx-sides .swap").click()
    expect(page.locator(f"{LEFT} .warning")).to_contain_text("CHANGED RUN", timeout=PATIENCE)
    expect(page.locator(f"{RIGHT} .warning")).not_to_contain_text("CHANGED RUN")
    expect(page).to_have_url(re.compile("left_change="))
    page.locator(".vx-sides .changed.left-side").click()
    expect(page.locator(f"{LEFT} .warning")).not_to_contain_text("CHANGED RUN", timeout=PATIENCE)


@pytest.mark.thorough
def test_a_model_stands_beside_its_lora(visit: Visit, url: str, tmp_path: Path) -> None:
    """Open a training's models side by side; the page and the engine agree about the same files."""
    page, folder = visit.page, class_folder(tmp_path / "colours", per_class=4)
    visit.open(url, room="finetune", compare="1", model=VIT, image="scene_gear")
    archive = shutil.make_archive(str(tmp_path / "colours"), "zip", folder)
    expect(page.locator(".vx-report .hint")).to_be_visible(timeout=PATIENCE)
    page.locator(".vx-training-images .file").set_input_files(archive)
    expect(page.locator(".vx-methods")).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    tick_only(page, "lora")
    lora = page.locator('.vx-methods .item[data-key="lora"]')
    lora.locator("summary").click()
    set_field(lora.locator("input[type=text]"), "0.05")
    set_field(page.locator(".vx-methods [name=epochs]"), "2")
    page.locator(".vx-methods .start").click()
    board = page.locator(".vx-results")
    expect(board).to_have_attribute("data-rows", "1", timeout=TRAINED)
    board.locator(".bars button").first.click()
    with page.expect_download(timeout=TRAINED) as downloading:
        board.locator('[data-what="tuned"]').click()
    file = tmp_path / "tuned.safetensors"
    downloading.value.save_as(file)
    board.locator(".compare").click()

    ready(page)
    expect(page.locator(f"{RIGHT} .question")).to_contain_text("fine-tuned", timeout=PATIENCE)
    expect(page.locator(f"{LEFT} .question")).not_to_contain_text("fine-tuned")
    place = left_place(page, 3.6, 9.6)
    page.mouse.move(*place)
    for canvas in (LEFT, RIGHT):
        expect(page.locator(canvas)).to_have_attribute("data-query", "3,9")
    page.mouse.move(0, 0)

    choose_view(page, "compare", "cka")
    wait_for_view(page, "compare", "cka")
    tuned = vx.load_tuned(file)
    left, right = (vx.capture(model, examples()["scene_gear"].path) for model in (vx.load_model(VIT), tuned))
    result = vx.compare("cka", left, right)
    assert result.values.diagonal()[-1] < 0.9995, "it learned something"
    expect(page.locator("#vx-compare-panel .reading")).to_have_text(reading(result), timeout=PATIENCE)
