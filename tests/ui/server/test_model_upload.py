"""Upload endpoint for model files: a name that opens in every room, or a sentence and no stored file."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
import safetensors.torch
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

import vitexplorer as vx
from tests.helpers.app import Steps
from tests.helpers.libraries import in_parts, small_vit
from tests.helpers.small_dino_txt import WIDTH, Files
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.models.examples import examples
from vitexplorer.service import storage_limits as stored
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.storage_limits import DAY, StorageLimits
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.rooms.finetune.training.backbone import backbone_of
from vitexplorer.ui.server import model_upload as model_files
from vitexplorer.ui.server.model_upload import model_route
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.chips.model_chip import model_chip, tuned_choices
from vitexplorer.ui.shell.exploring import exploring
from vitexplorer.ui.shell.room_context import RoomContext
from vitexplorer.ui.shell.status import StatusData

ANNA, BEN = "a" * 32, "b" * 32
BYTES = "application/octet-stream"
SCREEN = "scenes_vit_patch16_192"


class Page:
    """Page with these settings, and the requests of its browsers."""

    def __init__(self, settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch):
        for module in (model_files, stored):
            monkeypatch.setattr(module, "settings", lambda: settings)
        monkeypatch.setenv("GRADIO_TEMP_DIR", str(folder / "sent"))
        self.settings, self.runs, self.arrived = settings, Path(settings.runs_folder), folder / "sent"
        self.engine = Engine(settings)
        self.client = TestClient(Starlette(routes=[model_route(self.engine)]))

    def ask(self, *files: Path, visitor: str = ANNA, lang: str = "en", **asked: str) -> list[dict[str, Any]]:
        """Return all lines of the answer."""
        content = b"".join(file.read_bytes() for file in files)
        if files:
            asked["files"] = json.dumps([[file.name, file.stat().st_size] for file in files])
        headers = {"x-visitor": visitor, "content-type": BYTES}
        answer = self.client.post(
            "/model", params={"model": SCREEN, "lang": lang, **asked}, content=content, headers=headers
        )
        assert answer.status_code in (200, 422), answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def name(self, *files: Path, visitor: str = ANNA, **asked: str) -> str:
        """Return the name of the opened model."""
        last = self.ask(*files, visitor=visitor, **asked)[-1]
        assert set(last) == {"model"}, last
        return last["model"]

    def refused(self, *files: Path, visitor: str = ANNA, **asked: str) -> str:
        """Return the sentence of the refusal, after checking that no file stays."""
        before = sorted(self.runs.rglob("*"))
        last = self.ask(*files, visitor=visitor, **asked)[-1]
        assert "model" not in last
        assert sorted(self.runs.rglob("*")) == before
        assert not [*self.arrived.rglob("*")], "what was sent is gone"
        return last["refused"]

    def lines(self, name: str) -> str:
        """Return the lines for Python."""
        return RoomContext(self.engine, Translations(), gr.State(Address())).python_lines(
            Address(model=name), "parameters"
        )


@pytest.fixture
def local(tmp_path: Path, monkeypatch) -> Page:
    return Page(Settings(runs_folder=str(tmp_path / "runs"), hosted=False), tmp_path, monkeypatch)


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch) -> Page:
    settings = Settings(runs_folder=str(tmp_path / "runs"), hosted=True, max_upload_megabytes=1, any_model=False)
    return Page(settings, tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one model in every form that can be opened, and files that are no model."""
    folder, tensors = tmp_path_factory.mktemp("files"), small_vit().state_dict()
    safetensors.torch.save_file(tensors, folder / "pets.safetensors")
    torch.save(tensors, folder / "pets.pth")
    (folder / "parts").mkdir()
    in_parts(small_vit(), folder / "parts")
    for name, held in (("safe.zip", "pets.safetensors"), ("unsafe.zip", "pets.pth")):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.write(folder / held, f"pets/{held}")
    torch.save(os.system, folder / "code.pth")
    (folder / "short.safetensors").write_bytes((folder / "pets.safetensors").read_bytes()[:9000])
    safetensors.torch.save_file({"some.weight": torch.zeros(3)}, folder / "unknown.safetensors")
    (folder / "notes.h5").write_bytes(b"0")
    return folder


