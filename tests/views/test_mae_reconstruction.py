"""MAE reconstruction: the published checkpoint's layout, a slow twin in numpy, masks, pasting, norm-pix."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from vitexplorer.capturing.capture import capture
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import ExplainedError, SettingError, UnsupportedError
from vitexplorer.core.types import ReconstructionResult
from vitexplorer.figures import render
from vitexplorer.figures.renderers.pictures import HIDDEN_GREY, seen
from vitexplorer.models.loading import load_model
from vitexplorer.models.mae import MaeDecoder, sine_positions, to_images, to_patches
from vitexplorer.models.seeding import seeded
from vitexplorer.ui.panel.figure_panel import Question, capture_views, panel_data
from vitexplorer.views import compute
from vitexplorer.views.mae_reconstruction import hidden_patches, mean_of_visible, with_own_statistics

ARCHITECTURE, DIM, HEADS, PATCH, SIDE = "vit_tiny_patch16_224", 192, 3, 16, 14
DECODER_DIM, DECODER_HEADS, DECODER_DEPTH = 64, 2, 2


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Make encoder and decoder as published: one dictionary under "model", the decoder's names beside timm's."""
    encoder = load_model(ARCHITECTURE, weights="random").module.state_dict()
    with seeded(0):
        decoder = MaeDecoder(DIM, DECODER_DIM, DECODER_DEPTH, (SIDE, SIDE), PATCH).state_dict()
        tensors = {name: tensor for name, tensor in encoder.items() if not name.startswith("head.")} | decoder
        drawn = {name: tensor + 0.05 * torch.randn_like(tensor) for name, tensor in tensors.items()}
    file = tmp_path_factory.mktemp("mae") / "mae_visualize_vit_tiny.pth"
    torch.save({"model": drawn}, file)
    return file


@pytest.fixture(scope="module")
def image():
    return np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def captured(checkpoint, image):
    return capture(load_model(ARCHITECTURE, weights=checkpoint), image, fit="squash")


# ------------------------------------------------------------------------------------------------- the twin


def norm(x, tensors, name):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
    return x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def linear(x, tensors, name):
    return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def block(x, tensors, name, heads):
    qkv = linear(norm(x, tensors, f"{name}.norm1"), tensors, f"{name}.attn.qkv")
    width = x.shape[1] // heads
    outputs = []
    for head in range(heads):
        q, k, v = (qkv[:, part * x.shape[1] + head * width :][:, :width] for part in range(3))
        scores = np.exp(q @ k.T / math.sqrt(width))
        outputs.append(scores / scores.sum(1, keepdims=True) @ v)
    x = x + linear(np.concatenate(outputs, 1), tensors, f"{name}.attn.proj")
    hidden = linear(norm(x, tensors, f"{name}.norm2"), tensors, f"{name}.mlp.fc1")
    hidden = 0.5 * hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
    return x + linear(hidden, tensors, f"{name}.mlp.fc2")


def reconstruct_slowly(tensors, pixels, hidden):
    """Reconstruct normalised pixels (height, width, 3) as (patches, P, P, 3): He et al. 2021, section 3."""
    t = {name: tensor.double().numpy() for name, tensor in tensors.items()}
    kernel = t["patch_embed.proj.weight"]  # dim, 3, P, P
    tokens, order = [t["cls_token"][0, 0] + t["pos_embed"][0, 0]], []
    for patch in range(SIDE * SIDE):
        if not hidden[patch]:
            row, col = divmod(patch, SIDE)
            cell = pixels[row * PATCH :, col * PATCH :][:PATCH, :PATCH]
            token = np.einsum("dcpq,pqc->d", kernel, cell) + t["patch_embed.proj.bias"]
            tokens.append(token + t["pos_embed"][0, 1 + patch])
            order.append(patch)
    x = np.stack(tokens)
    for number in range(12):
        x = block(x, t, f"blocks.{number}", HEADS)
    x = linear(norm(x, t, "norm"), t, "decoder_embed")
    full = np.repeat(t["mask_token"][0], SIDE * SIDE + 1, 0)
    full[0] = x[0]
    for at, patch in enumerate(order):
        full[1 + patch] = x[1 + at]
    x = full + t["decoder_pos_embed"][0]
    for number in range(DECODER_DEPTH):
        x = block(x, t, f"decoder_blocks.{number}", DECODER_HEADS)
    return linear(norm(x, t, "decoder_norm"), t, "decoder_pred")[1:].reshape(-1, PATCH, PATCH, 3)


