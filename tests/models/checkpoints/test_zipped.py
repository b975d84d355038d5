"""Zipped weight folders: read like the folder; other zips are refused with a sentence; nothing is unpacked."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import vitexplorer as vx
from tests.helpers.libraries import in_parts, small_vit
from vitexplorer.core.settings import Settings
from vitexplorer.models.checkpoints import zipped
from vitexplorer.models.checkpoints.files import WeightsError
from vitexplorer.models.checkpoints.zipped import MOST_FILES, unzipped, weights_in

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_parts(small_vit(), tmp_path_factory.mktemp("vit"))


def test_a_zip_is_the_folder_in_it(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "宠物 vit.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"snapshots/abc/{file.name}")
        archive.writestr("__MACOSX/snapshots/abc/._model.safetensors", b"resource fork")
        archive.writestr("snapshots/README.md", b"# card")
    steps: list[tuple[int, int]] = []
    model, plain = vx.load_model(weights=path, progress=lambda *step: steps.append(step)), vx.load_model(weights=folder)
    assert (model.notes, model.class_names) == (plain.notes, plain.class_names)
    assert model.provenance.weights_source == path.name
    for name, tensor in plain.module.state_dict().items():
        assert torch.equal(tensor, model.module.state_dict()[name])
    assert steps[-1][0] == steps[-1][1] == sum(file.stat().st_size for file in folder.iterdir())


Change = Callable[[zipfile.ZipFile], None]


def entry(name: str, content: bytes = b"0", **fields: int) -> Change:
    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.orig_filename = name
        for field, value in fields.items():
            setattr(info, field, value)
        archive.writestr(info, content)

    return add


def many(archive: zipfile.ZipFile) -> None:
    for number in range(MOST_FILES):
        archive.writestr(f"{number}.txt", b"")


def bomb(archive: zipfile.ZipFile) -> None:
    archive.writestr("config.json", bytes(20_000_000), zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry("../../etc/model.bin"), "leads out of its folder"),
        (entry("/etc/model.bin"), "leads out of its folder"),
        (entry("a\\..\\..\\model.bin"), "leads out of its folder"),
        (entry("C:model.bin"), "leads out of its folder"),
        (entry("od\u202ed\x07.bin"), "cannot be kept"),
        (entry("x" * 300 + ".bin"), "cannot be kept"),
        (entry("link.bin", external_attr=(stat.S_IFLNK | 0o777) << 16), "holds a link"),
        (entry("odd.bin", compress_type=zipfile.ZIP_BZIP2), "unusual way"),
        (entry("other/model.bin"), "several folders"),
        (entry(WEIGHTS), "twice"),
        (many, "more than 1000 files"),
        (bomb, "times its size"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_no_plain_folder_is_refused(change: Change, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(WEIGHTS, b"0")
        change(archive)
    for read in (weights_in, lambda path: unzipped(path).__enter__()):
        with pytest.raises(WeightsError, match=message):
            read(path)


def with_password(path: Path) -> None:
    """Set the flag of the first entry, in its own header and in the directory."""
    content = bytearray(path.read_bytes())
    for start, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(start) + place] |= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "cannot be read"),
        (lambda path: path.write_bytes(b"no zip"), "cannot be read"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"numbers", b"NUMBERS", 1)), "cannot be read"),
        (with_password, "password"),
    ],
)
def test_a_damaged_zip_is_a_sentence(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(WEIGHTS, b"numbers")
    damage(path)
    with pytest.raises(WeightsError, match=message):
        vx.load_model(weights=path)


def test_a_zip_has_the_bounds_of_the_settings(monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(WEIGHTS, bytes(2_000_000))
    monkeypatch.setattr(zipped, "settings", lambda: Settings(max_upload_megabytes=1))
    with pytest.raises(WeightsError, match=r"unpack to 2 MB; at most 1 MB are accepted \(VIT_MAX_UPLOAD_MEGABYTES\)"):
        vx.load_model(weights=path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.json", b"{}")
    with pytest.raises(WeightsError, match="holds no weights"):
        weights_in(path)


def test_a_program_is_distinguished_from_weights(tmp_path: Path) -> None:
    """CLIP's original files are TorchScript archives."""
    with zipfile.ZipFile(tmp_path / "ViT-B-32.pt", "w") as archive:
        for name in ("data.pkl", "code/__torch__.py", "constants.pkl"):
            archive.writestr(f"archive/{name}", b"")
    with pytest.raises(WeightsError, match="TorchScript archive"):
        vx.load_model(weights=tmp_path / "ViT-B-32.pt")
