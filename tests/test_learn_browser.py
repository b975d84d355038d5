"""A person walks the guided path: every step brings its room, asks, tells the numbers of its views, notices the end."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app import Visit
from tests.rooms import PATIENCE
from tests.test_learn import shown
from tests.thorough import quick
from vitexplorer.learn import STEPS, Step
from vitexplorer.ui.learn.guide import StepText, step_text
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language

pytestmark = pytest.mark.browser


def another_size(page: Page, told: StepText) -> None:
    page.locator("#vx-size .chip").click()
    page.locator("#vx-size .sheet button:visible").nth(1).click()


def another_patch(page: Page, told: StepText) -> None:
    picture = page.locator(".vx-picker:visible")
    picture.click(position={"x": 12, "y": 12})
    picture.press("ArrowRight")


def the_head(page: Page, told: StepText) -> None:
    group = page.locator("#vx-attention-canvas .group").nth(int(told.becomes["block"]))
    group.locator(".small").nth(int(told.becomes["head"])).click()


def the_middle(page: Page, told: StepText) -> None:
    page.locator(".vx-changes .examples button").nth(7).click()


def another_class(page: Page, told: StepText) -> None:
    page.locator("#vx-outputs-panel [name=target]").select_option(index=3)


def every_patch(page: Page, told: StepText) -> None:
    page.locator("#vx-outputs-panel [name=token]").select_option("patches")


def the_next_block(page: Page, told: StepText) -> None:
    page.locator("#vx-attention-canvas .blocks .after").click()
    page.locator("#vx-attention-canvas .view").click(position={"x": 100, "y": 100})


def the_puzzle(page: Page, told: StepText) -> None:
    page.locator(".vx-changes .item[data-key=shuffle_patches] [type=checkbox]").click()


def a_smaller_share(page: Page, told: StepText) -> None:
    page.locator("#vx-outputs-panel [name=mask_ratio]").press("ArrowLeft")


def the_mask(page: Page, told: StepText) -> None:
    page.locator("#vx-attention-panel [name=mask]").select_option("False")


def the_adapter(page: Page, told: StepText) -> None:
    page.locator("#vx-training-scenes").click()
    page.locator(".vx-methods [data-key=adapter] [type=checkbox]").click(timeout=PATIENCE)


ACTS: dict[str, Callable[[Page, StepText], None]] = {
    "cut": another_size,
    "embed": another_patch,
    "position": the_puzzle,
    "query_key": another_patch,
    "heads": the_head,
    "class_token": the_middle,
    "residual": another_class,
    "stack": every_patch,
    "swin": the_next_block,
    "without_labels": a_smaller_share,
    "decoder": the_mask,
    "petl": the_adapter,
}
"""what each step asks for"""


def agrees(guide: Locator, step: Step, language: Language) -> StepText:
    """Everything that the guide says is filled with the numbers of the views on this very picture."""
    told = step_text(step, shown(step), language)
    expect(guide.locator(".says")).to_have_text(told.says, timeout=PATIENCE)
    expect(guide.locator("h2")).to_have_text(step.title.in_(language))
    expect(guide.locator(".asks")).to_have_text(told.asks)
    expect(guide.locator(".choices button")).to_have_text(told.choices)
    return told


A_FEW = [step for step in STEPS if step.key in ("cut", "position", "class_token")]
"""done in their own room and in another, with a new picture and with the same"""


@pytest.mark.parametrize("language", quick(["en", "zh"], keep=["en"]))
def test_a_person_walks_the_path(visit: Visit, url: str, language: Language, thorough: bool) -> None:
    steps = list(STEPS) if thorough else A_FEW
    page, guide = visit.page, visit.page.locator(".vx-guide")
    visit.open(url, lang=language, image="scene_gear")
    page.locator(".vx-rail .learn").click()
    for step, after in pairwise([*steps, None]):
        told = agrees(guide, step, language)
        expect(guide.locator(".reveal")).to_be_hidden()
        expect(guide.locator(".formula")).to_be_hidden()
        guide.locator(".choices button").nth(told.right).press("Enter")
        right = UI_WORDS["learn_right"].in_(language)
        expect(guide.locator(".reveal")).to_have_text(f"{right} {told.reveal}")
        expect(guide.locator(".formula")).to_have_text(told.formula)
        expect(guide.locator(".did")).to_be_empty()
        if told.leads:
            guide.locator(".lead").click()
        ACTS[step.key](page, told)
        expect(guide.locator(".did")).to_have_text(UI_WORDS["learn_done"].in_(language), timeout=PATIENCE)
        if after and STEPS.index(after) == STEPS.index(step) + 1:
            guide.locator(".next").press("Enter")
        elif after:
            guide.locator(".steps button").nth(STEPS.index(after)).press("Enter")
        if after:
            expect(guide.locator("h2")).to_be_focused()
    page.go_back()
    expect(guide.locator("h2")).to_have_text(steps[-2].title.in_(language))
    guide.locator(".close").press("Enter")
    expect(guide).to_be_hidden()
    expect(page.locator(".vx-rail .learn")).to_be_focused()
    page.locator(".vx-rail .learn").press("Enter")
    expect(guide.locator("h2")).to_have_text(steps[-2].title.in_(language))  # where it was left


def test_a_link_opens_a_step_and_a_wrong_guess_is_told(visit: Visit, url: str) -> None:
    step = next(step for step in STEPS if step.key == "residual")
    guide = visit.page.locator(".vx-guide")
    visit.open(url, step=step.key, image="scene_gear", **step.state)
    told = agrees(guide, step, "en")
    guide.locator(".choices button").nth(1 - told.right).click()
    expect(guide.locator(".reveal")).to_have_text(f"{UI_WORDS['learn_wrong'].en} {told.reveal}")
    visit.page.locator('.vx-rail [data-room="tokens"]').click()
    expect(guide).to_be_visible()  # it goes on beside every room
