"""Count tables: shares and totals, large numbers in short, and the table as a person reads it in headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

from tests.app import served
from vitexplorer.types import Term
from vitexplorer.ui.calculator import CALCULATOR_WORDS, MACS, PARAMETERS, CountTable, compact, parts_table, terms_table
from vitexplorer.ui.static_files import SERVING
from vitexplorer.words import Text

TITLE = Text("Closed formula", "闭式公式")
HOSTILE = "<img src=x onerror='window.stolen=1'> ${window.stolen=1} {{value}} & 头"
LONG = " + ".join(f"{n} · 768² · 3072" for n in range(2, 40))
TERMS = (
    Term(Text("projection", "投影"), "P² · C · D", "4² · 3 · 10", 480),
    Term(Text("blocks", "块"), "Σ L_s · 2 · D_s²", LONG, 1_234_519),
    Term(Text("bias", "偏置"), "D", "1", 1),
    Term(Text(HOSTILE, HOSTILE), HOSTILE, HOSTILE, 0),
)


# ---------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("count", "unit", "short"),
    [
        (0, PARAMETERS, "0"),
        (999, PARAMETERS, "999"),
        (1_000, PARAMETERS, "1.0 k"),
        (999_949, PARAMETERS, "999.9 k"),
        (999_950, PARAMETERS, "1.0 M"),
        (5_717_416, PARAMETERS, "5.7 M"),
        (86_567_656, PARAMETERS, "86.6 M"),
        (1_843_000_000, PARAMETERS, "1.8 B"),
        (17_563_000_000, MACS, "17.6 G"),
        (-1_500, PARAMETERS, "-1.5 k"),
    ],
)
def test_large_counts_in_short(count, unit, short):
    assert compact(count, unit) == short


def test_terms_add_up_to_the_total_and_shares_to_one():
    table = terms_table(TERMS, "en", title=TITLE)
    assert table.total == 480 + 1_234_519 + 1
    assert [row.count for row in table.rows] == [term.count for term in TERMS]
    assert sum(row.share for row in table.rows) == pytest.approx(1)
    assert table.rows[0].share == 480 / 1_235_000
    assert (table.rows[1].symbols, table.rows[1].numbers) == (TERMS[1].symbols, LONG)
    assert table.compact == "1.2 M"


def test_parts_have_no_formula_and_counts_without_a_whole_have_no_share():
    table = parts_table(["a", "b"], [0, 0], "en", title=TITLE, unit=MACS)
    assert [(row.name, row.share, row.symbols, row.numbers) for row in table.rows] == [
        ("a", 0, "", ""),
        ("b", 0, "", ""),
    ]
    assert table.columns["count"] == "MACs"


def test_a_count_for_each_part():
    with pytest.raises(ValueError, match="shorter"):
        parts_table(["a", "b"], [1], "en", title=TITLE)


@pytest.mark.parametrize("key", CALCULATOR_WORDS)
def test_the_words_are_of_the_language_asked_for(key):
    tables = {language: terms_table(TERMS, language, title=TITLE) for language in ("en", "zh")}
    assert tables["en"].words[key] == CALCULATOR_WORDS[key].en
    assert tables["zh"].words[key] == CALCULATOR_WORDS[key].zh
    assert CALCULATOR_WORDS[key].en != CALCULATOR_WORDS[key].zh
    assert (tables["zh"].title, tables["zh"].unit, tables["zh"].rows[0].name) == ("闭式公式", "个参数", "投影")


# ---------------------------------------------------------------------------------------------- in the browser


def double_the_first() -> object:
    first, *rest = TERMS
    return terms_table([Term(first.name, first.symbols, first.numbers, 2 * first.count), *rest], "en", title=TITLE)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A page with a table, a button that doubles its first term, and a table without rows."""
    note = Text("No closed formula is stated.", "没有闭式公式。")
    with gr.Blocks(analytics_enabled=False) as page:
        table = CountTable(value=terms_table(TERMS, "en", title=TITLE), elem_id="terms")
        CountTable(value=terms_table([], "en", title=TITLE, note=note), elem_id="none")
        button = gr.Button("double")
        button.click(double_the_first, None, table, queue=False, show_progress="hidden")
    with served(page, app_kwargs=SERVING) as url:
        yield url


@pytest.fixture
def page(desk, address) -> Iterator[Page]:
    """The tables on a wide screen; any error in a script fails the test."""
    errors: list[str] = []
    page = desk.new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    expect(page.locator("#terms tbody tr")).to_have_count(len(TERMS), timeout=30_000)
    yield page
    page.close()
    assert errors == []


@pytest.mark.browser
def test_the_table_reads_as_its_terms(page):
    table = page.locator("#terms .vx-count")
    expect(table.locator(".headline")).to_have_text("1,235,000 parameters ≈ 1.2 M")
    expect(table.locator("thead th")).to_have_text(["Term", "Formula", "With numbers", "Parameters", "Share"])
    expect(page.get_by_role("group", name="Closed formula")).to_be_visible()
    row = page.get_by_role("row", name="blocks")
    expect(row.get_by_role("rowheader")).to_have_text("blocks")
    expect(row.get_by_role("cell")).to_have_text(["Σ Ls · 2 · Ds²", LONG, "1,234,519", "100.0 %"])
    symbols = row.locator(".symbols .math").inner_html().replace("&nbsp;", " ")
    assert symbols == "Σ <i>L</i><sub>s</sub> · 2 · <i>D</i><sub>s</sub>²"
    expect(table.locator("tbody .percent")).to_have_text(["< 0.1 %", "100.0 %", "< 0.1 %", "0.0 %"])
    expect(table.locator("tfoot")).to_have_text("Total1,235,000100.0 %")


@pytest.mark.browser
def test_text_is_text(page):
    row = page.locator("#terms tbody tr").last
    expect(row.locator("th")).to_have_text(HOSTILE)
    expect(row.locator(".numbers")).to_have_text(HOSTILE)
    assert page.locator("#terms img").count() == 0
    assert page.evaluate("typeof window.stolen") == "undefined"


@pytest.mark.browser
def test_what_changed_is_marked(page):
    assert page.locator(".change").count() == 0
    page.get_by_role("button", name="double").click()
    expect(page.locator("#terms .headline")).to_contain_text("1,235,480")
    expect(page.locator("#terms .change")).to_have_count(1)
    expect(page.locator("#terms tbody tr").first.get_by_role("img", name="more than before")).to_be_visible()


@pytest.mark.browser
def test_without_rows_only_the_note_stands(page):
    table = page.locator("#none .vx-count")
    expect(table.locator(".note")).to_have_text("No closed formula is stated.")
    expect(table.locator(".headline")).to_be_hidden()
    expect(table.locator("table")).to_be_hidden()


@pytest.mark.browser
def test_a_narrow_page_scrolls_the_table_and_not_itself(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator("#terms .scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    name = page.locator("#terms tbody th").first
    left = name.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = 200; }")
    assert name.bounding_box()["x"] == left  # the name stays beside its numbers
