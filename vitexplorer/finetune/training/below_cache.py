"""Disk cache of the features that enter a network's cut, computed once for each image.

A file is identified by a key: the frozen weights, the cut, the images and their preparation. Methods of a job with the
same cut share the file, and so does a resumed job. The setting VIT_FEATURE_CACHE_MEGABYTES bounds the cache; if the
features do not fit, the method trains with the whole network.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn

from vitexplorer.core.text import Progress
from vitexplorer.finetune.training.cut import Cut
from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed
from vitexplorer.finetune.training.steps import in_order
from vitexplorer.storage.atomic_writes import explain_full_disk, permitted

_BATCH = 32


def size_in_bytes(shape: Sequence[int], images: int, views: int) -> int:
    """Compute the bytes of a file of float32 features of `shape` for each image and view."""
    return 4 * images * views * int(np.prod(shape))


@dataclass(frozen=True)
class BelowCache:
    """Feature files of a job, in one folder."""

    folder: Path
    megabytes: int
    """Limit for all files together"""
    accelerator: Accelerator
    normalise: Callable[[Tensor], Tensor]

    def has_room(self, size: int) -> bool:
        """Return True if a file of this size fits after deleting all others."""
        return size <= self.megabytes * 10**6

    def get(self, key: str, below: nn.Module, feed: PixelFeed, views: int, progress: Progress) -> np.ndarray:
        """Return float32 (views, images, ...), view 0 plain, the others augmented; from disk if cached.

        All processes of a job call this together, and each computes its share. `progress` counts images.
        Raises DiskFullError.
        """
        path = self.folder / f"{key}.npy"
        if self.accelerator.is_local_main_process:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.accelerator.wait_for_everyone()
        below.eval()
        shape = (views, len(feed), *entering(below, self.normalise(feed.image(0, PLAIN)[None])))
        if not _is_whole(path, shape):
            self._make(path, below, feed, shape, progress)
        return np.load(path, mmap_mode="r")

    def _make(self, path: Path, below: nn.Module, feed: PixelFeed, shape: tuple[int, ...], progress: Progress) -> None:
        unfinished = path.with_suffix(".unfinished")
        views = shape[0]
        self.accelerator.wait_for_everyone()  # every process has checked the file
        if self.accelerator.is_local_main_process:
            with permitted(path), explain_full_disk(self.folder):
                self._make_room(size_in_bytes(shape[2:], len(feed), views))
                _reserve(unfinished, shape)
        self.accelerator.wait_for_everyone()
        features = np.load(unfinished, mmap_mode="r+")
        batches = in_order(len(feed), _BATCH)[self.accelerator.local_process_index :: _local_processes()]
        done = 0
        total = views * sum(map(len, batches))
        for view in range(views):
            pixels = feed.batches(batches, PLAIN if view == 0 else view)
            for batch, images in zip(batches, pixels, strict=True):
                with torch.no_grad():
                    outputs = below(self.normalise(images))
                features[view, batch[0] : batch[-1] + 1] = outputs.float().cpu().numpy()
                done += len(batch)
                progress(done, total)
        features.flush()
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_local_main_process:
            with permitted(path):
                unfinished.replace(path)
        self.accelerator.wait_for_everyone()

    def _make_room(self, needed: int) -> None:
        files = sorted(self.folder.glob("*.npy"), key=lambda file: file.stat().st_mtime)
        used = sum(file.stat().st_size for file in files)
        for file in files:
            if used + needed <= self.megabytes * 10**6:
                return
            used -= file.stat().st_size
            file.unlink()


def entering(below: nn.Module, image: Tensor) -> tuple[int, ...]:
    """Return the feature shape at the cut for one image."""
    with torch.no_grad():
        return tuple(below(image).shape[1:])


def fingerprint(module: nn.Module, cut: Cut) -> str:
    """Compute the SHA-256 of the cut and of the weights that run before it."""
    digest = hashlib.sha256(cut.name.encode())
    parts = [module.get_submodule(name) for name in cut.before]
    tensors = [tensor for part in parts for tensor in (*part.parameters(recurse=False), *part.buffers(recurse=False))]
    for tensor in (*tensors, *module.parameters(recurse=False)):  # at last class token, positions
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _is_whole(path: Path, shape: tuple[int, ...]) -> bool:
    try:
        features = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return False
    return features.shape == shape and features.dtype == np.float32


def _local_processes() -> int:
    """Return the number of processes on this machine; each machine has its own cache."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def _reserve(path: Path, shape: tuple[int, ...]) -> None:
    """Allocate a file on disk at once: writing to a sparse memory map on a full disk would kill the process."""
    try:
        np.lib.format.open_memmap(path, "w+", np.float32, shape).flush()
        if hasattr(os, "posix_fallocate"):
            with open(path, "rb+") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError:
        path.unlink(missing_ok=True)
        raise
