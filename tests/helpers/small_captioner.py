"""A small random captioner and the tokens of an image."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.models.seeding import seeded
from vitexplorer.models.texts.captioner import Captioner, CaptionerConfig

WORDS = ("a", "red", "gear", "一个", "红色", "的", "齿轮")
HEADS, WIDTH, DIM = 4, 16, 10


@cache
def small_captioner(dim: int = DIM) -> Captioner:
    """Make it, with parameters far from those it would begin a training with."""
    config = CaptionerConfig(WORDS, dim=dim, context=6, width=WIDTH, layers=2, heads=HEADS)
    with seeded(0), torch.no_grad():
        made = Captioner(config).eval().requires_grad_(False)
        for parameter in made.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return made


def image_tokens(count: int) -> torch.Tensor:
    """Draw the tokens of an image, (count, DIM)."""
    return torch.randn(count, DIM, generator=torch.Generator().manual_seed(1))


def with_captioner(captured: Capture) -> Capture:
    """Return a capture of a model that writes captions too."""
    captioner = small_captioner(captured.residual(0).shape[-1])
    return replace(captured, model=replace(captured.model, captioner=captioner))
