"""Room Size & cost: all counts of a model agree, designs, and the board in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

import vitexplorer as vx
from tests.helpers.app import hear, served
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import Text
from vitexplorer.core.types import Term
from vitexplorer.quantities.parameter_formulas import ViTShape, exact_terms, total
from vitexplorer.quantities.story import PARTS, counted, multiplied
from vitexplorer.ui.rooms.size.designs import Design
from vitexplorer.ui.rooms.size.literature import DECLARED
from vitexplorer.ui.rooms.size.multiplications import ATTENTION, PROJECTIONS, vit_macs, windowed_attention
from vitexplorer.ui.rooms.size.size_board import SizeBoard, SizeData
from vitexplorer.ui.rooms.size.sizes import design_sizes
from vitexplorer.ui.rooms.size.story import story
from vitexplorer.ui.rooms.size.tables import MACS, PARAMETERS, compact, parts_table, terms_table
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS
from vitexplorer.ui.server.static_files import SERVING
from vitexplorer.views.parameters import shape_of

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
    table = terms_table("exact", TERMS, "en")
    assert table.total == 480 + 1_234_519 + 1
    assert [row.count for row in table.rows] == [term.count for term in TERMS]
    assert sum(row.share for row in table.rows) == pytest.approx(1)
    assert table.rows[0].share == 480 / 1_235_000
    assert (table.rows[1].symbols, table.rows[1].numbers) == (TERMS[1].symbols, LONG)
    assert table.compact == "1.2 M"
    assert terms_table("exact", TERMS, "zh").rows[0].name == "投影"


def test_parts_have_no_formula_and_counts_without_a_whole_have_no_share():
    table = parts_table(["a", "b"], [0, 0], "ViT", "en")
    assert [(row.name, row.share, row.symbols, row.numbers) for row in table.rows] == [
        ("a", 0, "", ""),
        ("b", 0, "", ""),
    ]
    assert (table.columns["count"], table.title) == ("Parameters", "Parameters of ViT")


def test_a_count_for_each_part():
    with pytest.raises(ValueError, match="shorter"):
        parts_table(["a", "b"], [1], "ViT", "en")


# ---------------------------------------------------------------------------------------------- the story


@pytest.mark.parametrize("case", ["vit", "deit_distilled", "clip", "siglip", "dinov2_registers", "swin", "swinv2"])
def test_the_module_and_the_formula_agree_part_by_part(case):
    module = capture_small(case).model.module
    shape = shape_of(module)
    assert shape is not None
    rows, total = story(shape, counted(module), None, "en")
    assert [row.exact for row in rows] == [row.counted for row in rows]
    assert total.counted == sum(one.numel() for one in module.parameters())
    assert total.difference == total.exact - total.rough == sum(row.difference for row in rows)


def test_the_rough_formula_is_what_its_letters_say():
    """By hand: L = 12, D = 768, P² C = 768, N = 256, K = 1000."""
    rows, total = story(ViTShape(image_size=(256, 256)), None, None, "en")
    rough = {row.key: (row.rough_symbols, row.rough) for row in rows}
    assert rough["embedding"] == ("P² · C · D + (N + 1) · D", 768 * 768 + 257 * 768)
    assert rough["attention"] == ("4 · L · D²", 4 * 12 * 768**2)
    assert rough["mlp"] == ("8 · L · D²", 8 * 12 * 768**2)
    assert rough["norms"] == ("", 0)
    assert rough["head"] == ("K · D", 1000 * 768)
    assert total.rough == 86_489_856


def test_the_cost_falls_into_the_same_parts():
    cost = vx.compute("cost", capture_small("vit"))
    macs = multiplied(cost)
    assert sum(macs.values()) == cost.total
    terms = {term.name.en: term.count for term in cost.terms}
    assert macs["attention"] == terms["Projections"] + terms["Attention"]
    assert (macs["mlp"], macs["embedding"], macs["head"]) == (
        terms["MLP"],
        terms["Patch embedding"],
        terms["Classifier"],
    )


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_its_words(part):
    assert {f"part_{part}", f"hint_{part}", f"in_{part}"} <= set(CALCULATOR_WORDS)


def test_the_reading_is_made_of_the_numbers():
    data = design_sizes(Design.read("ViT-B/16"), None, "en")
    assert data.reading == (
        "86,567,656 parameters (86.6 M), 65.5\u00a0% of them in the MLPs. "
        "The rough formula of lecture notes gives 86,443,776, 0.1\u00a0% less. "
        "A picture of 224 × 224 px costs 17.6 G multiply-accumulates, 63.5\u00a0% of them in the MLPs."
    )
    assert design_sizes(Design.read("ViT-B/16"), None, "zh").reading == (
        "共 86,567,656 个参数（86.6 M），其中 65.5\u00a0% 在 MLP。讲义中的粗略公式得 86,443,776，少算 0.1\u00a0%。"
        "一幅 224 × 224 像素的图像需要 17.6 G 次乘加，其中 63.5\u00a0% 在 MLP。"
    )


# ---------------------------------------------------------------------------------------------- designs


def test_designs_count_as_the_literature_does():
    assert design_sizes(Design.read("ViT-B/16"), None, "en").total.exact == 86_567_656
    assert design_sizes(Design.read("ViT-H/14"), None, "zh").total.exact == 632_045_800
    assert design_sizes(Design.read("ViT-B/16"), None, "en").total.macs == 17_563_828_224


@pytest.mark.parametrize(
    ("text", "preset", "moved"),
    [
        ("", "", {}),
        ("ViT-B/16;depth=24;mlp_ratio=2.5", "ViT-B/16", {"depth": 24, "mlp_ratio": 2.5}),
        (";dim=99999;depth=0", "", {"dim": 2048, "depth": 1}),
        ("ViT-X;depth=;depth=-3;heads=2;classes=1e9;depth=²", "", {}),
    ],
)
def test_whatever_an_address_says_is_a_design(text, preset, moved):
    design = Design.read(text)
    assert (design.preset, dict(design.moved)) == (preset, moved)
    assert Design.read(design.text) == design


def test_a_design_begins_at_the_model_on_the_screen():
    own = ViTShape(image_size=(192, 256), dim=192, depth=6, num_heads=3, hidden=768, distillation=True)
    assert Design.read(";depth=9").shape(own) == replace(own, depth=9)
    assert Design.read(";dim=256").shape(own).hidden == 1024  # the ratio stays
    assert Design.read("ViT-B/16;depth=9").shape(own) == ViTShape(depth=9)


def test_the_design_says_what_does_not_fit():
    assert "do not divide" in design_sizes(Design.read("ViT-B/16;num_heads=7"), None, "en").notes[0]
    assert "larger than the image" in design_sizes(Design.read(";image_size=32;patch_size=64"), None, "en").notes[0]


def test_tools_see_parts_of_the_cost():
    tables = {table.label: table for table in design_sizes(Design.read("ViT-B/16"), None, "en").tables}
    assert [row.beside for row in tables["What tools count"].rows] == ["17.6 G", "16.8 G", "12.0 G", "201.3 M"]
    left_out = tables["What it leaves out"]
    assert left_out.total == tables["Exact formula"].total - tables["Rough formula"].total
    assert f"{left_out.total:,}" in left_out.note


def test_attention_in_windows_is_linear_and_global_attention_is_not():
    once, twice = ViTShape(image_size=(224, 224)), ViTShape(image_size=(224, 448))
    assert windowed_attention(twice) == 2 * windowed_attention(once)
    counts = [{term.name: term.count for term in vit_macs(shape)} for shape in (once, twice)]
    assert counts[1][ATTENTION] / counts[0][ATTENTION] == pytest.approx((393 / 197) ** 2)
    assert counts[1][PROJECTIONS] / counts[0][PROJECTIONS] == pytest.approx(393 / 197)


def test_declared_sizes_are_near_the_counted_ones():
    for _, millions, shape in DECLARED:
        assert total(exact_terms(shape)) / 1e6 == pytest.approx(millions, rel=0.15)
    assert total(exact_terms(DECLARED[5][2])) == 28_288_354


# ---------------------------------------------------------------------------------------------- in the browser


def other(event: gr.EventData) -> SizeData:
    data = design_sizes(Design.read(event.text), None, "en")
    data.asked = event.asked
    return data


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a page with a board of ViT-B/16 and a table of hostile texts."""
    data = design_sizes(Design.read("ViT-B/16"), None, "en")
    hostile = terms_table("exact", TERMS, "en")
    data.tables.append(hostile.model_copy(update={"title": HOSTILE, "label": HOSTILE}))
    with gr.Blocks(analytics_enabled=False) as page:
        board = SizeBoard(value=data, elem_id="board")
        board.design(other, None, board, queue=False, show_progress="hidden")
    with served(page, app_kwargs=SERVING) as url:
        yield url


