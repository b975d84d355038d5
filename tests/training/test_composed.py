"""Training pictures of several classes: the content of every cell is known, and the loss asks for it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training.composed import HIDDEN_PATCHES, LEAST, Composed, composed
from training.labelled import token_loss
from training.measure import last_attention
from training.pool import NOTHING, ScenePool
from training.recipes import several_registers, several_swin
from training.recipes.several_swin import astray_loss
from training.several_classes import labels_loss
from training.several_vit import START, looking_loss
from training.shipped import load


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
    for present in batch.present[3:]:
        assert any(set(present.nonzero()[:, 0].tolist()) <= known for known in whole)


def test_hidden_patches_are_the_mean_colour_and_show_nothing(scenes):
    batch = composed(scenes, np.random.default_rng(1), 192, 16, 0.5, grids=3)
    patches = batch.images.unfold(2, 16, 16).unfold(3, 16, 16)
    hidden = (patches == 0.5).all(-1).all(-1).all(1).flatten(1)
    assert 0.05 < hidden.float().mean() < HIDDEN_PATCHES / 2
    assert (hidden.float().mean(1) == 0).any()
    assert (batch.cover[hidden][:, NOTHING] == 1).all()


def test_losses_by_hand():
    """By hand: two classes asked for and one not; two cells, the first half covered by an object of class 1."""
    present, asked = torch.zeros(1, NOTHING), torch.zeros(1, NOTHING)
    present[0, 1] = asked[0, 1] = asked[0, 2] = 1
    cover = torch.zeros(1, 2, NOTHING + 1)
    cover[0, 0, 1] = cover[0, 0, NOTHING] = 0.5
    cover[0, 1, NOTHING] = 1
    batch = Composed(torch.zeros(1), present, asked, cover)
    logits = torch.full((1, NOTHING), 3.0)
    logits[0, 1], logits[0, 2] = 1.0, -2.0
    assert float(labels_loss(logits, batch)) == pytest.approx(np.log1p(np.exp(-1)) + np.log1p(np.exp(-2)))
    outputs = torch.zeros(1, 2, NOTHING + 1)
    assert float(token_loss(outputs, batch.cover)) == pytest.approx(np.log(NOTHING + 1))
    outputs = torch.zeros(1, 2, NOTHING)
    outputs[0, 0, 1], outputs[0, 0, 2], outputs[0, 1, 1] = 4, -6, 8
    assert float(astray_loss(outputs, batch)) == pytest.approx((0.5 * 4 + 6 + 8) / 2)


def test_the_answer_is_the_mean_of_what_the_cells_say():
    learner = several_swin.RECIPE.start(0).eval()
    images = torch.randn(2, 3, 192, 192, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        cell_logits = learner.cell_logits(learner.model.forward_features(images).flatten(1, 2))
        assert cell_logits.shape == (2, 36, NOTHING)
        assert torch.allclose(learner.model(images), cell_logits.mean(1) + learner.model.head.fc.bias, atol=1e-5)


def test_the_shipped_logits_are_stretched():
    learner = several_swin.RECIPE.start(0).eval()
    images = torch.randn(1, 3, 192, 192, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        trained, stretched = learner.model(images), learner.shipped()(images)
    assert torch.allclose(stretched, 8.4 * trained + 0.5, atol=1e-4)


def test_training_starts_where_the_model_of_single_objects_stands():
    known, model = load(several_swin.START).state_dict(), several_swin.RECIPE.start(0).model
    assert all(torch.equal(tensor, known[name]) for name, tensor in model.state_dict().items())


def test_looking_by_hand():
    """By hand: one picture, four patches, two heads; an object on half of the first patch and all of the third."""
    cover = torch.zeros(2, 4, NOTHING + 1)
    cover[..., NOTHING] = 1
    cover[0, 0, NOTHING], cover[0, 2, NOTHING] = 0.5, 0
    rows = torch.tensor([[[0.1, 0.2, 0.3, 0.0], [0.1, 0.0, 0.1, 0.0]], [[0.0, 1, 0, 0], [0.0, 1, 0, 0]]])
    given = np.array([0.2, 0.2, 0.4, 0.0]) / 0.8  # of what patches get together; the second picture shows nothing
    assert float(looking_loss(rows, cover)) == pytest.approx(-(np.log(given[0]) / 3 + 2 * np.log(given[2]) / 3))


def test_registers_start_beside_what_is_known_without_a_place():
    known, model = load(START).state_dict(), several_registers.RECIPE.start(0).model.eval()
    assert model.num_prefix_tokens == 5
    assert torch.equal(model.pos_embed[:, 1:5], torch.zeros(1, 4, 192))
    assert torch.equal(model.pos_embed[:, 5:], known["pos_embed"][:, 1:])
    assert torch.equal(model.blocks[3].attn.qkv.weight, known["blocks.3.attn.qkv.weight"])
    assert float(model.reg_token.detach().std()) == pytest.approx(float(known["cls_token"].std()), rel=0.15)
    with torch.no_grad(), last_attention(model) as rows:
        model.forward_features(torch.zeros(2, 3, 192, 192))
    assert rows[0].shape == (2, 3, 144)
    assert (rows[0].sum(-1) < 1).all()
