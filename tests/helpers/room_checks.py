"""Waits and checks for the rooms of the page, for tests that walk through all of them."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

import vitexplorer as vx
from tests.helpers.app import PATIENCE
from vitexplorer.ui.page import ROOMS

FILLED = {
    "size": "#vx-size-board .vx-counting:not([data-empty])",
    "what_if": '.vx-changes:not([data-state="empty"])',
    "compare": '.vx-sides:not([data-state="empty"])',
    "finetune": ".vx-teach .box, .vx-methods:not([data-state='empty'])",
    "check_up": ".vx-check-up:not([data-state='empty'])",
    "folder": ".vx-survey:not([data-state='begin'])",
}
"""Selectors of filled content, for rooms with more than a picture"""
EXCEPTION = re.compile(r"Traceback|\b\w+Error\b|\bException\b|\bundefined\b|\[object |Something went wrong|\bNone\b")

LATIN = re.compile(
    r"English|Explorer|Transformer|timm|ViT[-\w/]*|DeiT[-\w/]*|DINO|MAE|Swin(-\w)?|VPT[-\w]*|BitFit|SSF|LoRA|adapter|AdaptFormer|"
    r"peft|Page(Up|Down)|PNG|SVG|CSV|csv|zip|safetensors|Python|Esc|Escape|Enter|Home|px|MB|seed|buffer|[A-Z]/|[A-Z]\w?|kᵀ|"
    r"CKA|MACs?|MLP|LayerNorm|LayerScale|CLS|PCA|rollout|token|[Ll]ogits?|lens|generic|relevance|gradient|Grad-CAM|(Le|Libra)Grad|(Attn)?LRP|"
    r"(Mask|S|Clear|NA|Proxy)?CLIP|Surgery|GEM|Grad-ECLIP|dino|txt|"
    r"strict|False|blocks|norm|weight|softmax|bias|rownorm|fuse|cos|Viridis|Magma|Cividis|Inferno|\w*_\w*"
)
"""Latin words in Chinese pages: proper names, formats, names of methods and of timm"""
PAPERS = [record.paper for record in (*vx.views().values(), *vx.comparisons().values()) if record.paper]
AUTHORS = {name for paper in PAPERS for name in re.findall(r"[A-Z][a-z]+", paper.citation)}
TEXT = """() => { const skip = new Set(['CODE', 'PRE', 'SCRIPT', 'STYLE']);
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT); const out = [];
  while (walk.nextNode()) { let node = walk.currentNode.parentElement, ok = node.checkVisibility();
    for (let up = node; up; up = up.parentElement)
      ok &&= !skip.has(up.tagName) && !up.matches('.cm-editor, .vx-panel .figure');
    if (ok) out.push(walk.currentNode.textContent.trim()); } return out.filter(Boolean); }"""
"""Script that returns all visible text, except code and figures"""
SPOKEN = """() => [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility()).flatMap((one) =>
  ['aria-label', 'title', 'alt', 'placeholder', 'aria-valuetext', 'aria-description', 'aria-roledescription']
    .map((name) => one.getAttribute(name)?.trim()).filter(Boolean))"""
"""Script that returns all text that is read out or appears under the pointer"""
HALF = re.compile(r"[\u4e00-\u9fff）”][,.;:!?(]|[,;:!?)][\u4e00-\u9fff]")
"""Half-width punctuation beside a Chinese character"""

LEAVING = """() => [...document.querySelectorAll('.vx-canvas, .vx-board')].flatMap((root) => {
  const {left, right} = root.getBoundingClientRect();
  const isOut = (box) => box.width && (box.left < left - 1 || box.right > right + 1);
  return [...root.querySelectorAll('.picture, .patches, .heads, .segment, .save, select, input[type=range]')]
    .filter((part) => part.checkVisibility() && isOut(part.getBoundingClientRect())).map((part) => part.outerHTML);
})"""
"""Script that lists elements beyond the sides of a canvas or board, except those that scroll within it"""
GRAVE = """async (isWhole) => {
  const room = [...document.querySelectorAll('#vx-rooms [role=tabpanel]')].find((panel) => panel.checkVisibility());
  const {violations} = await axe.run(
    {include: [isWhole ? document : room], exclude: ['.main-svg']}, {resultTypes: ['violations']});
  return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
    .map(({id, nodes}) => [id, nodes.map(({html}) => html.slice(0, 200))]); }"""
"""Script that lists serious violations found by axe in the current room, or on the whole page.

