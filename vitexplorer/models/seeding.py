"""Numbers of a seed from torch's global generators, which all threads of a process share.

Where a generator can be given, it is given one of its own. timm and torch's layers take none: their first values,
dropout and torchvision's augmentations are drawn from the global ones.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from vitexplorer.core.text import SettingError, Text

TURN = threading.RLock()
"""held by the thread that draws from the global generators"""
_CPU = torch.device("cpu")


@contextmanager
def stream(seed: int, device: torch.device = _CPU) -> Iterator[None]:
    """Global generators that begin at the seed, and go on afterwards where they were.

    For long work in which other threads may draw too: whatever draws inside holds `TURN` while it does.

    Args:
        seed: of 64 bits.
        device: whose generator it is, beside the processor's.

    Raises SettingError.
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
    """A `stream` for the length of a block, in which no other thread of ours draws. Raises SettingError."""
    with TURN, stream(seed, device):
        yield
