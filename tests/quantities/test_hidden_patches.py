"""Hidden patches: found in a changed run, and the rest of the pass is that of a masked autoencoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.settings import ASSETS
from vitexplorer.models.mae import encode_visible
from vitexplorer.quantities.hidden_patches import hidden_patches
from vitexplorer.quantities.stream_colours import stream_colours


def masked(captured, patches, how="attention"):
    cols = captured.grid(0).cols
    cells = "+".join(f"{patch // cols}.{patch % cols}" for patch in patches)
    return vx.intervene(captured, f"mask_patches:patches={cells},how={how}")


@pytest.fixture(scope="module")
def captured():
    return vx.capture(vx.load_model("scenes_mae_patch16_192", device="cpu"), ASSETS / "examples" / "scene_gear.webp")


@torch.no_grad()
def test_the_rest_is_what_the_encoder_makes_of_the_visible_patches(captured):
    hidden = np.random.default_rng(0).permutation(144)[:108].tolist()
    run = masked(captured, hidden)
    assert np.flatnonzero(hidden_patches(run)).tolist() == sorted(hidden)
    visible = torch.tensor([[patch for patch in range(144) if patch not in hidden]])
    expected = encode_visible(captured.model.module, captured.input.tensor, visible)[0]
    tokens = captured.model.module.norm(run.residual_after(run.depth - 1))
    torch.testing.assert_close(tokens[[0, *(1 + visible[0]).tolist()]], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("key", ["vit", "swin", "dinov2_registers", "hybrid"])
def test_a_plain_run_hides_none(key):
    assert not hidden_patches(capture_small(key)).any()


def test_painted_patches_are_read_and_not_hidden():
    assert not hidden_patches(masked(capture_small("vit"), [0, 5], how="paint")).any()


def test_colours_of_the_visible_patches_alone_make_the_basis(captured):
    hidden = list(range(100))
    first, *_ = stream_colours(masked(captured, hidden))[0]
    assert np.isnan(first[hidden]).all()
    assert np.isfinite(first[100:]).all()
    assert first[100:].min() == 0
    assert first[100:].max() == 1


def test_the_network_leaves_them_out(captured):
    result = vx.compute("network", masked(captured, [0, 1, 2]))
    assert result.hidden.sum() == 3
    assert np.isnan(result.values[:, :3]).all()
    assert np.isnan(result.similarity[:, :3]).all()
    assert np.isfinite(result.similarity[:, 3:]).all()
    assert any(note.en.startswith("3 of 144 patches are hidden") for note in result.notes)
    vx.render(result)
