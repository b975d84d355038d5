"""Losses of pictures with sentences, against sums pair by pair."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from training.described import contrastive_loss, naming_loss, sigmoid_loss

PICTURES, TEXTS = 4, 6


@pytest.fixture
def logits() -> Tensor:
    return torch.randn(PICTURES, TEXTS, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.fixture
def true() -> Tensor:
    """Every picture and every text have a right answer, some have two."""
    rows = [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 1]]
    return torch.tensor(rows, dtype=torch.bool)


def softmax_loss(scores: list[float], answers: list[int]) -> float:
    """Mean of -log p over the right answers."""
    total = sum(math.exp(score) for score in scores)
    return -sum(math.log(math.exp(scores[answer]) / total) for answer in answers) / len(answers)


def test_the_contrastive_loss_is_the_mean_of_both_ways(logits: Tensor, true: Tensor) -> None:
    ways = []
    for scores, right in ((logits, true), (logits.T, true.T)):
        losses = [
            softmax_loss(row.tolist(), flags.nonzero().flatten().tolist())
            for row, flags in zip(scores, right, strict=True)
        ]
        ways.append(sum(losses) / len(losses))
    assert contrastive_loss(logits, true).item() == pytest.approx(sum(ways) / 2, rel=1e-6)


def test_the_naming_loss_leaves_out_pictures_without_a_shape(logits: Tensor, true: Tensor) -> None:
    true[1] = False
    losses = [
        softmax_loss(logits[row].tolist(), true[row].nonzero().flatten().tolist())
        for row in range(PICTURES)
        if row != 1
    ]
    assert naming_loss(logits, true).item() == pytest.approx(sum(losses) / 3, rel=1e-6)


def test_the_sigmoid_loss_judges_each_pair_alone(logits: Tensor, true: Tensor) -> None:
    total = sum(
        math.log1p(math.exp(-(1 if true[row, col] else -1) * logits[row, col].item()))
        for row in range(PICTURES)
        for col in range(TEXTS)
    )
    assert sigmoid_loss(logits, true).item() == pytest.approx(total / PICTURES, rel=1e-6)