def assembled(cells):
    """Join (patches, P, P, 3) to (height, width, 3), one cell after the other."""
    picture = np.zeros((SIDE * PATCH, SIDE * PATCH, 3))
    for patch, cell in enumerate(cells):
        row, col = divmod(patch, SIDE)
        picture[row * PATCH :, col * PATCH :][:PATCH, :PATCH] = cell
    return picture


def uint8(normalised, model):
    preprocessing = model.preprocessing
    return np.rint((normalised * preprocessing.std + preprocessing.mean) * 255).clip(0, 255)


@pytest.mark.parametrize("norm_pix", [False, True])
def test_the_drawing_is_the_slow_twins(captured, checkpoint, image, norm_pix):
    result = compute("mae_reconstruction", captured, mask_ratio=0.9, seed=3, shown="raw", norm_pix=norm_pix)
    preprocessing = captured.model.preprocessing
    pixels = (image / 255 - preprocessing.mean) / preprocessing.std
    cells = reconstruct_slowly(torch.load(checkpoint)["model"], pixels, result.hidden.ravel())
    if norm_pix:
        for patch in range(SIDE * SIDE):
            row, col = divmod(patch, SIDE)
            true = pixels[row * PATCH :, col * PATCH :][:PATCH, :PATCH]
            cells[patch] = cells[patch] * np.sqrt(true.var(ddof=1) + 1e-6) + true.mean()
    difference = np.abs(uint8(assembled(cells), captured.model) - result.values)
    assert result.values.dtype == np.uint8
    assert difference.max() <= 1  # rounding
    assert (difference > 0).mean() < 0.01
    assert any("were not inferred" in note.en for note in result.notes) == norm_pix


def test_errors_are_those_of_the_hidden_patches(captured, checkpoint, image):
    result = compute("mae_reconstruction", captured, mask_ratio=0.5)
    hidden = result.hidden.repeat(PATCH, 0).repeat(PATCH, 1)
    preprocessing = captured.model.preprocessing
    pixels = image / 255
    normalised = (pixels - preprocessing.mean) / preprocessing.std
    drawn = assembled(reconstruct_slowly(torch.load(checkpoint)["model"], normalised, result.hidden.ravel()))
    drawn = drawn * preprocessing.std + preprocessing.mean
    assert result.error == pytest.approx(((drawn - pixels)[hidden] ** 2).mean(), rel=1e-4)
    flat = pixels[~hidden].mean(0)
    assert result.simplest_error == pytest.approx(((flat - pixels)[hidden] ** 2).mean(), rel=1e-4)


# ------------------------------------------------------------------------------------------------- what may not matter


def test_hidden_pixels_are_never_seen(captured, image):
    """Other pixels under the mask give the same drawing; another visible patch gives another drawing."""
    first = compute("mae_reconstruction", captured, shown="raw")
    under = first.hidden.repeat(PATCH, 0).repeat(PATCH, 1)[..., None]
    for where, same in ((under, True), (~under, False)):
        other = capture(captured.model, np.where(where, 255 - image, image).astype(np.uint8), fit="squash")
        again = compute("mae_reconstruction", other, shown="raw")
        assert np.array_equal(again.values, first.values) == same


def test_pasted_keeps_the_visible_patches(captured, image):
    raw = compute("mae_reconstruction", captured, shown="raw")
    pasted = compute("mae_reconstruction", captured)
    under = raw.hidden.repeat(PATCH, 0).repeat(PATCH, 1)
    assert np.array_equal(pasted.values[~under], image[~under])
    assert np.array_equal(pasted.values[under], raw.values[under])
    assert (raw.values[~under] != image[~under]).mean() > 0.5