The thousands of parts of a figure are left out: the figure is one image with a text, see `assert_is_read`.
"""
CUT = """() => [...document.querySelectorAll('main :is(.vx-previews .title, .cbaxis text)')]
  .filter((words) => words.parentElement.checkVisibility()
    && (words.style.display === 'none' || words.scrollHeight > words.clientHeight + 1 && words.matches('.title')))
  .map(({textContent}) => textContent)"""
"""Script that lists titles of views that are cut off, and numbers of colour bars that plotly hides"""
BLANK = """() => [...document.querySelectorAll('main select')]
  .filter((list) => list.checkVisibility() && !list.selectedOptions[0]?.label).map((list) => list.outerHTML)"""
SHIFTS = """() => { window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: 'layout-shift', buffered: true}); }"""
"""Script that sums the layout shift measured by Chromium"""
OWN_PICTURE = """(room) => {
  const find = (selector) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
  if (find(`#vx-${room}-panel .vx-panel[data-view]`)) return {};
  const refused = find(`#vx-${room}-refused`);
  if (refused) return {refusal: refused.innerText};
  if (room === 'network') return find('.vx-network[data-ready]') ? {} : null;
  if (room === 'patches') return find('.vx-board[data-ready]') ? {} : null;
  const canvas = find(`#vx-${room}-canvas .vx-canvas[data-state=ready]`);
  const map = canvas?.vx.read()?.map; // read is null before the first frame
  return map ? {map: [...map]} : null; }"""
"""Script that returns the content of the place of a room's own picture; null while there is none"""
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
"""Script that lists pictures of the current room without a text alternative: no name, a name without a number, or no
table"""
MOVING = """() => [...document.querySelectorAll(':not(.main-svg *)')]
.filter((one) => [null, '::before', '::after'].some((part) => {
  const {transitionDuration, animationName, scrollBehavior} = getComputedStyle(one, part);
  const lasts = transitionDuration.split(',').some((time) => parseFloat(time) > 0);
  return lasts || animationName !== 'none' || scrollBehavior === 'smooth';
})).map((one) => one.outerHTML.slice(0, 120))"""
"""Script that lists elements with animations or transitions"""
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
      const below = getComputedStyle(one).pointerEvents === 'none' && one.closest('.vx-panel'); // pointers pass through
      return !outlined || !hit || !(around.contains(hit) || hit.contains(around) || (below && below.contains(hit)));
    });
  document.activeElement.blur();
  scrollTo(0, 0);
  return unseen.map(({outerHTML}) => outerHTML.slice(0, 200)); }"""
"""Script that lists focusable elements of the current room without an outline, or covered by bar or rail"""


def go_to(page: Page, room: str, language: str = "en") -> None:
    """Enter a room by the rail and wait until it is complete."""
    title = next(one.title for one in ROOMS if one.key == room).in_(language)
    page.locator(".vx-rail").get_by_role("button", name=title, exact=True).click()
    wait_for_room(page, room)


def wait_for_room(page: Page, room: str) -> None:
    """Wait until the entered room is complete."""
    if room not in ("finetune", "folder", "check_up"):  # what a hidden room holds is not in the page
        page.locator(f"#vx-{room}-panel, #vx-{room}-figures").first.wait_for(state="attached", timeout=PATIENCE)
    if room in ("network", "patches", "attention", "flow"):
        wait_for_own_picture(page, room)
    if room in FILLED:
        page.locator(FILLED[room]).first.wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-figures:visible").count() and not page.locator(f"#vx-{room}-panel").count():
        page.locator(f"#vx-{room}-figures > button").click()  # folded until somebody asks
        panel_of(page, room).wait_for(timeout=PATIENCE)
    if page.locator(f"#vx-{room}-panel").count():
        wait_for_view(page, room)


def choose_view(page: Page, room: str, view: str) -> None:
    """Choose a view by its preview, under the figure or beside the room's own picture."""
    page.locator(f".vx-views:has(#vx-{room}-panel), #vx-{room}-panel").locator(
        f'button[data-view="{view}"]:visible'
    ).first.click()
    wait_for_view(page, room, view)


