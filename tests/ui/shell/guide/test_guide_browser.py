"""Guided path by keyboard: every step opens its room, asks, gives its views' numbers, and notices its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.helpers.app import Visit
from tests.helpers.learn_screens import on_screen
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import PATIENCE, wait_for_room
from tests.helpers.thorough import quick
from vitexplorer.core.text import Language
from vitexplorer.learn import STEPS, Step
from vitexplorer.learn.handout import PRINT
from vitexplorer.models.examples import examples
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.shell.guide.guide import StepText, step_text
from vitexplorer.ui.shell.rail import Rail, RailData, RailItem

pytestmark = pytest.mark.browser
MOST = 400
"""Presses of a key until something must be reached"""
LIT = """() => {
  const {bottom} = document.querySelector('#vx-bar').getBoundingClientRect();
  const sheet = document.querySelector('.vx-guide').getBoundingClientRect();
  const lit = [...document.querySelectorAll('#vx-rooms *')]
    .find((one) => getComputedStyle(one).outlineOffset === '5px' && one.checkVisibility());
  if (!lit) return false;
  const part = lit.getBoundingClientRect(), isBelow = sheet.left < part.right && part.left < sheet.right;
  const end = isBelow ? sheet.top : innerHeight;
  return part.top >= bottom - 1 && Math.min(part.bottom, part.top + 120) <= end + 1;
}"""
"""Script that tests whether a step's target is highlighted, and its top is between the bar and the sheet"""


# ---------------------------------------------------------------------------------------------- by keyboard


@dataclass(frozen=True)
class Hands:
    """Keyboard of a person who uses no mouse."""

    page: Page
    tabs: bool
    """True to reach everything with Tab; a quick run focuses by script and presses only the keys"""

    def until(self, key: str, target: Locator) -> None:
        """Press a key until the target is focused."""
        expect(target).to_be_enabled(timeout=PATIENCE)
        for _ in range(MOST):
            if target.evaluate("(node) => node === document.activeElement"):  # which an answer may have drawn anew
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{target} is not reached with {key}")

    def reach(self, target: Locator, *keys: str) -> None:
        """Focus it, and press keys."""
        if self.tabs:
            self.until("Tab", target)
        else:
            target.focus(timeout=PATIENCE)
        for key in keys:
            self.page.keyboard.press(key)

    def tick(self, box: Locator) -> None:
        """Switch a box on by one press."""
        expect(box).not_to_be_checked(timeout=PATIENCE)
        self.reach(box, "Space")
        expect(box).to_be_checked()