@pytest.fixture
def truth() -> torch.Tensor:
    with torch.no_grad():
        return small_vit().eval()(torch.ones(1, 3, 64, 64))


def says(page: Page, name: str) -> torch.Tensor:
    with torch.no_grad():
        return now(page.engine.model(name)).module(torch.ones(1, 3, 64, 64))


@pytest.mark.parametrize("sent", ["pets.safetensors", "pets.pth", "safe.zip", "unsafe.zip", "parts"])
def test_a_file_of_ones_own_is_a_model_of_the_menu(sent: str, local: Page, files: Path, truth: torch.Tensor) -> None:
    paths = sorted((files / sent).iterdir()) if sent == "parts" else [files / sent]
    name = local.name(*paths)
    torch.testing.assert_close(says(local, name), truth)
    title = "model-00001-of-00002" if sent == "parts" else sent
    saved = local.engine.places.file_of(name)
    assert (saved.name, saved.parent.parent) == (title, local.runs)
    assert f'vx.load_model(weights="{saved.as_posix()}")' in local.lines(name)
    assert local.name(*paths) == name, "the same is kept once"
    own = tuned_choices(local.engine, local.settings, "")
    loaded = local.engine.loaded(Picture("", name))
    chip = model_chip(Address(model=name), local.settings, own, loaded)
    assert (chip.title, chip.note, chip.weights, chip.models[0].family) == (title, "your file", "", "From your files")
    assert chip.notes[0].startswith("Translated from timm: ")
    assert local.engine.base_of(Picture("x", name)) == Picture("", name)
    with pytest.raises(ExplainedError, match="not fine-tuned here"):
        now(backbone_of(local.engine, Address(model=name), ""))


@pytest.mark.parametrize("is_zipped", [False, True])
def test_the_text_half_is_read_from_the_files_that_are_stored(is_zipped: bool, local: Page, tmp_path: Path) -> None:
    folder = Files("dinov3").save(tmp_path / "dino")
    paths = [Path(shutil.make_archive(str(folder), "zip", folder))] if is_zipped else sorted(folder.iterdir())
    name = local.name(*paths)
    assert not [*local.arrived.rglob("*")], "what was sent is gone"
    assert now(local.engine.model(name)).text.embed(["a gear"]).shape == (1, 2 * WIDTH)


def test_a_path_of_this_machine_stays_where_it_is(
    local: Page, files: Path, truth: torch.Tensor, tmp_path: Path
) -> None:
    own = tmp_path / "my models"
    own.mkdir()
    (own / "pets.pth").write_bytes((files / "pets.pth").read_bytes())
    name = local.name(path=f'"{own / "pets.pth"}"')
    torch.testing.assert_close(says(local, name), truth)
    assert local.engine.places.file_of(name).is_symlink()
    assert f'weights="{(own / "pets.pth").as_posix()}"' in local.lines(name)
    assert local.name(path=str(files / "parts")) != name
    assert "no file" in local.refused(path=str(own / "gone.pth"))
    (own / "pets.pth").unlink()
    assert_gone(local.settings, name)


def assert_gone(settings: Settings, name: str) -> None:
    """A link to a model whose file is gone gets a sentence, in a freshly started page."""
    address = Address(image=next(iter(examples())), model=name)
    *_, last = Steps(exploring(Engine(settings), "someone", address, Address()))
    assert isinstance(last, StatusData)
    assert (last.kind, last.hint_model) == ("error", Address.read({}).model)
    assert last.text.startswith("This model is no longer here. If it came from a file, open the file again.")


@pytest.mark.parametrize(
    ("sent", "message", "zh"),
    [
        ("code.pth", "loading it would run code", "执行代码"),
        ("short.safetensors", "truncated, damaged", "不完整"),
        ("unknown.safetensors", "The names in unknown.safetensors are unknown", "无法识别"),
        ("notes.h5", "not a weight file: expected .safetensors", "不是权重文件"),
    ],
)
def test_what_is_no_model_is_a_sentence(sent: str, message: str, zh: str, local: Page, files: Path) -> None:
    assert message in local.refused(files / sent)
    assert zh in local.refused(files / sent, lang="zh")