@pytest.mark.parametrize(("ratio", "visible"), [(0.05, 186), (0.75, 49), (0.95, 9)])
def test_ratio_and_seed_choose(captured, ratio, visible):
    boards = [compute("mae_reconstruction", captured, mask_ratio=ratio, seed=seed).hidden for seed in (0, 0, 1)]
    assert [(~board).sum() for board in boards] == [visible] * 3
    assert np.array_equal(boards[0], boards[1])
    assert not np.array_equal(boards[0], boards[2])


def test_a_mask_can_be_given_in_three_ways(captured):
    board = np.zeros((SIDE, SIDE), bool)
    board[0, 1] = board[2, 3] = board[13, 13] = True
    for mask in (board, "1, 31,195", (195, 1, 31)):
        result = compute("mae_reconstruction", captured, mask=mask, seed=7)
        assert np.array_equal(result.hidden, board)
        assert result.settings["mask"] == (1, 31, 195)
        assert not result.settings.keys() & {"mask_ratio", "seed"}  # which had no say
        assert result.settings_said["mask"][1].en == "chosen by hand"


NO_MASKS = ["196", "-1", "a", "1.5.2", np.ones((SIDE, SIDE), bool), ["0", None], [0.9], [np.inf], [[1, 2], [3]]]
BOARDS_OF_OTHER_SHAPES = [np.arange(SIDE * SIDE) > 5, np.eye(SIDE - 1, dtype=bool)]


@pytest.mark.parametrize("mask", [*NO_MASKS, *BOARDS_OF_OTHER_SHAPES])
def test_a_wrong_mask_is_answered_with_the_rule(captured, mask):
    with pytest.raises(SettingError, match=r"0 to 195|At least one patch"):
        compute("mae_reconstruction", captured, mask=mask)


# ------------------------------------------------------------------------------------------------- what is refused


def test_a_model_without_a_decoder_is_refused_with_a_sentence(image):
    plain = capture(load_model(ARCHITECTURE, weights="random"), image, fit="squash")
    with pytest.raises(UnsupportedError, match="no decoder to draw"):
        compute("mae_reconstruction", plain)


def test_another_grid_is_refused(captured, image):
    native = capture(captured.model, image[:160], fit="native")
    with pytest.raises(UnsupportedError, match=r"14 x 14 patches, but this image has 10 x 14"):
        compute("mae_reconstruction", native)


def test_loading_says_what_became_of_the_decoder(captured, checkpoint, tmp_path):
    """A whole decoder is used and not reported as left out; a part of one cannot be used, and is reported."""
    assert isinstance(captured.model.decoder, MaeDecoder)
    assert not any("left out" in note.en for note in captured.model.notes)
    tensors = torch.load(checkpoint)["model"]
    del tensors["decoder_blocks.1.norm1.weight"]
    torch.save(tensors, tmp_path / "part.pth")
    part = load_model(ARCHITECTURE, weights=tmp_path / "part.pth")
    assert part.decoder is None
    assert any("left out" in note.en for note in part.notes)


def test_the_bundled_autoencoder_draws_better_than_one_colour():
    if not (ASSETS / "models" / "scenes_mae_patch16_192" / "decoder.safetensors").exists():
        pytest.skip("not trained yet")
    model = load_model("scenes_mae_patch16_192")
    for name in ("fish", "mug", "ring"):
        result = compute("mae_reconstruction", capture(model, str(ASSETS / "examples" / f"scene_{name}.webp")))
        assert result.error < result.simplest_error
    random = capture(load_model("scenes_mae_patch16_192", weights="random"), str(ASSETS / "examples/scene_fish.webp"))
    with pytest.raises(UnsupportedError, match="no decoder"):
        compute("mae_reconstruction", random)


# ------------------------------------------------------------------------------------------------- in the page


def in_the_page(captured, **given):
    """Return the panel, its mask control and the settings of its figure."""
    try:
        made = compute("mae_reconstruction", captured, **given)
    except ExplainedError as error:
        made = error
    view = "mae_reconstruction"
    data, settings = panel_data(capture_views(captured), (view,), "en", Question(view, given), made)
    (painted,) = (control for control in data.controls if control.kind == "patches")
    return data, painted, settings


