"""A Space on ZeroGPU hardware, which is stopped unless it says at its start which function may want a GPU.

None of ours does: models run on the Space's processors, where a ViT takes a fraction of a second, and nobody's minutes
are spent. So one that does nothing is named. The package `spaces` would say so when gradio launches, which our own
server never does, and lets torch believe in a GPU that the process does not have; both is put right here.
"""

from __future__ import annotations

import os


def join_zero_gpu() -> None:
    """Say that this Space is there, where it is one on such hardware; before anything has loaded torch."""
    if os.environ.get("SPACES_ZERO_GPU", "").lower() not in ("1", "t", "true"):  # as `spaces` reads it
        return
    import spaces
    from spaces.zero import client
    from spaces.zero import torch as believing

    spaces.GPU(_nothing)
    client.startup_report()
    believing.unpatch()


def _nothing() -> None:
    """What may want a GPU."""
