"""Startup report of a Space on ZeroGPU hardware, which is stopped unless it registers a function that uses a GPU.

None of ours does: models run on the Space's CPUs, where a ViT takes a fraction of a second and nobody's GPU quota is
spent. So an empty function is registered. The package `spaces` sends the report when gradio launches, which our own
server never does, and makes torch report a GPU that the process does not have; both are corrected here.
"""

from __future__ import annotations

import os


def join_zero_gpu() -> None:
    """Send the startup report on ZeroGPU hardware; call before torch is loaded."""
    if os.environ.get("SPACES_ZERO_GPU", "").lower() not in ("1", "t", "true"):  # as `spaces` reads it
        return
    import spaces
    from spaces.zero import client
    from spaces.zero import torch as torch_patch

    spaces.GPU(_nothing)
    client.startup_report()
    torch_patch.unpatch()


def _nothing() -> None:
    """Do nothing; registered as the function that may use a GPU."""
