"""Fine-tuning in a browser: upload a zip, compare methods, explain a wrong image, download and reopen the model."""

from __future__ import annotations

import re
import shutil
import urllib.parse
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.helpers.app import Visit
from tests.helpers.finetune_page import SOON, TRAINED, set_field, tick_only
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import assert_is_read
from vitexplorer.finetune.data import example_folder
from vitexplorer.ui.rooms.finetune.report import empty_report
from vitexplorer.ui.rooms.finetune.training.progress import ProgressData, ProgressView, no_progress

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    """Make a zip of three classes of drawn scenes, six images each."""
    folder = example_folder(tmp_path_factory.mktemp("scenes") / "all", per_class=6, size=96)
    for place in sorted(folder.iterdir())[3:]:
        shutil.rmtree(place)
    return Path(shutil.make_archive(str(folder.parent / "shapes"), "zip", folder))


def parameters(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(page.url).query))


def test_steps_of_a_training_by_keyboard_and_by_a_link(pages: str, desktop: BrowserContext) -> None:
    """After a stop the focus is on the button that resumes; a link that names the drawn scenes has them drawn."""
    page = PlainPage(desktop.new_page(), pages)
    words = no_progress("en").words
    page.open(("job", ProgressView, ProgressData(run="a", state="running", title="scenes", words=words)))
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".vx-progress .doing")).to_have_text("Stopping ...")
    expect(page.page.locator(".stop")).to_be_focused()
    page.send("job", ProgressData(run="a", state="stopped", title="scenes", words=words))
    expect(page.page.locator(".resume")).to_be_focused()
    page.page.keyboard.press("Enter")
    page.send("job", ProgressData(run="a", state="finished", title="scenes", words=words))
    expect(page.page.locator(".vx-progress h3")).to_be_focused()

    page.page.evaluate("""() => { history.replaceState(null, '', '?images=scenes');
      return add('report', 'rooms/finetune/report.js', ['unpack', 'draw', 'read', 'pick'], null); }""")

    def asked() -> list[list]:
        return page.page.evaluate("asked.filter(({id}) => id === 'report').map(({kind, data}) => [kind, data])")

    for report in (empty_report("en"), empty_report("en", working="Drawing"), empty_report("en")):
        page.send("report", report)
    assert asked() == [["draw", {}]]
    own = empty_report("en")
    for own.example, query in ((True, {"images": "scenes"}), (False, {})):
        own.title = "20 of each"
        page.send("report", own)
        assert parameters(page.page) == query
    page.page.evaluate("document.querySelector('#report').className = 'vx-local'")
    page.page.get_by_label("or a folder of this machine").fill("/pets")
    page.page.keyboard.press("Enter")
    assert asked()[1:] == [["read", {"text": "/pets"}]]
    answers = iter([{"error": "It is too large."}, {}, ["/files/a.zip"]])
    page.page.route("**/gradio_api/upload?*", lambda route: route.fulfill(json=next(answers)))
    zipped: FilePayload = {"name": "a.zip", "mimeType": "application/zip", "buffer": b"PK"}
    page.page.evaluate("show('report', '')")  # as gradio does while an event is answered
    for sentence in ("It is too large.", "The server did not answer. Try again."):
        page.page.locator("#report .file").set_input_files(zipped)
        expect(page.page.locator("#report .refused")).to_have_text(sentence)
    page.page.locator("#report .file").set_input_files(zipped)
    page.page.wait_for_function("() => asked.at(-1).kind === 'unpack'")
    assert asked()[2:] == [["unpack", {"files": ["/files/a.zip"]}]]
    page.page.close()