@pytest.fixture(scope="module")
def page(chromium, address) -> Iterator[Page]:
    """Return the board on a wide screen, shared by the tests; any script error fails the last."""
    errors: list[str] = []
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    hear(page.context, errors)
    page.goto(address)
    expect(page.locator(".story tbody tr")).to_have_count(5)
    yield page
    page.close()
    assert errors == []


@pytest.mark.browser
def test_the_story_fits_on_the_screen_and_reads_as_its_numbers(page):
    row = page.get_by_role("row", name="Attention")
    expect(row.get_by_role("cell").first).to_have_text("28,348,416L · 3 · D² + L · 3 · D + L · D² + L · D")
    expect(row.get_by_role("cell").nth(1)).to_have_text("28,311,5524 · L · D²")
    expect(page.locator(".story tfoot td").first).to_contain_text("86,567,656")
    expect(page.locator(".bars strong")).to_have_text(["86,567,656", "17,563,828,224"])
    bottom = page.locator(".vx-counting .open").bounding_box()
    assert bottom["y"] + bottom["height"] <= 900
    assert page.evaluate("document.documentElement.scrollWidth") == 1440


@pytest.mark.browser
def test_tables_are_opened_on_demand_and_text_is_text(page):
    assert page.locator(".counts").count() == 0
    page.get_by_role("button", name="Exact formula").click()
    expect(page.locator(".counts caption")).to_have_text("Closed formula, term by term: 86,567,656 parameters ≈ 86.6 M")
    page.locator(".open button").last.click()
    rows = page.locator(".counts tbody tr")
    expect(rows.last.locator("th")).to_have_text(HOSTILE)
    expect(rows.locator(".percent")).to_have_text(["< 0.1 %", "100.0 %", "< 0.1 %", "0.0 %"])
    symbols = rows.nth(1).locator(".symbols .math").inner_html().replace("&nbsp;", " ")
    assert symbols == "Σ <i>L</i><sub>s</sub> · 2 · <i>D</i><sub>s</sub>²"
    assert page.locator(".vx-counting img").count() == 0
    assert page.evaluate("typeof window.stolen") == "undefined"
    page.locator(".open button").last.click()
    expect(page.locator(".counts")).to_have_count(0)


@pytest.mark.browser
def test_a_slider_designs_in_the_same_table_and_the_address_says_so(page):
    page.locator('[name="depth"]').fill("24")
    expect(page.locator(".story tfoot td").first).to_contain_text("171,622,120")
    expect(page.locator(".change")).to_have_count(3)  # attention, MLP and norms
    assert page.locator(".story tbody tr").nth(1).get_by_role("img", name="more than before").count() == 1
    assert "design=ViT-B%2F16%3Bdepth%3D24" in page.url
    page.get_by_label("Start from").select_option("ViT-L/16")
    expect(page.locator(".bars strong").first).to_have_text("304,326,632")
    assert page.locator('[name="dim"]').input_value() == "1024"


@pytest.mark.browser
def test_a_narrow_page_scrolls_the_table_and_not_itself(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator(".stage .scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    name = page.locator(".story tbody th").first
    left = name.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = 200; }")
    assert name.bounding_box()["x"] == left  # the name stays beside its numbers
