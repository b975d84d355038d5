"""Opening one's own models in a browser; each walk starts an app of its own."""

from __future__ import annotations

import re
import shutil
import urllib.parse
import zipfile
from pathlib import Path

import pytest
import safetensors.torch
import torch
from playwright.sync_api import Browser, Page, expect

from tests.helpers.app import Visit, running_app
from tests.helpers.libraries import in_parts, small_vit

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

SCREEN = "scenes_vit_patch16_192"
DROP = """async ({name, bytes}) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([new Uint8Array(bytes)], name));
  const drop = new DragEvent('drop', {dataTransfer: dropped, bubbles: true, cancelable: true});
  document.querySelector('#vx-attention-canvas').dispatchEvent(drop);
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model as a zip of a folder in parts, as one file of each kind, and a file that is none."""
    folder, tensors = tmp_path_factory.mktemp("files"), small_vit().state_dict()
    torch.save(tensors, folder / "pets.pth")
    safetensors.torch.save_file(tensors, folder / "pets.safetensors")
    safetensors.torch.save_file({"some.weight": torch.zeros(3)}, folder / "unknown.safetensors")
    (folder / "parts").mkdir()
    with zipfile.ZipFile(folder / "pets.zip", "w") as archive:
        for file in in_parts(small_vit(), folder / "parts").iterdir():
            archive.write(file, f"pets/{file.name}")
    return folder


def chosen(page: Page) -> str:
    """Return the model that the address names."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))["model"]


def opened(page: Page, file: str) -> str:
    """Return the name of an uploaded model, once it is on the screen."""
    expect(page.locator(".vx-status")).to_have_attribute("data-text", re.compile(f"weights from {re.escape(file)} "))
    page.wait_for_function("() => new URL(location.href).searchParams.get('model').startsWith('tuned.')")
    expect(page.locator("#vx-model .chip b")).to_have_text(file)
    return chosen(page)


def test_a_file_of_ones_own_is_opened_on_ones_own_machine(chromium: Browser, files: Path, tmp_path: Path) -> None:
    with running_app(VIT_RUNS_FOLDER=str(tmp_path / "runs")) as url:
        visit = Visit(chromium)
        page, model = visit.page, visit.page.locator("#vx-model")
        visit.open(url, model=SCREEN)
        model.locator(".file").set_input_files(files / "pets.zip")
        name = opened(page, "pets.zip")
        model.locator(".chip").click()
        expect(model.locator(".said li").first).to_have_text(re.compile(r"Translated from timm: (\d+) of \1 tensors\."))
        expect(model.locator(".said")).to_contain_text("does not say how images are prepared")
        expect(model.locator(".weights")).to_be_hidden()
        page.reload()
        visit.wait_ready()
        assert opened(page, "pets.zip") == name
        model.locator(".file").set_input_files(files / "unknown.safetensors")
        expect(model.locator(".alert")).to_contain_text("are unknown (some.weight)")
        assert chosen(page) == name, "the model that was chosen stays"
        model.locator(".search").fill(str(files / "pets.pth"))
        model.get_by_role("option", name="Open from this machine").click()
        other = opened(page, "pets.pth")
        page.evaluate(DROP, {"name": "pets.safetensors", "bytes": list((files / "pets.safetensors").read_bytes())})
        assert len({name, other, opened(page, "pets.safetensors")}) == 3
        offer = page.locator(".vx-came-from")
        expect(offer.locator("p")).to_have_text("pets.safetensors is open. Does it answer as it should?")
        offer.locator(".back").click()
        expect(page.locator(".vx-check-up .own .model")).to_contain_text("Model: pets.safetensors.")

        shutil.rmtree(tmp_path / "runs")
        with running_app(VIT_RUNS_FOLDER=str(tmp_path / "runs")) as again:
            page.goto(f"{again}?model={name}")
            expect(page.locator('.vx-status[data-kind="error"]')).to_contain_text("This model is no longer here.")
            visit.url = again
            visit.requests = [one for one in visit.requests if not one.startswith(url)]
            visit.close()


def test_a_hosted_page_opens_safe_files_of_its_visitor(chromium: Browser, files: Path, tmp_path: Path) -> None:
    with running_app(VIT_HOSTED="1", VIT_RUNS_FOLDER=str(tmp_path)) as url:
        anna, ben = Visit(chromium), Visit(chromium)
        anna.open(url, model=SCREEN, lang="zh")
        model = anna.page.locator("#vx-model")
        model.locator(".file").set_input_files(files / "pets.pth")
        expect(model.locator(".alert")).to_contain_text("此处不打开 pets.pth")
        assert not [address for address in anna.requests if "/model?" in address], "it was not even sent"
        model.locator(".file").set_input_files(files / "pets.safetensors")
        expect(model.locator(".chip b")).to_have_text("pets.safetensors")
        expect(model.locator(".alert")).to_be_hidden()
        ben.open(url, model=SCREEN)
        ben.page.locator("#vx-model .chip").click()
        expect(ben.page.locator("#vx-model .list h3").first).to_have_text("Bundled: no network needed")
        anna.close()
        ben.close()
