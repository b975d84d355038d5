"""When a room of the page is whole, for the tests that walk through all of them."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from vitexplorer.ui.page import ROOMS

PATIENCE = 60_000
"""milliseconds"""
FILLED = {
    "size": "#vx-size-board .vx-counting:not([data-empty])",
    "what_if": '.vx-changes:not([data-state="empty"])',
    "compare": '.vx-sides:not([data-state="empty"])',
    "finetune": ".vx-teach .box, .vx-methods:not([data-state='empty'])",
    "folder": ".vx-survey:not([data-state='begin'])",
}
"""rooms in which there is more than a picture, once it has its words"""
EXCEPTION = re.compile(r"Traceback|\b\w+Error\b|\bException\b|\bundefined\b|\[object |Something went wrong|\bNone\b")

LEAVING = """() => [...document.querySelectorAll('.vx-canvas, .vx-board')].flatMap((root) => {
  const {left, right} = root.getBoundingClientRect();
  const isOut = (box) => box.width && (box.left < left - 1 || box.right > right + 1);
  return [...root.querySelectorAll('.picture, .patches, .heads, .segment, .save, select, input[type=range]')]
    .filter((part) => part.checkVisibility() && isOut(part.getBoundingClientRect())).map((part) => part.outerHTML);
})"""
"""what sticks out of a canvas or board at a side; what scrolls within it is not asked"""
GRAVE = """async (isWhole) => {
  const room = [...document.querySelectorAll('#vx-rooms [role=tabpanel]')].find((panel) => panel.checkVisibility());
  const {violations} = await axe.run(isWhole ? document : room, {resultTypes: ['violations']});
  return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
    .map(({id, nodes}) => [id, nodes.map(({html}) => html.slice(0, 200))]); }"""
"""what axe finds in the room that is looked at, or on the whole page"""
BLANK = """() => [...document.querySelectorAll('main select')]
  .filter((list) => list.checkVisibility() && !list.selectedOptions[0]?.label).map((list) => list.outerHTML)"""
SHIFTS = """() => { window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: 'layout-shift', buffered: true}); }"""
"""adds up how far things on the page move by themselves, as Chromium measures it"""
UNREAD = """() => {
  const room = [...document.querySelectorAll('#vx-rooms [role=tabpanel]')].find((panel) => panel.checkVisibility());
  const isSeen = (one) => {
    const {width, height} = one.getBoundingClientRect();
    return width > 24 && height > 24 && one.checkVisibility({visibilityProperty: true});
  };
  const nameOf = (one) => one.getAttribute('aria-label') || one.getAttribute('alt') || '';
  const pictures = [...room.querySelectorAll('canvas, svg, img, [role=img]')]
    .filter((one) => isSeen(one) && !one.closest('[aria-hidden=true]'));
  const found = [];
  for (const one of pictures) {
    const around = one.closest('[role=img], [role=application], button, label');
    const name = around ? nameOf(around) || around.textContent.trim() : nameOf(one);
    const isShown = around?.matches('[role]') ?? false;
    const [frame, at] = [one.closest('.vx-frame, .vx-progress'), one.outerHTML.slice(0, 200)];
    if (!name) found.push(['no name', at]);
    else if (isShown && around === one && !/[0-9]/.test(name)) found.push([name, at]);
    const tables = isShown ? [...frame?.querySelectorAll('table, .vx-table') ?? []] : [];
    if (isShown && frame && !tables.some((made) => !made.hidden)) found.push(['no table', at]);
  }
  return found; }"""
"""pictures of the room that is looked at which somebody who does not see them cannot read: without a name, a name
without a number, no table beside it"""
MOVING = """() => [...document.querySelectorAll('*')].filter((one) => [null, '::before', '::after'].some((part) => {
  const {transitionDuration, animationName, scrollBehavior} = getComputedStyle(one, part);
  const lasts = transitionDuration.split(',').some((time) => parseFloat(time) > 0);
  return lasts || animationName !== 'none' || scrollBehavior === 'smooth';
})).map((one) => one.outerHTML.slice(0, 120))"""
"""what would move by itself, or on its way from one state to another"""
UNSEEN = """() => {
  const room = [...document.querySelectorAll('#vx-rooms [role=tabpanel]')].find((panel) => panel.checkVisibility());
  const marked = (node) => node && getComputedStyle(node).outlineStyle !== 'none' && node.checkVisibility();
  const unseen = [...room.querySelectorAll('a[href], button, input, select, summary, textarea, [tabindex="0"]')]
    .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.tabIndex >= 0)
    .filter((one) => {
      one.focus({focusVisible: true});
      const around = one.closest('label') ?? one, [box] = around.getClientRects();
      const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      const outlined = [one, one.parentElement, around, ...around.querySelectorAll('*')].some(marked);
      return !outlined || !hit || !(around.contains(hit) || hit.contains(around));
    });
  document.activeElement.blur();
  scrollTo(0, 0);
  return unseen.map(({outerHTML}) => outerHTML.slice(0, 200)); }"""
"""what a keyboard comes to in the room that is looked at without being seen: no outline, or under bar or rail"""


def go_to(page: Page, room: str, language: str = "en") -> None:
    """By the rail, until it is whole."""
    title = next(one.title for one in ROOMS if one.key == room).in_(language)
    page.locator(".vx-rail").get_by_role("button", name=title, exact=True).click()
    wait_for_room(page, room)


def wait_for_room(page: Page, room: str) -> None:
    """Until a room that is entered is whole."""
    if room in ("patches", "attention", "flow"):
        wait_for_own_picture(page, room)
    if room in FILLED:
        page.locator(FILLED[room]).first.wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-figures:visible").count() and not page.locator(f"#vx-{room}-panel").count():
        page.locator(f"#vx-{room}-figures > button").click()  # folded until somebody asks
        panel_of(page, room).wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-panel").count():
        wait_for_view(page, room)


def choose_view(page: Page, room: str, view: str) -> None:
    """By its preview, under the figure or beside the room's own picture."""
    page.locator(f".vx-views:has(#vx-{room}-panel), #vx-{room}-panel").locator(
        f'button[data-view="{view}"]:visible'
    ).first.click()
    wait_for_view(page, room, view)