def test_painting_begins_with_what_the_seed_hid(captured):
    data, painted, _ = in_the_page(captured, seed="3")
    hidden = compute("mae_reconstruction", captured, seed=3).hidden
    assert painted.value == ""
    assert [hidden[divmod(patch, SIDE)] for patch in range(SIDE * SIDE)] == [
        patch in painted.state["hidden"] for patch in range(SIDE * SIDE)
    ]
    assert (painted.board.rows, painted.board.cols, painted.board.covered) == (SIDE, SIDE, (1, 1))
    assert set(painted.more["instead_of"]) < {control.name for control in data.controls}
    assert data.image is not None


def test_what_is_painted_stays_and_the_seed_keeps_its_number(captured):
    data, painted, settings = in_the_page(captured, mask="31,1", seed="7")
    assert (painted.value, painted.state["hidden"]) == ("0.1+2.3", [1, 31])
    assert "seed" not in settings
    assert next(control.value for control in data.controls if control.name == "seed") == "7"


def test_everything_painted_is_a_sentence_and_nothing_is_lost(captured):
    everything = ",".join(map(str, range(SIDE * SIDE)))
    data, painted, _ = in_the_page(captured, mask=everything)
    assert data.refused == painted.words["full"] == "At least one patch must stay visible."
    assert (painted.value, painted.state["hidden"]) == (everything, None)
    assert data.image is not None


# ------------------------------------------------------------------------------------------------- by hand


def test_patches_are_cut_row_by_row_with_colours_last():
    images = torch.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6).float()
    patches = to_patches(images, 2)
    assert patches.shape == (2, 6, 12)
    # image 1, patch in row 1, column 2: pixels (2..3, 4..5)
    by_hand = [images[1, c, row, col] for row in (2, 3) for col in (4, 5) for c in range(3)]
    assert patches[1, 5].tolist() == [float(value) for value in by_hand]
    assert torch.equal(to_images(patches, (2, 3), 2), images)


def test_sine_positions_by_hand():
    """By hand: 4 sines and 4 cosines of the column, then of the row; rates 1, 0.1, 0.01, 0.001."""
    result = sine_positions(3, 5, 16)[2 * 5 + 4]
    rates = [10000 ** (-k / 4) for k in range(4)]
    by_hand = [f(place * rate) for place in (4, 2) for f in (math.sin, math.cos) for rate in rates]
    assert np.allclose(result.numpy(), by_hand, atol=1e-6)


def test_norm_pix_and_the_simplest_guess_by_hand():
    true = torch.tensor([[[1.0, 2, 3, 5, 6, 7], [0, 0, 0, 2, 2, 2]]])  # two patches of two pixels
    assert mean_of_visible(true, torch.tensor([False, True]))[0, 1].tolist() == [3, 4, 5, 3, 4, 5]
    guess = with_own_statistics(torch.zeros_like(true), true)
    assert guess[0, :, 0].tolist() == [4, 1]
    assert with_own_statistics(torch.ones_like(true), true)[0, 1, 0].item() == pytest.approx(1 + math.sqrt(1.2), 1e-5)


def test_hidden_patches_follow_a_given_mask_only():
    assert hidden_patches(6, 0.75, 0, (0, 5)).tolist() == [True, False, False, False, False, True]
    assert hidden_patches(6, 0.5, 0, ()).sum() == 3


def test_the_figure_shows_three_pictures(captured):
    result = compute("mae_reconstruction", captured)
    assert isinstance(result, ReconstructionResult)
    figure = render(result)
    assert len(figure.layout.images) + len(figure.data) >= 3
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert f"{100 * result.error / result.simplest_error:.0f}\u00a0%" in words
    assert "147 of 196" in words
    assert "chosen by the seed" in words
    grey = (seen(result) == HIDDEN_GREY).all(-1)
    assert grey[result.hidden.repeat(PATCH, 0).repeat(PATCH, 1)].all()