def test_a_body_is_what_it_says(local: Page, files: Path) -> None:
    pets = files / "pets.safetensors"
    for description in (
        "",
        "[]",
        '[["a.safetensors",-1]]',
        f'[["a.pt",{10**7}]]',
        '[["a.pt",1],["a.pt",1]]',
        '[["a.pt","x"]]',
    ):
        params, headers = {"files": description}, {"content-type": BYTES}
        answer = local.client.post("/model", params=params, content=pets.read_bytes(), headers=headers)
        assert (answer.status_code, "did not arrive" in answer.json()["refused"]) == (422, True), description
    assert local.client.post("/model", content=b"", headers={"content-type": "text/plain"}).status_code == 415
    assert not [*local.arrived.rglob("*")]


# ---------------------------------------------------------------------------------------------- hosted


def test_visitors_of_a_hosted_page_send_nothing_that_could_run(hosted: Page, files: Path, truth: torch.Tensor) -> None:
    for sent in ("pets.pth", "unsafe.zip"):
        assert "pets.pth is not opened here: a file of this kind can hold code" in hosted.refused(files / sent)
    assert "cannot open paths" in hosted.refused(path=str(files / "pets.safetensors"))
    assert "no longer here" in hosted.refused(model="tuned." + "0" * 32, **{"as": "vit_tiny_patch16_224"})
    name = hosted.name(files / "pets.safetensors")
    torch.testing.assert_close(says(hosted, name), truth)
    assert 'vx.load_model(weights="pets.safetensors")' in hosted.lines(name)
    assert hosted.engine.places.file_of(hosted.name(files / "safe.zip")).suffix == ".zip"


def test_what_is_too_large_is_refused_before_it_is_written(hosted: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.safetensors"
    large.write_bytes(bytes(1_000_001))
    assert "larger than 1 MB" in hosted.refused(large)


def test_a_file_is_its_visitors_alone_and_is_swept(hosted: Page, files: Path) -> None:
    name = hosted.name(files / "pets.safetensors")
    saved = hosted.engine.places.file_of(name)
    assert saved.parent.parent == hosted.runs / ANNA
    assert [one.name for one in tuned_choices(hosted.engine, hosted.settings, ANNA)] == [name]
    assert tuned_choices(hosted.engine, hosted.settings, BEN) == tuned_choices(hosted.engine, hosted.settings, "") == ()
    assert "no longer here" in hosted.refused(visitor=BEN, model=name, **{"as": "vit_tiny_patch16_224"})
    assert "the listed models only" in hosted.refused(model=name, **{"as": "vit_giant_patch14_224"})
    assert saved.exists()
    old = time.time() - 15 * DAY
    os.utime(saved, (old, old))
    StorageLimits(hosted.engine.places, hosted.settings).sweep()
    assert not saved.exists()
    assert_gone(hosted.settings, name)


def test_several_that_fit_are_listed(local: Page, files: Path, monkeypatch) -> None:
    from vitexplorer.models.checkpoints import fits

    names = ("vit_tiny_patch16_224", "vit_small_patch16_224")
    monkeypatch.setattr(fits, "fitting", lambda tensors: names)
    last = local.ask(files / "pets.safetensors")[-1]
    assert [one["name"] for one in last["several"]] == list(names)
    assert "fits several architectures, which differ in no tensor: " + ", ".join(names) in last["refused"]
    assert tuned_choices(local.engine, local.settings, "") == (), "no menu lists it before it is known"
    assert "does not fit" in local.refused(model=last["model"], **{"as": names[0]})


@pytest.mark.thorough
def test_one_that_is_listed_is_chosen_whatever_the_catalogue(tmp_path: Path, monkeypatch) -> None:
    settings = Settings(runs_folder=str(tmp_path / "runs"), hosted=True, any_model=False)
    page, path = Page(settings, tmp_path, monkeypatch), tmp_path / "x.safetensors"
    module = vx.load_model("xcit_nano_12_p16_224", weights="random").module
    safetensors.torch.save_file(module.state_dict(), path)
    first = page.ask(path)[-1]
    name = page.name(model=first["model"], **{"as": first["several"][1]["name"]})
    assert now(page.engine.model(name)).preprocessing.input_size == (384, 384)
    assert 'load_model("xcit_nano_12_p16_384", weights="x.safetensors")' in page.lines(name)
    assert page.engine.places.file_of(first["model"]) is None