def choose_model(page: Page, name: str) -> None:
    """Choose a model by typing its name and wait until the page shows it."""
    page.locator("#vx-model .chip").click()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    status = re.compile(rf"^{name}\b.*\bms\b")
    expect(page.locator(".vx-status")).to_have_attribute("data-text", status, timeout=PATIENCE)


def panel_of(page: Page, room: str) -> Locator:
    return page.locator(f"#vx-{room}-panel .vx-panel")


def wait_for_view(page: Page, room: str, view: str | None = None) -> None:
    """Wait until the panel shows a view, whose figure must not be empty, or a refusal."""
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
        assert len(panel.locator(".refused:visible, .elsewhere:visible").inner_text()) > 20
        return
    # a gradient or clip that is addressed by the page's whole address is lost when that changes
    assert "url(&quot;http" not in panel.locator(".figure").inner_html(), view


def wait_for_own_picture(page: Page, room: str) -> None:
    """Wait for the board of a room, its canvas with a map that is not constant, a view in their place, or a refusal."""
    content = page.wait_for_function(OWN_PICTURE, arg=room, timeout=PATIENCE).json_value()
    if "map" in content:
        assert max(content["map"]) > min(content["map"]) >= 0
    if "refusal" in content:
        assert len(content["refusal"]) > 40


def painted(page: Page) -> None:
    """Wait until changes are laid out and on the screen; a browser that stops painting is waited for 2 s, not for ever.

    `evaluate` has no time limit of its own.
    """
    page.evaluate("""() => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 2000);
    })""")


def assert_nothing_went_wrong(page: Page, room: str) -> None:
    """Check that the page shows no text of an exception, and no list without a selection."""
    text = page.locator("main").inner_text()
    assert page.evaluate(BLANK) == [], room
    assert not EXCEPTION.search(text), (room, EXCEPTION.search(text))


def assert_is_chinese(page: Page, room: str) -> None:
    """Check that what is read and read out in a room is Chinese with Chinese punctuation, names apart."""
    text = page.evaluate(TEXT) + page.evaluate(SPOKEN)
    words = {word for line in text for word in re.findall(r"[A-Za-z][A-Za-z_/-]+", line)}
    english = [word for word in words - AUTHORS if not LATIN.fullmatch(word)]
    half = [line for line in text if HALF.search(line)]
    assert not english + half, (room, english, half)


def assert_open_to_all(page: Page, room: str, *, is_whole: bool) -> None:
    """Check that axe finds nothing serious or critical in a room or, with `is_whole`, on the whole page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    grave = page.evaluate(GRAVE, is_whole)
    assert not grave, (room, grave)


def assert_is_read(page: Page, room: str) -> None:
    """Check that every canvas and figure of a room has a text alternative with numbers, and a table."""
    unread = page.evaluate(UNREAD)
    assert not unread, (room, unread)


def assert_still(page: Page, room: str) -> None:
    """Check that nothing moves under `prefers-reduced-motion`, which the tests set."""
    moving = page.evaluate(MOVING)
    assert not moving, (room, moving)


def assert_focus_is_seen(page: Page, room: str) -> None:
    """Check that focused elements of a room are outlined and not covered by the bar or a phone's rail."""
    unseen = page.evaluate(UNSEEN)
    assert not unseen, (room, page.viewport_size, unseen)


def assert_fits(page: Page, room: str) -> None:
    """Check that the page is as wide as its window, and that nothing exceeds the sides of a board or canvas."""
    painted(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (room, page.viewport_size)
    leaving, cut = page.evaluate(LEAVING), page.evaluate(CUT)
    assert not leaving, (room, page.viewport_size, leaving)
    assert not cut, (room, page.viewport_size, cut)
