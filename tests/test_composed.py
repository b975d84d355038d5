"""Pictures of several classes for training: what they show is known in every cell, and the loss asks for that."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vitexplorer.models.bundled.composed import HIDDEN_PATCHES, LEAST, composed
from vitexplorer.models.bundled.pool import NOTHING, ScenePool
from vitexplorer.models.bundled.recipes import several
from vitexplorer.models.bundled.recipes.several import Composed, class_attention, labels_loss, looking_loss, token_loss


@pytest.fixture(scope="module")
def scenes():
    return ScenePool("train", 24, several=True).take(range(24))


def test_pictures_show_what_they_say(scenes):
    batch = composed(scenes, np.random.default_rng(0), 192, 16, 0.5, grids=3)
    assert batch.images.shape == (3 + 12, 3, 192, 192)
    assert torch.allclose(batch.cover.sum(-1), torch.ones(15, 144))
    share = batch.cover.mean(1)[:, :NOTHING]
    assert torch.equal(batch.present, (share >= LEAST).float())
    assert torch.equal(batch.asked == 0, (share > 0) & (share < LEAST))
    assert (batch.present[:3].sum(1) >= 2).all()
    whole = [set(np.unique(known)) - {NOTHING} for known in scenes.classes]
    for shown in batch.present[3:]:
        assert any(set(shown.nonzero()[:, 0].tolist()) <= known for known in whole)


def test_hidden_patches_are_the_mean_colour_and_show_nothing(scenes):
    batch = composed(scenes, np.random.default_rng(1), 192, 16, 0.5, grids=3)
    patches = batch.images.unfold(2, 16, 16).unfold(3, 16, 16)
    hidden = (patches == 0.5).all(-1).all(-1).all(1).flatten(1)
    assert 0.05 < hidden.float().mean() < HIDDEN_PATCHES / 2
    assert (hidden.float().mean(1) == 0).any()
    assert (batch.cover[hidden][:, NOTHING] == 1).all()


def test_losses_by_hand():
    """Two classes asked for of a picture, one not; two cells; an eighth of the attention on the object."""
    present, asked = torch.zeros(1, NOTHING), torch.zeros(1, NOTHING)
    present[0, 1] = asked[0, 1] = asked[0, 2] = 1
    cover = torch.zeros(1, 2, NOTHING + 1)
    cover[0, 0, 1] = cover[0, 0, NOTHING] = 0.5
    cover[0, 1, NOTHING] = 1
    batch = Composed(torch.zeros(1), present, asked, cover)
    logits = torch.full((1, NOTHING), 3.0)
    logits[0, 1], logits[0, 2] = 1.0, -2.0
    assert float(labels_loss(logits, batch)) == pytest.approx(np.log1p(np.exp(-1)) + np.log1p(np.exp(-2)))
    said = torch.zeros(1, 2, NOTHING + 1)
    assert float(token_loss(said, batch)) == pytest.approx(np.log(NOTHING + 1))
    rows = torch.tensor([[[0.25, 0.75]]])
    assert float(looking_loss(rows, batch)) == pytest.approx(-np.log(0.125))


def test_the_class_token_s_attention_is_what_the_block_computes():
    model = several.RECIPE.untrained(0)
    images = torch.randn(2, 3, 192, 192, generator=torch.Generator().manual_seed(0))
    seen = []
    with torch.no_grad(), class_attention(model) as fused:
        model.forward_features(images)
    model.blocks[-1].attn.fused_attn = False
    handle = model.blocks[-1].attn.attn_drop.register_forward_hook(lambda module, args, output: seen.append(output))
    with torch.no_grad():
        model.forward_features(images)
    handle.remove()
    assert torch.allclose(fused[0], seen[0][:, :, 0], atol=1e-6)


def test_registers_leave_the_rest_as_it_was():
    tensors = {"pos_embed": torch.arange(6.0).reshape(1, 3, 2), "other": torch.ones(1)}
    found = several.with_registers(tensors, torch.full((1, 2, 2), 7.0))
    assert found["pos_embed"][0, :, 0].tolist() == [0, 0, 0, 2, 4]
    assert found["reg_token"].unique().tolist() == [7]
    assert found["other"] is tensors["other"]
