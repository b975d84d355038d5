"""timm's own `config.json` beside weights, against timm's loader of such a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file
from timm.data import resolve_model_data_config

import vitexplorer as vx
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.checkpoints.fits import count_classes_of
from vitexplorer.models.seeding import seeded

CASES = {
    "another mean": ("deit_tiny_patch16_224", {"num_classes": 4}),
    "other sizes": ("vit_tiny_patch16_224", {"num_classes": 4, "depth": 2, "num_heads": 4, "img_size": 96}),
    "another activation": ("vit_base_patch32_clip_quickgelu_224", {"num_classes": 0, "depth": 1}),
    "windows": (
        "swin_tiny_patch4_window7_224",
        {"num_classes": 4, "window_size": 4, "img_size": 64, "depths": (1, 1), "num_heads": (3, 6)},
    ),
    "no outline": ("pit_ti_224", {"num_classes": 4}),
}
NAMES = ["pear", "plum", "fig", "date"]


def saved(case: str, folder: Path) -> Path:
    """Save a small model with seeded weights in timm's format."""
    name, arguments = CASES[case]
    with seeded(0):
        module = timm.create_model(name, **arguments)
    prepared = resolve_model_data_config(module)
    config = {
        "architecture": name,
        "num_classes": module.num_classes,
        **({"label_names": NAMES} if module.num_classes else {}),
        "model_args": {**arguments, "in_chans": 3},
        "pretrained_cfg": {"fixed_input_size": True, "num_classes": module.num_classes, **prepared},
    }
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(module.state_dict(), folder / "model.safetensors")
    return folder


def changed(folder: Path, **entries: object) -> Path:
    """Change entries of the configuration; those of a section replace its own."""
    file = folder / "config.json"
    config = json.loads(file.read_text())
    for name, value in entries.items():
        merges = isinstance(value, dict) and isinstance(config.get(name), dict)
        config[name] = {**config[name], **value} if merges else value
    file.write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_a_folder_of_timm_is_the_model_that_timm_loads(case: str, tmp_path: Path) -> None:
    folder = saved(case, tmp_path)
    model, peer = vx.load_model(weights=folder), timm.create_model(f"local-dir:{folder}", pretrained=True).eval()
    images = torch.randn(1, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.module(images), peer(images), rtol=0, atol=0)
    expected = resolve_model_data_config(peer)
    for name in ("mean", "std", "interpolation", "crop_pct", "crop_mode"):
        theirs = expected[name]
        assert getattr(model.preprocessing, name) == (tuple(theirs) if isinstance(theirs, list) else theirs)
    assert model.preprocessing.input_size == tuple(expected["input_size"][1:])
    assert model.class_names == (tuple(NAMES) if model.num_classes else ())
    assert len(model.notes) == 1


def test_old_files_have_their_preprocessing_beside_the_architecture(tmp_path: Path) -> None:
    folder = saved("another mean", tmp_path)
    config = json.loads((folder / "config.json").read_text())
    old = {"architecture": config["architecture"], "label_names": NAMES, **config["pretrained_cfg"]}
    (folder / "config.json").write_text(json.dumps(old))
    model = vx.load_model(weights=folder)
    assert (model.preprocessing.mean, model.class_names) == ((0.485, 0.456, 0.406), tuple(NAMES))


def test_an_architecture_without_classifier_has_no_classes() -> None:
    names = [name for name in timm.list_models() if timm.get_pretrained_cfg(name).classifier is None]
    assert [count_classes_of(name, {}) for name in names] == [0] * len(names)


def test_a_name_of_custom_sizes_does_not_pass_for_the_published_one(tmp_path: Path) -> None:
    assert vx.load_model(weights=saved("other sizes", tmp_path)).name == "vit_tiny_patch16_224_custom"
    assert vx.load_model(weights=saved("another mean", tmp_path / "deit")).name == "deit_tiny_patch16_224"


@pytest.mark.parametrize(
    "entries",
    [
        {"architecture": "vit_base_patch16_224"},
        {"architecture": "local-dir:/"},
        {"model_args": {"checkpoint_path": "/etc/passwd"}},
        {"model_args": {"pretrained": True}},
        {"model_args": {"depth": 10**9}},
        {"model_args": {"depth": 8000}},
        {"model_args": {"depths": [8000, 8000]}},
        {"model_args": {"num_heads": True}},
    ],
)
def test_a_configuration_of_another_model_gives_way_to_the_tensors(entries: dict, tmp_path: Path) -> None:
    model = vx.load_model(weights=changed(saved("another mean", tmp_path), **entries))
    assert model.preprocessing.mean == (0.485, 0.456, 0.406)
    assert model.class_names == tuple(NAMES)
    assert any("its sizes are read from the tensors" in note.en for note in model.notes)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mean", [0.5, 0.5]),
        ("std", [0.0, 1.0, 1.0]),
        ("crop_pct", 1e-9),
        ("interpolation", "random"),
        ("input_size", [3, 10**9, 224]),
    ],
)
def test_impossible_preprocessing_is_refused_by_name(field: str, value: object, tmp_path: Path) -> None:
    folder = changed(saved("another mean", tmp_path), pretrained_cfg={field: value})
    with pytest.raises(WeightsError, match=f"config.json says {field} = "):
        vx.load_model(weights=folder)
