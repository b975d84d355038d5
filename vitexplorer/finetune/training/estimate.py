"""Estimate from two batches before training: cut, faster precision, time and memory.

Time is measured on the second of two steps, forward and backward. Memory is counted: parameters, gradients, the
optimiser's averages, and every tensor saved for the backward pass (on CUDA the allocator's own peak). The model stays
unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.finetune.attaching import TunedModel, count_parameters
from vitexplorer.finetune.job.plan import Candidate
from vitexplorer.finetune.results.records import Estimate
from vitexplorer.finetune.trained_parts import learned, put_back, train_mode, trainable
from vitexplorer.finetune.training.below_cache import entering, size_in_bytes
from vitexplorer.finetune.training.cut import Below, Cut, Tail
from vitexplorer.finetune.training.cut_search import find_cut
from vitexplorer.finetune.training.setup import Setup
from vitexplorer.finetune.training.steps import batches_of, steps_of
from vitexplorer.models.seeding import seeded

_WORTH_IT = 1.15
"""Least measured speed-up for which bfloat16 is worth its rounding"""
_AVERAGES = 2
"""Averages that AdamW stores for each trained parameter"""


@dataclass(frozen=True)
class Measurement:
    """Cut and estimate of a candidate."""

    cut: Cut | None
    """Cut; None if the whole network runs in every step"""
    estimate: Estimate

    def beginning_as(self, precision: str, cache_bytes: int) -> Measurement:
        """Return a copy with the precision and caching of the first start, for a resumed run."""
        cut = self.cut if cache_bytes else None
        return Measurement(cut, replace(self.estimate, precision=precision, cache_bytes=cache_bytes))


def measure(setup: Setup, candidate: Candidate, tuned: TunedModel) -> Measurement:
    """Measure an attached candidate; model, generators and statistics are unchanged afterwards."""
    plan = setup.config.plan
    images = len(setup.split.train)
    batches = batches_of(images, setup.batch_size, plan.seed, 0)
    pieces = [np.array_split(batches[i % len(batches)], plan.accumulate)[0] for i in range(2)]
    with _unchanged(tuned, setup.device):
        start = time.perf_counter()
        pixels = list(setup.train_pixels.batches(pieces, 0))
        decoding = (time.perf_counter() - start) / sum(map(len, pieces))
        inputs = [setup.normalise(pixels_of_piece) for pixels_of_piece in pixels]
        cut, cache_bytes = _cut(setup, tuned, inputs[0])
        network = tuned.module
        below = 0.0
        if cut:
            part = Below(tuned.module, cut)
            inputs, times = zip(*(_timed(part, pixels_of_piece) for pixels_of_piece in inputs), strict=True)
            below = times[-1] / len(pieces[-1]) + decoding
            network = Tail(tuned.module, cut, setup.normalise(pixels[0][:1]))
        steps = _Steps(setup, tuned, network, list(zip(inputs, pieces, strict=True)))
        precision, seconds = steps.precision_and_seconds(plan.precision)
        forward = _timed(network, inputs[-1])[1] / len(pieces[-1])
        memory = steps.memory(precision)
    live = 0.0 if cut else decoding
    one_step = (seconds + live * len(pieces[-1])) * plan.accumulate / setup.accelerator.num_processes
    total_steps = plan.epochs * steps_of(images, setup.batch_size)
    validation = plan.epochs * len(setup.split.validation) * (forward + live)
    once = below * (images * plan.views + len(setup.split.validation))
    counts = count_parameters(tuned)
    estimate = Estimate(
        run=candidate.key,
        total=counts.total,
        trainable=counts.trainable,
        head=counts.head,
        steps=total_steps,
        seconds_per_step=one_step,
        seconds=once + total_steps * one_step + validation,
        memory_bytes=memory,
        cache_bytes=cache_bytes,
        precision=precision,
        text=_text(cut, plan.views, plan.augmentation),
    )
    return Measurement(cut, estimate)


_EVERY_STEP = Text(
    "The whole network runs in every step; images are augmented anew in every epoch.",
    "每一步都运行整个网络；每一轮都重新做数据增强。",
)
_EVERY_STEP_PLAIN = Text(
    "The whole network runs in every step; images are not augmented.", "每一步都运行整个网络；不做数据增强。"
)
_ONCE = Text(
    "What comes before {place} runs once for {views} views of each image, the plain one and {more} augmented, and "
    "is kept; epochs take them in turn.",
    "{place} 之前的部分对每幅图像的 {views} 个版本（原图和 {more} 个增强版本）各运行一次并保存结果；各轮轮流使用。",
)
_ONCE_PLAIN = Text(
    "What comes before {place} runs once for each image and is kept; the images are not augmented.",
    "{place} 之前的部分对每幅图像只运行一次并保存结果；图像不做增强。",
)


def _text(cut: Cut | None, views: int, augmentation: str) -> Text:
    plain = augmentation == "none"
    if cut is None:
        return _EVERY_STEP_PLAIN if plain else _EVERY_STEP
    return (_ONCE_PLAIN if plain or views == 1 else _ONCE).format(place=cut.name, views=views, more=views - 1)


def _cut(setup: Setup, tuned: TunedModel, images: Tensor) -> tuple[Cut | None, int]:
    """Return the cut and the bytes of its features; None and 0 if there is no cut or the features do not fit."""
    images = torch.cat([images, images.flip(-1)])[[0, -1]]
    cut = find_cut(tuned, images)
    if cut is None:
        return None, 0
    shape = entering(Below(tuned.module, cut), images[:1])
    size = size_in_bytes(shape, len(setup.split.train), setup.config.plan.views)
    size += size_in_bytes(shape, len(setup.split.validation), 1)
    return (cut, size) if setup.below_cache.has_room(size) else (None, 0)


def _timed(network: nn.Module, inputs: Tensor) -> tuple[Tensor, float]:
    network.eval()
    start = time.perf_counter()
    with torch.no_grad():
        outputs = network(inputs)
        _finish(inputs.device)
    return outputs, time.perf_counter() - start


@dataclass(frozen=True)
class _Steps:
    """Forward and backward passes of two pieces of batches."""

    setup: Setup
    tuned: TunedModel
    network: nn.Module
    pieces: list[tuple[Tensor, np.ndarray]]

    def precision_and_seconds(self, precision: str) -> tuple[str, float]:
        """Choose the precision and return it with the seconds of a step."""
        if precision != "auto":
            return precision, self.seconds(precision)
        plain = self.seconds("no")
        if not multiplies_bf16(self.setup.device):
            return "no", plain
        halved = self.seconds("bf16")
        return ("bf16", halved) if halved * _WORTH_IT < plain else ("no", plain)

    def seconds(self, precision: str) -> float:
        """Measure the second step; the first one warms up."""
        taken = 0.0
        for inputs, batch in self.pieces:
            start = time.perf_counter()
            self._step(inputs, batch, precision)
            _finish(inputs.device)
            taken = time.perf_counter() - start
        return taken

    def memory(self, precision: str) -> int:
        """Compute the peak bytes of a step."""
        own = [p.numel() * p.element_size() for p in trainable(self.tuned.module).values()]
        if self.setup.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self._step(*self.pieces[0], precision)
            return torch.cuda.max_memory_allocated() + _AVERAGES * sum(own)
        weight_storages = {p.untyped_storage().data_ptr() for p in self.network.parameters()}
        saved: dict[int, int] = {}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in weight_storages:
                saved[storage.data_ptr()] = storage.nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            self._step(*self.pieces[0], precision)
        base = sum(p.numel() * p.element_size() for p in self.network.parameters())
        return base + (1 + _AVERAGES) * sum(own) + sum(saved.values())

    def _step(self, inputs: Tensor, batch: np.ndarray, precision: str) -> None:
        train_mode(self.tuned, self.setup.config.plan.drop_path)
        targets = torch.as_tensor(self.setup.train_targets[batch], device=inputs.device)
        weights = torch.ones(len(batch), device=inputs.device) / len(batch)
        loss = self.setup.objective.weighted_loss(self.network, precision, inputs, targets, weights)
        torch.autograd.grad(loss, list(trainable(self.tuned.module).values()), allow_unused=True)


@contextmanager
def _unchanged(tuned: TunedModel, device: torch.device) -> Iterator[None]:
    """Restore generators, statistics and modes afterwards."""
    before = {name: tensor.detach().clone() for name, tensor in learned(tuned.module).items()}
    with seeded(0, device):
        try:
            yield
        finally:
            tuned.module.eval()
            put_back(tuned.module, before)


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def multiplies_bf16(device: torch.device) -> bool:
    """Return True if the device has bfloat16 units; on a CPU the speed-up still has to be measured."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    flags = Path("/proc/cpuinfo")
    return flags.exists() and any(unit in flags.read_text() for unit in ("avx512_bf16", "amx_bf16"))