def choose_model(page: Page, name: str) -> None:
    """By typing its name, until the page shows it."""
    page.locator("#vx-model .chip").click()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    shown = re.compile(rf"^{name}\b.*ms$")
    expect(page.locator(".vx-status")).to_have_attribute("data-text", shown, timeout=PATIENCE)


def panel_of(page: Page, room: str) -> Locator:
    return page.locator(f"#vx-{room}-panel .vx-panel")


def wait_for_view(page: Page, room: str, view: str | None = None) -> None:
    """Until the panel shows a view or says why not; a figure is drawn and has something in it."""
    named = f'[data-view="{view}"]' if view else "[data-view]"
    panel = page.locator(f"#vx-{room}-panel .vx-panel{named}")
    panel.wait_for(state="attached", timeout=PATIENCE)
    if page.locator(f".vx-views[data-own]:has(#vx-{room}-panel)").count():
        wait_for_own_picture(page, room)  # the view is the room's own
        return
    page.wait_for_function(
        """([room, view]) => { const panel = document.querySelector(`#vx-${room}-panel .vx-panel`);
        return panel.dataset.state === 'refused' || panel.dataset.drawn === panel.dataset.view
          && (!view || panel.dataset.view === view)
          && panel.querySelectorAll('.figure .main-svg').length > 0
          && panel.querySelector('.figure').getBoundingClientRect().height > 100
          && panel.querySelector('.figure :is(.annotation, .imagelayer image, .heatmaplayer image)'); }""",
        arg=[room, view],
        timeout=PATIENCE,
    )
    if panel.get_attribute("data-state") == "refused":
        assert len(panel.locator(".refused").inner_text()) > 20
        return
    # a gradient or clip that is addressed by the page's whole address is lost when that changes
    assert "url(&quot;http" not in panel.locator(".figure").inner_html(), view


def wait_for_canvas(page: Page, room: str) -> None:
    """Until the canvas of a room has painted a map that is not all one number."""
    page.wait_for_function(
        f"document.querySelector('#vx-{room}-canvas .vx-canvas')?.dataset.state === 'ready'", timeout=PATIENCE
    )
    shown = page.evaluate(f"document.querySelector('#vx-{room}-canvas .vx-canvas').vx.read().map")
    assert max(shown) > min(shown) >= 0


def wait_for_own_picture(page: Page, room: str) -> None:
    """Until the board or canvas of a room is there, or the sentence that says why there is none."""
    own = ".vx-board[data-ready]" if room == "patches" else f"#vx-{room}-canvas"
    instead = f"#vx-{room}-refused:visible, #vx-{room}-panel .vx-panel[data-view]:visible"
    page.locator(f"{own}:visible, {instead}").first.wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-panel:visible").count():
        return
    if page.locator(f"#vx-{room}-refused").count():
        assert page.locator(own).count() == 0
        assert len(page.locator(f"#vx-{room}-refused").first.inner_text()) > 40
    elif room != "patches":
        wait_for_canvas(page, room)


def painted(page: Page) -> None:
    """Until what has changed is laid out and on the screen."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def assert_nothing_went_wrong(page: Page, room: str) -> None:
    """No text of an exception stands on the page, and no list without what is chosen of it."""
    said = page.locator("main").inner_text()
    assert page.evaluate(BLANK) == [], room
    assert not EXCEPTION.search(said), (room, EXCEPTION.search(said))


def assert_open_to_all(page: Page, room: str, *, is_whole: bool) -> None:
    """axe finds nothing serious or critical in a room or, where `is_whole`, on the page with its bar and rail, too."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    grave = page.evaluate(GRAVE, is_whole)
    assert not grave, (room, grave)


def assert_is_read(page: Page, room: str) -> None:
    """Every canvas and figure of a room says what is seen with its numbers, and has a table of them."""
    unread = page.evaluate(UNREAD)
    assert not unread, (room, unread)


def assert_still(page: Page, room: str) -> None:
    """Nothing moves on the page of somebody who asks for less motion, as the tests do."""
    moving = page.evaluate(MOVING)
    assert not moving, (room, moving)


def assert_focus_is_seen(page: Page, room: str) -> None:
    """Whatever the keyboard comes to in a room is outlined and neither under the bar nor under a phone's rail."""
    unseen = page.evaluate(UNSEEN)
    assert not unseen, (room, page.viewport_size, unseen)


def assert_fits(page: Page, room: str) -> None:
    """The page is as wide as its window, and nothing on a picture's board or canvas leaves it at a side."""
    painted(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (room, page.viewport_size)
    assert page.evaluate(LEAVING) == [], (room, page.viewport_size)