def test_a_person_fine_tunes(visit: Visit, url: str, scenes: Path, tmp_path: Path, thorough: bool) -> None:
    page = visit.page
    visit.open(url, room="finetune", compare="1")
    report = page.locator(".vx-report")
    expect(report).to_contain_text("A zip with one folder per class", timeout=SOON)
    here = page.locator(".vx-steps [aria-current]")
    expect(here).to_have_text("1Images")
    page.locator(".vx-training-images .file").set_input_files(scenes)
    page.locator('.vx-report[data-state="ready"]').wait_for(timeout=SOON)
    expect(report.locator(".summary")).to_contain_text("18 images, 3 classes")
    assert report.locator(".chart .count").all_inner_texts() == ["6", "6", "6"]
    expect(report.locator(".findings")).to_contain_text("fewer than 10 images")

    page.locator('.vx-methods[data-state="ready"]').wait_for(timeout=SOON)
    tick_only(page, "linear", "lora")
    lora = page.locator('.vx-methods .item[data-key="lora"]')
    before = lora.locator(".counts").inner_text()
    lora.locator("summary").click()
    set_field(lora.locator("input[type=number]").first, "4")
    expect(lora.locator(".counts")).not_to_have_text(before, timeout=SOON)
    set_field(lora.locator("input[type=text]"), "1e-9")  # far too slow: a fresh head stays as it is, and wrong
    page.locator(".vx-methods [name=head]").select_option("fresh")
    set_field(page.locator(".vx-methods [name=epochs]"), "16")  # enough to be stopped by a slow browser
    page.locator(".vx-methods .start").click()

    progress = page.locator(".vx-progress")

    def is_at(state: str, timeout: int) -> None:
        page.locator(f'.vx-progress[data-state="{state}"]').wait_for(timeout=timeout)

    is_at("running", SOON)
    expect(here).to_have_text("3Training")
    expect(here).to_be_focused()
    expect(progress).to_be_in_viewport(ratio=0.9)
    training = progress.get_attribute("data-run")
    assert parameters(page)["run"] == training
    progress.locator('.chart.metric[data-level=""]').wait_for(timeout=TRAINED)  # the baseline
    page.wait_for_function("() => Number(document.querySelector('.chart.loss').dataset.points) > 1", timeout=TRAINED)
    page.evaluate("window.drawn = document.querySelector('.chart.loss .main-svg')")
    at_work = progress.locator('[data-run="lora-r=4-lr=1e-09"]').filter(has_text=re.compile(r"epoch \d+ of 16"))
    at_work.wait_for(timeout=TRAINED)
    progress.locator(".stop").click()
    is_at("stopped", TRAINED)
    assert page.evaluate("document.querySelector('.chart.loss .main-svg') === window.drawn"), "redrawn in place"
    assert_is_read(page, "finetune")
    progress.locator(".vx-table summary").click()
    points = progress.locator(".chart.loss").get_attribute("data-points")
    expect(progress.locator(".vx-table table").first.locator("tbody tr")).to_have_count(int(points or 0))

    page.reload()
    visit.wait_ready()
    expect(progress).to_have_attribute("data-run", training, timeout=SOON)
    expect(report.locator(".summary")).to_contain_text("18 images, 3 classes", timeout=SOON)
    progress.locator(".resume").click()
    is_at("finished", TRAINED)

    expect(page.locator(".vx-methods")).to_be_hidden()
    page.locator(".vx-steps button").nth(1).click()
    page.locator('.vx-methods[data-state="ready"]').wait_for(timeout=SOON)
    expect(page.locator(".vx-methods [name=epochs]")).to_have_value("16")
    expect(page.locator(".vx-results")).to_be_hidden()
    board, runs = page.locator(".vx-results"), {"linear", "lora-r=4-lr=1e-09"}
    if thorough:
        tick_only(page, "mlp_k")
        page.locator(".vx-methods .start").click()
        expect(progress).to_be_visible(timeout=SOON)  # it turns to the training, although there are results
        runs |= {"mlp_k"}
    else:
        page.locator(".vx-steps button").nth(3).click()
    page.locator(f'.vx-results[data-rows="{len(runs)}"]').wait_for(timeout=TRAINED)
    expect(here).to_have_text("4Results")
    assert progress.get_attribute("data-run") == training, "more methods join the training that is open"
    assert set(board.locator("tr[data-run]").evaluate_all("rows => rows.map((row) => row.dataset.run)")) == runs
    expect(board.locator(".verdicts p")).to_have_count(len(runs) - 1)
    page.locator('#vx-training-figures .vx-panel[data-state="ready"]').wait_for(timeout=SOON)

    expect(board.locator(".verdict")).to_contain_text("validation images")
    expect(board.locator(".table")).to_be_hidden()
    board.locator(".whole summary").click()
    expect(board.locator(".table")).to_be_visible()
    board.locator(".bars button", has_text="LoRA").click()
    expect(board.locator(".wrong button").first).to_be_visible(timeout=SOON)
    board.locator(".changed").click()
    page.locator('#vx-training-changed .vx-panel[data-shown="1"]').wait_for(timeout=TRAINED)
    expect(page.locator("#vx-training-change h3").first).to_be_focused(timeout=SOON)
    expect(page.locator("#vx-training-change h3").first).to_be_in_viewport()
    with page.expect_download(timeout=TRAINED) as downloading:
        board.locator('[data-what="tuned"]').click()
    taken = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(taken)
    assert taken.name == "shapes-lora-r=4-lr=1e-09.safetensors"

    tuned = '.vx-status[data-text*="fine-tuned weights"]'
    board.locator(".wrong button").first.click()
    page.locator(tuned).wait_for(timeout=TRAINED)
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas')?.dataset.state === 'ready'")
    there = parameters(page)
    assert there["room"] == "attention"
    assert there["image"].startswith("upload-")
    assert there["model"].startswith("tuned.")

    expect(page.locator(".vx-came-from p")).to_have_text(re.compile(r"From Fine-tune, LoRA.*taken for"))
    page.locator(".vx-came-from .back").click()
    expect(page.locator(".vx-came-from")).to_have_count(0)
    page.locator("#vx-model .file").set_input_files(taken)
    page.wait_for_function(
        f"() => new URL(location.href).searchParams.get('model') !== '{there['model']}'", timeout=TRAINED
    )
    visit.wait_ready()
    page.locator(tuned).wait_for(timeout=TRAINED)
    assert parameters(page)["model"].startswith("tuned.")
