"""Seeded use of torch's global generators, which all threads of a process share.

Code that accepts a generator gets its own. timm and torch's layers accept none: initial values, dropout and
torchvision's augmentations use the global generators.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from vitexplorer.core.text import SettingError, Text

TURN = threading.RLock()
"""Lock of the thread that draws from the global generators"""
_CPU = torch.device("cpu")


@contextmanager
def stream(seed: int, device: torch.device = _CPU) -> Iterator[None]:
    """Seed the global generators, the CPU's and `device`'s, for a block, and restore their state afterwards.

    Other threads may draw during the block: code inside must hold `TURN` while it draws.

    Raises:
        SettingError: the seed has more than 64 bits.
    """
    if not -(2**63) <= seed < 2**64:
        raise SettingError(Text("seed must be a whole number of 64 bits.", "seed 必须是 64 位以内的整数。"))
    is_cuda = device.type == "cuda"
    forked = torch.random.fork_rng(devices=[device] if is_cuda else [])
    with TURN:
        forked.__enter__()
        torch.default_generator.manual_seed(seed)
        if is_cuda:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
    try:
        yield
    finally:
        with TURN:
            forked.__exit__(None, None, None)


@contextmanager
def seeded(seed: int, device: torch.device = _CPU) -> Iterator[None]:
    """Seed the global generators for a block, holding `TURN` throughout, so that no other thread draws.

    Raises:
        SettingError: the seed has more than 64 bits.
    """
    with TURN, stream(seed, device):
        yield
