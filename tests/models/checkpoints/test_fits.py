"""Architectures whose shapes match a file: one, several, none."""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch

import vitexplorer as vx
from tests.helpers.thorough import later
from vitexplorer.models.checkpoints.contents import Contents
from vitexplorer.models.checkpoints.fits import SeveralFitError, fitting, shapes_of, table
from vitexplorer.models.checkpoints.recognise import recognise


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
def test_other_classes_of_timm_are_recognised_by_all_their_tensors(name: str, tmp_path: Path) -> None:
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
    """Check a tenth of the table: making it anew takes minutes."""
    for names in list(table().values())[::10]:
        assert all(fitting(empty(name)) == names for name in names)
