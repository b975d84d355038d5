"""A folder of weights in a zip is the folder; every other zip is refused with a sentence, and nothing is unpacked."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

import vitexplorer as vx
from tests.helpers.libraries import in_parts, small_vit
from tests.helpers.thorough import later
from vitexplorer.core.settings import Settings
from vitexplorer.models.checkpoints import zipped
from vitexplorer.models.checkpoints.contents import Contents
from vitexplorer.models.checkpoints.files import WeightsError
from vitexplorer.models.checkpoints.fits import SeveralFitError, fitting, shapes_of, table
from vitexplorer.models.checkpoints.recognise import recognise
from vitexplorer.models.checkpoints.zipped import MOST_FILES, unzipped, weights_in

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_parts(small_vit(), tmp_path_factory.mktemp("vit"))


def packed(folder: Path, path: Path, inside: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{inside}{file.name}")
    return path


def test_a_zip_is_the_folder_in_it(folder: Path, tmp_path: Path) -> None:
    path = packed(folder, tmp_path / "宠物 vit.zip", "snapshots/abc/")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/snapshots/abc/._model.safetensors", b"resource fork")
        archive.writestr("snapshots/README.md", b"# card")
    told: list[tuple[int, int]] = []
    model, plain = vx.load_model(weights=path, progress=lambda *step: told.append(step)), vx.load_model(weights=folder)
    assert (model.notes, model.class_names) == (plain.notes, plain.class_names)
    assert model.provenance.weights_source == path.name
    for name, tensor in plain.module.state_dict().items():
        assert torch.equal(tensor, model.module.state_dict()[name])
    assert told[-1][0] == told[-1][1] == sum(file.stat().st_size for file in folder.iterdir())


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
    ("change", "said"),
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
def test_what_is_no_plain_folder_is_refused(change: Change, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(WEIGHTS, b"0")
        change(archive)
    for read in (weights_in, lambda path: unzipped(path).__enter__()):
        with pytest.raises(WeightsError, match=said):
            read(path)


def with_password(path: Path) -> None:
    """The flag of the first entry, in its own header and in the directory."""
    content = bytearray(path.read_bytes())
    for start, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(start) + place] |= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "cannot be read"),
        (lambda path: path.write_bytes(b"no zip"), "cannot be read"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"numbers", b"NUMBERS", 1)), "cannot be read"),
        (with_password, "password"),
    ],
)
def test_a_damaged_zip_is_a_sentence(damage: Callable[[Path], None], said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(WEIGHTS, b"numbers")
    damage(path)
    with pytest.raises(WeightsError, match=said):
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


def test_a_program_is_told_from_weights(tmp_path: Path) -> None:
    """CLIP's own files are archives of TorchScript."""
    with zipfile.ZipFile(tmp_path / "ViT-B-32.pt", "w") as archive:
        for name in ("data.pkl", "code/__torch__.py", "constants.pkl"):
            archive.writestr(f"archive/{name}", b"")
    with pytest.raises(WeightsError, match="TorchScript archive"):
        vx.load_model(weights=tmp_path / "ViT-B-32.pt")


# ---------------------------------------------------------------------------------------------- which architecture


def empty(name: str) -> dict[str, torch.Tensor]:
    return {key: torch.empty(shape, device="meta") for key, shape in shapes_of(name).items()}


def test_what_fits_several_architectures_is_a_persons_to_say() -> None:
    names = ("xcit_nano_12_p16_224", "xcit_nano_12_p16_384")
    with pytest.raises(SeveralFitError, match=", ".join(names)) as raised:
        recognise(Contents("x.pth", empty(names[0])))
    assert raised.value.names == names


@pytest.mark.parametrize(
    "name", [later(name) for name in ("pvt_v2_b0", "levit_128s", "convit_tiny", "twins_svt_small")]
)
def test_other_classes_of_timm_are_told_by_all_their_tensors(name: str, tmp_path: Path) -> None:
    module = vx.load_model(name, weights="random").module
    module.reset_classifier(7)
    path = tmp_path / "x.safetensors"
    safetensors.torch.save_file({key: one.clone() for key, one in module.state_dict().items()}, path)
    model = vx.load_model(weights=path)
    assert (model.name, model.num_classes, model.class_names) == (name, 7, ())
    assert any("does not say how images are prepared" in note.en for note in model.notes)
    image = torch.rand(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(model.module(image), module(image))


def test_a_tensor_more_is_another_model() -> None:
    tensors = empty("pvt_v2_b0")
    assert fitting(tensors) == ("pvt_v2_b0",)
    assert fitting({**tensors, "more": torch.empty(1, device="meta")}) == ()
    assert fitting({**tensors, "head.weight": torch.empty(3, 256, device="meta")}) == ("pvt_v2_b0",)
    assert fitting({**tensors, "norm.weight": torch.empty(3, device="meta")}) == ()


@pytest.mark.thorough
def test_the_table_is_that_of_the_installed_timm() -> None:
    """A tenth of it: making it anew takes minutes."""
    for names in list(table().values())[::10]:
        assert all(fitting(empty(name)) == names for name in names)