def another_size(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-size .chip"), "Enter")
    hands.reach(hands.page.locator("#vx-size .sheet button:visible").nth(1), "Enter")


def another_patch(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator(".vx-picker:visible"), "ArrowRight")


def the_head(hands: Hands, text: StepText) -> None:
    strip = hands.page.locator("#vx-attention-canvas .below")
    hands.reach(strip.locator(".small[tabindex='0']"))
    group = strip.locator(".group").nth(int(text.becomes["block"]))
    hands.until("ArrowLeft", group.locator(".small").nth(int(text.becomes["head"])))


def the_middle(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator(".vx-changes .examples button").nth(7), "Enter")


def another_class(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-outputs-panel [name=target]"), "ArrowDown")


def every_patch(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-outputs-panel [name=token]"), "End")


def the_next_block(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-attention-canvas .blocks .after"), "Enter")
    hands.reach(hands.page.locator("#vx-attention-canvas .view"), "ArrowLeft")


def the_puzzle(hands: Hands, text: StepText) -> None:
    hands.tick(hands.page.locator(".vx-changes .item[data-key=shuffle_patches] [type=checkbox]"))


def a_smaller_share(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-outputs-panel [name=mask_ratio]"), "ArrowLeft")


def the_mask(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator("#vx-attention-panel [name=mask]"), "ArrowDown")


def a_colour(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator(".vx-words .texts input").first, "Control+A")
    hands.page.keyboard.type("red")
    hands.page.keyboard.press("Enter")


def the_adapter(hands: Hands, text: StepText) -> None:
    hands.reach(hands.page.locator(".vx-training-images .scenes"), "Enter")
    hands.tick(hands.page.locator(".vx-methods [data-key=adapter] [type=checkbox]"))


ACTS: dict[str, Callable[[Hands, StepText], None]] = {
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
    "words": a_colour,
    "decoder": the_mask,
    "petl": the_adapter,
}
"""Action that each step asks for"""


# ---------------------------------------------------------------------------------------------- the path


def agrees(guide: Locator, step: Step, language: Language, image: str = "scene_gear") -> StepText:
    """Check that the guide is filled with the numbers of the views on this picture."""
    text = step_text(step, on_screen(step, image), language)
    expect(guide.locator(".says")).to_have_text(text.says, timeout=PATIENCE)
    expect(guide.locator("h2")).to_have_text(step.title.in_(language))
    expect(guide.locator(".asks")).to_have_text(text.asks)
    expect(guide.locator(".choices button")).to_have_text(text.choices)
    return text


A_FEW = [step for step in STEPS if step.key in ("cut", "class_token")]
"""Steps done in their own room, and in another"""
WALKS = [(language, width, theme) for language in ("en", "zh") for width in (1440, 390) for theme in ("light", "dark")]


@pytest.mark.parametrize("walk", quick(WALKS, keep=[("en", 1440, "light")]))
def test_a_person_walks_the_path_by_keyboard(
    visit: Visit, url: str, walk: tuple[Language, int, str], thorough: bool
) -> None:
    (language, width, theme), steps = walk, list(STEPS) if thorough else A_FEW
    page, guide, hands = visit.page, visit.page.locator(".vx-guide"), Hands(visit.page, thorough)
    page.set_viewport_size({"width": width, "height": 900 if width > 400 else 844})
    visit.open(url, lang=language, image="scene_gear", __theme=theme)
    hands.reach(page.locator(".vx-rail .learn"), "Enter")
    for step, after in pairwise([*steps, None]):
        text = agrees(guide, step, language)
        page.wait_for_function(LIT, timeout=PATIENCE)
        expect(guide.locator(".reveal")).to_be_hidden()
        expect(guide.locator(".formula")).to_be_hidden()
        choices = guide.locator(".choices")
        place = choices.evaluate("(node) => node.offsetTop")
        hands.reach(choices.locator("button").nth(text.right), "Enter")
        right = UI_WORDS["learn_right"].in_(language)
        expect(guide.locator(".reveal")).to_have_text(f"{right} {text.reveal}")
        expect(guide.locator(".formula")).to_have_text(text.formula)
        assert choices.evaluate("(node) => node.offsetTop") == place  # what is told comes below what was pressed
        expect(guide.locator(".did")).to_be_empty()
        if text.leads:
            hands.reach(guide.locator(".lead"), "Enter")
        ACTS[step.key](hands, text)
        expect(guide.locator(".did")).to_have_text(UI_WORDS["learn_done"].in_(language), timeout=PATIENCE)
        if after and STEPS.index(after) == STEPS.index(step) + 1:
            hands.reach(guide.locator(".next"), "Enter")
        elif after:
            hands.reach(guide.locator(".steps button").nth(STEPS.index(after)), "Enter")
        if after:
            expect(guide.locator("h2")).to_be_focused()
    page.go_back()
    expect(guide.locator("h2")).to_have_text(steps[-2].title.in_(language))
    hands.reach(guide.locator(".close"), "Enter")
    expect(guide).to_be_hidden()
    expect(page.locator(".vx-rail .learn")).to_be_focused()
    page.keyboard.press("Enter")
    expect(guide.locator("h2")).to_have_text(steps[-2].title.in_(language))  # where it was left
    agrees(guide, steps[-2], language)
    page.keyboard.press("PageDown")
    expect(guide.locator("h2")).to_have_text(STEPS[STEPS.index(steps[-2]) + 1].title.in_(language))
    page.keyboard.press("PageUp")
    expect(guide.locator("h2")).to_have_text(steps[-2].title.in_(language))


# ---------------------------------------------------------------------------------------------- by touch and mouse


@dataclass(frozen=True)
class Pointer:
    """Finger or mouse of a person who uses no keyboard."""

    page: Page
    is_finger: bool

    def press(self, target: Locator, **options: dict[str, int]) -> None:
        """Tap or click, where nothing lies over the target."""
        (target.tap if self.is_finger else target.click)(timeout=PATIENCE, **options)


def press_a_size(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator("#vx-size .chip"))
    by.press(by.page.locator("#vx-size .sheet button:visible").nth(1))


def press_a_patch(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator(".vx-picker:visible"), position={"x": 5, "y": 5})


def press_the_head(by: Pointer, text: StepText) -> None:
    group = by.page.locator("#vx-attention-canvas .below .group").nth(int(text.becomes["block"]))
    by.press(group.locator(".small").nth(int(text.becomes["head"])))


def press_the_middle(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator(".vx-changes .examples button").nth(7))


def press_another_class(by: Pointer, text: StepText) -> None:
    by.page.locator("#vx-outputs-panel [name=target]").select_option(index=1, timeout=PATIENCE)


def press_every_patch(by: Pointer, text: StepText) -> None:
    by.page.locator("#vx-outputs-panel [name=token]").select_option("patches", timeout=PATIENCE)


def press_the_next_block(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator("#vx-attention-canvas .blocks .after"))
    by.press(by.page.locator("#vx-attention-canvas .view"), position={"x": 5, "y": 5})


def press_the_puzzle(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator(".vx-changes .item[data-key=shuffle_patches] [type=checkbox]"))


def press_a_smaller_share(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator("#vx-outputs-panel [name=mask_ratio]"), position={"x": 20, "y": 12})


def write_a_colour(by: Pointer, text: StepText) -> None:
    field = by.page.locator(".vx-words .texts input").first
    by.press(field)
    field.fill("red")
    field.press("Enter")


def press_no_mask(by: Pointer, text: StepText) -> None:
    by.page.locator("#vx-attention-panel [name=mask]").select_option("False", timeout=PATIENCE)


def press_the_adapter(by: Pointer, text: StepText) -> None:
    by.press(by.page.locator(".vx-training-images .scenes"))
    by.press(by.page.locator(".vx-methods [data-key=adapter] [type=checkbox]"))


PRESSES: dict[str, Callable[[Pointer, StepText], None]] = {
    "cut": press_a_size,
    "embed": press_a_patch,
    "position": press_the_puzzle,
    "query_key": press_a_patch,
    "heads": press_the_head,
    "class_token": press_the_middle,
    "residual": press_another_class,
    "stack": press_every_patch,
    "swin": press_the_next_block,
    "without_labels": press_a_smaller_share,
    "words": write_a_colour,
    "decoder": press_no_mask,
    "petl": press_the_adapter,
}
"""Action that each step asks for, without a keyboard"""


def test_every_step_has_its_action() -> None:
    assert ACTS.keys() == PRESSES.keys() == {step.key for step in STEPS}


IN_REACH = """(selector) => [...document.querySelectorAll(selector)].every((one) => {
  const {left, right, top, bottom} = one.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  return [[left + 2, y], [right - 2, y], [x, top + 2], [x, bottom - 2]]
    .every((at) => one.contains(document.elementFromPoint(...at))); })"""
"""Script that tests whether elements lie whole in the window with nothing over them"""


@pytest.mark.parametrize(("width", "height", "is_finger"), [(390, 844, True), (1366, 768, False)])
@pytest.mark.thorough
def test_a_person_walks_the_path_with_a_photograph_of_their_own(
    chromium: Browser, url: str, width: int, height: int, is_finger: bool
) -> None:
    visit = Visit(chromium, width, height, has_touch=is_finger)
    page, guide, by = visit.page, visit.page.locator(".vx-guide"), Pointer(visit.page, is_finger)
    visit.open(url, model="scenes_vit_patch16_192")
    page.locator("#vx-image .file").set_input_files(examples()["chelsea"].path)
    page.wait_for_function("() => new URLSearchParams(location.search).get('image')?.startsWith('upload-')")
    visit.wait_ready()
    by.press(page.locator(".vx-rail .learn"))
    for step in STEPS:
        text = agrees(guide, step, "en", "chelsea")
        page.wait_for_function(LIT, timeout=PATIENCE)
        assert page.evaluate(IN_REACH, ".vx-guide .turns button"), step.key
        by.press(guide.locator(".choices button").nth(text.right))
        expect(guide.locator(".reveal")).to_contain_text(text.reveal)
        assert page.evaluate(IN_REACH, ".vx-guide .reveal"), step.key
        assert page.evaluate(IN_REACH, ".vx-guide .turns button"), step.key
        if text.leads:
            by.press(guide.locator(".lead"))
        PRESSES[step.key](by, text)
        expect(guide.locator(".did")).to_have_text(UI_WORDS["learn_done"].en, timeout=PATIENCE)
        if step != STEPS[-1]:
            by.press(guide.locator(".next"))
    by.press(guide.locator(".before"))
    expect(guide.locator("h2")).to_have_text(STEPS[-2].title.en)
    by.press(guide.locator(".close"))
    expect(guide).to_be_hidden()
    visit.close()


@pytest.mark.thorough
def test_a_room_that_a_step_leads_to_is_filled_once(visit: Visit, url: str) -> None:
    """The room is filled with the step's state at once, or a press meanwhile would be undone."""
    page, step = visit.page, next(step for step in STEPS if step.key == "position")
    visit.open(url, step=step.key, image="scene_gear", **step.state)
    text = agrees(page.locator(".vx-guide"), step, "en")
    page.locator(".vx-guide .choices button").nth(text.right).click()
    page.evaluate(
        """() => {
          const told = {subtree: true, attributeFilter: ['data-text']};
          window.filled = [];
          new MutationObserver((changes) => {
            window.filled.push(...changes.map(({target}) => target.dataset.text));
          }).observe(document.querySelector('#vx-rooms'), told);
        }"""
    )
    page.route("**/queue/join**", lambda asked: (time.sleep(1), asked.continue_()))  # the capture comes late
    page.locator(".vx-guide .lead").click()
    page.wait_for_function("() => window.filled.length", timeout=PATIENCE)
    page.unroute_all()
    page.wait_for_timeout(500)
    assert page.evaluate("window.filled") == [""]


def refused_but_paper(asked: Route, held: list[Route]) -> None:
    """The handout waits, other questions are refused."""
    if (asked.request.post_data_json["event_data"] or {}).get("paper"):
        held.append(asked)
    else:
        asked.fulfill(status=422, json={"error": "Not this one."})


@pytest.mark.thorough
def test_the_path_is_read_and_printed_in_a_tab(visit: Visit, url: str) -> None:
    """The tab draws without a server, has the guide's text, and prints itself without its button."""
    page, step = visit.page, STEPS[0]
    visit.open(url, step=step.key, image="scene_gear", **step.state)
    text = agrees(page.locator(".vx-guide"), step, "en")
    page.route("**/run/predict**", lambda asked: asked.fulfill(status=422, json={"error": "No room."}))
    with page.expect_popup() as refused:
        page.locator(".vx-guide .handout").click()
    expect(page.locator(".vx-status .line")).to_have_text("No room.")
    expect(page.locator(".vx-guide .handout")).to_be_enabled()  # to be asked for again
    assert refused.value.is_closed()
    page.unroute_all()
    held: list[Route] = []
    page.route("**/run/predict**", lambda asked: refused_but_paper(asked, held))
    with page.expect_popup() as popup:
        Hands(page, tabs=True).reach(page.locator(".vx-guide .handout"), "Enter")
    expect(popup.value.locator("body")).to_have_text(UI_WORDS["learn_handout_wait"].en)
    page.bring_to_front()
    page.locator(".vx-guide .next").click()  # and another question is refused
    expect(page.locator(".vx-status .line")).to_have_text("Not this one.")
    expect(page.locator(".vx-guide .handout")).to_be_disabled()
    held[0].continue_()
    page.unroute_all()
    assert visit.forgive() >= 2
    handout = popup.value
    expect(handout.locator(".js-plotly-plot")).to_have_count(len(STEPS), timeout=PATIENCE)
    expect(handout.locator("body")).to_contain_text(text.reveal)
    assert handout.evaluate("self.origin") == "null"  # its scripts reach nothing of the page
    handout.evaluate("() => { window.print = () => { window.isPrinted = true; }; }")
    handout.get_by_role("button", name=PRINT.en).click()
    assert handout.evaluate("window.isPrinted")
    handout.emulate_media(media="print")
    expect(handout.locator(".print")).to_be_hidden()
    expect(handout.locator("h1")).to_be_visible()
    page.locator(".vx-guide .before").click()
    expect(page.locator(".vx-guide .says")).to_have_text(text.says)


def test_a_link_opens_a_step_and_a_wrong_guess_is_marked(visit: Visit, url: str) -> None:
    """A link that names only a step opens its state."""
    step = next(step for step in STEPS if step.key == "residual")
    guide = visit.page.locator(".vx-guide")
    visit.open(url, step=step.key, image="scene_gear")
    text = agrees(guide, step, "en")
    assert step.state.items() <= dict(parse_qsl(urlsplit(visit.page.url).query)).items()
    guide.locator(".choices button").nth(1 - text.right).click()
    expect(guide.locator(".reveal")).to_have_text(f"{UI_WORDS['learn_wrong'].en} {text.reveal}")
    visit.page.locator('.vx-rail [data-room="tokens"]').click()
    expect(guide).to_be_visible()  # it goes on beside every room


def test_closing_gives_back_the_model_the_room_and_the_settings(visit: Visit, url: str) -> None:
    page, guide = visit.page, visit.page.locator(".vx-guide")
    visit.open(url, model="scenes_vit_patch16_192", room="flow", block="3", image="scene_gear")
    wait_for_room(page, "flow")
    page.locator(".vx-rail .learn").click()
    note = UI_WORDS["learn_borrows"].format(model="DINO (drawn scenes)").en
    expect(guide.locator(".borrows")).to_have_text(note)
    expect(page.locator("#vx-model .vx-model")).to_have_attribute("data-model", "scenes_dino_patch16_192")
    guide.locator(".close").click()
    expect(guide).to_be_hidden()
    expect(page.locator("#vx-model .vx-model")).to_have_attribute("data-model", "scenes_vit_patch16_192")
    expect(page.locator(".vx-rail")).to_have_attribute("data-room", "flow")
    wait_for_room(page, "flow")
    given_back = {"model": "scenes_vit_patch16_192", "room": "flow", "block": "3"}
    found = dict(parse_qsl(urlsplit(page.url).query))
    assert given_back.items() <= found.items()
    assert "step" not in found


def test_who_is_on_the_rail_stays_there_when_it_is_drawn_anew(pages: str, desktop: BrowserContext) -> None:
    page = PlainPage(desktop.new_page(), pages)
    rooms = [RailItem(key="attention", title="Attention"), RailItem(key="flow", title="Flow")]
    rail = Rail(rooms=("attention", "flow"))
    page.open(("rail", rail, RailData(label="Rooms", learn="Learn", rooms=rooms, room="attention", first="attention")))
    for button in (page.page.locator(".learn"), page.page.locator("button[data-room=flow]")):
        button.focus()
        page.send("rail", RailData(label="Rooms", learn="Learn", rooms=rooms, room="flow", first="attention"))
        expect(page.page.locator('[data-room=flow][aria-current="page"]')).to_be_visible()
        expect(button).to_be_focused()
