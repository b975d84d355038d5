"""Readings of a caption against slow twins: each definition word by word and patch by patch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.helpers.small_captioner import image_tokens, small_captioner
from vitexplorer.models.texts.captioner import BEGIN
from vitexplorer.quantities.texts.captions import READINGS, Caption, rank_gaussian

PREFIX, GRID = 1, (3, 4)
SENTENCES = [(BEGIN["en"], 4, 5, 6), (BEGIN["en"], 5, 4, 5, 6), (BEGIN["zh"], 8)]
"""A plain one, one with a word that comes twice, one of a single word"""


@pytest.fixture(params=SENTENCES, ids=str)
def caption(request):
    return Caption(small_captioner(), image_tokens(PREFIX + GRID[0] * GRID[1]), PREFIX, GRID, request.param)


def until(caption, word):
    """Run the captioner on what stands before a word."""
    return caption.captioner(torch.tensor([caption.tokens[: word + 1]]), caption.image[None])


def check(caption, key, expected):
    maps = READINGS[key].maps(caption)
    assert maps.shape == (len(caption.tokens) - 1, GRID[0] * GRID[1])
    np.testing.assert_allclose(maps, expected, rtol=1e-4, atol=1e-6)


def test_probabilities_are_those_of_one_word_after_the_other(caption):
    expected = [
        until(caption, word).logits[0, -1].softmax(-1)[token].item() for word, token in enumerate(caption.tokens[1:])
    ]
    np.testing.assert_allclose(caption.probabilities(), expected, rtol=1e-5)


def test_cross_attention(caption):
    rows = []
    for word in range(len(caption.tokens) - 1):
        heads = until(caption, word).to_image[-1][0, :, -1, PREFIX:]
        rows.append(sum(heads) / len(heads))
    check(caption, "cross_attention", torch.stack(rows).numpy())


def test_bimodal(caption):
    """Slow twin: equations 5 to 10 of the paper for one word after the other, sum by sum."""
    rows = []
    for word, token in enumerate(caption.tokens[1:]):
        image = caption.image.clone().requires_grad_()
        stream = caption.captioner.embed(torch.tensor([caption.tokens[: word + 1]])).requires_grad_()
        run = caption.captioner.run(stream, image[None])
        slopes = torch.autograd.grad(run.logits[0, -1, token], (*run.among_words, *run.to_image))
        words, keys = word + 1, len(image)
        own, to_image = torch.eye(words, dtype=torch.double), torch.zeros(words, keys, dtype=torch.double)
        for block in range(2):
            among = heads_together(run.among_words[block], slopes[block])
            cross = heads_together(run.to_image[block], slopes[2 + block])
            to_image, own = to_image + among @ to_image, own + among @ own
            added = own - torch.eye(words)
            normal = torch.eye(words, dtype=torch.double)
            for row in range(words):
                if added[row].sum() > 0:
                    normal[row] += added[row] / added[row].sum()
            to_image = to_image + normal.T @ cross
        rows.append(to_image[-1, PREFIX:].detach())
    check(caption, "bimodal", torch.stack(rows).numpy())


def heads_together(weights, slopes):
    heads = [(slope * weight).clamp(min=0).double() for weight, slope in zip(weights[0], slopes[0], strict=True)]
    return sum(heads).detach() / len(heads)


def test_token_activation(caption):
    """Slow twin: a least squares solver in place of the formula, windows and ranks one by one."""
    tokens = caption.tokens
    alone = caption.captioner.read_alone(caption.image[PREFIX:]).clamp(min=0).double().numpy()
    rows = []
    for word in range(1, len(tokens)):
        activation = alone[:, tokens[word]]
        earlier = [other for other in range(1, word) if tokens[other] != tokens[word]]
        scores = [max(0.0, until(caption, other).logits[0, -1, tokens[word]].item()) for other in earlier]
        if sum(scores):
            explained = sum(s * alone[:, tokens[other]] for s, other in zip(scores, earlier, strict=True)) / sum(scores)
            share = np.linalg.lstsq(explained[:, None], activation, rcond=None)[0][0]
            activation = np.maximum(activation - share * explained, 0)
        rows.append(ranked_slowly(activation.reshape(GRID)).ravel())
    check(caption, "token_activation", np.stack(rows))


def ranked_slowly(values):
    """Slow twin of the rank Gaussian filter."""
    rows, cols = values.shape
    smooth = np.zeros_like(values)
    for row in range(rows):
        for col in range(cols):
            window = []
            for r in (row - 1, row, row + 1):
                for c in (col - 1, col, col + 1):
                    mirrored = [
                        size - 2 - (at - size) if at >= size else abs(at) for at, size in ((r, rows), (c, cols))
                    ]
                    window.append(values[tuple(mirrored)])
            window.sort()
            mean, deviation = np.mean(window), np.std(window)
            if mean <= 0:
                continue
            if deviation == 0:
                smooth[row, col] = mean
                continue
            weights = [np.exp(-((rank - 4) ** 2) / (2 * (deviation / mean) ** 2)) for rank in range(9)]
            smooth[row, col] = np.average(window, weights=weights)
    return smooth


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_an_even_map_stays_even(value):
    assert np.array_equal(rank_gaussian(np.full((4, 5), value)), np.full((4, 5), value))


def test_one_stray_patch_is_taken_away():
    values = np.ones((5, 5))
    values[2, 2] = 100
    assert rank_gaussian(values)[2, 2] < 20


def test_a_grid_of_one_row_is_filtered():
    assert np.isfinite(rank_gaussian(np.arange(6.0)[None])).all()
