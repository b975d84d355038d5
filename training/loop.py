"""Training loop of all recipes: accelerate, a schedule, checkpoints that resume, a progress bar.

The batch of a step depends only on (seed, step). The checkpoint holds the model, the optimiser and torch's generators,
so a killed run resumes exactly (on the same machine with the same number of threads).
"""

from __future__ import annotations

import json
import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from safetensors.torch import load_model
from timm.layers import build_sincos2d_pos_embed
from torch import Tensor, nn
from tqdm import tqdm

from training.pool import Pool
from vitexplorer.finetune.training.estimate import multiplies_bf16
from vitexplorer.models.seeding import seeded


class Learner(nn.Module, ABC):
    """Trained module: the network and its recipe's additions (a teacher, an average, a decoder)."""

    model: nn.Module
    """Network that is shipped, unless the recipe makes another of what it trained"""

    @abstractmethod
    def forward(self, scenes: Any, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the loss of a batch from the recipe's pool at a step counted from 0."""

    def after_step(self, step: int) -> None:
        """Update state outside the optimiser, such as an average of the weights."""

    def shipped(self) -> nn.Module:
        """Return the plain timm module to ship, without what only training needs."""
        return self.model

    def beside(self) -> dict[str, nn.Module]:
        """Return what is shipped beside the module, by the name of its file: a decoder, a text tower."""
        return {}


@dataclass(frozen=True)
class Schedule:
    """Learning rate schedule: linear warm-up, cosine down to a hundredth, linear cool-down to zero."""

    steps: int
    learning_rate: float
    """Peak rate for the matrices of the blocks; other parameters take half of it"""
    warmup: int
    cosine: int
    """Step at which the cosine would end"""
    cooldown: int
    """Steps of the linear fall to zero at the end"""
    batch_size: int = 64
    weight_decay: float = 0.05
    clip: float = 1.0
    """Largest norm of the gradient"""

    def rate_at(self, step: int) -> float:
        """Compute the share of the peak rate at a step counted from 0."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup) / (self.cosine - self.warmup))
        falling = min(1.0, (self.steps - step) / self.cooldown)
        return falling * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


@torch.no_grad()
def place_positions(model: nn.Module) -> None:
    """Start the position embeddings of a timm transformer from sines and cosines (Beyer et al. 2022, arXiv 2205.01580).

    timm's initial embeddings are so small beside the patches that a short training would hardly learn positions.
    """
    sines = build_sincos2d_pos_embed(list(model.patch_embed.grid_size), dim=model.embed_dim, temperature=100.0)
    model.pos_embed[:, model.num_prefix_tokens :] = 0.5 * sines


@dataclass(frozen=True)
class Run:
    """Record of a training run, for its resumption and its card."""

    seed: int
    steps: int
    """Steps done"""
    seconds: int
    """Seconds of wall-clock time, without pauses before a resumption"""
    machine: str


def train(
    make: Callable[[], Learner],
    schedule: Schedule,
    pool: Pool,
    out: Path,
    *,
    seed: int = 0,
    stop_after: int | None = None,
    checkpoint_every: int = 200,
) -> Learner:
    """Train from the newest checkpoint in `out`, or from the start, up to the end of the schedule.

    Args:
        make: makes a fresh learner; a checkpoint replaces its state.
        schedule: schedule of the whole run.
        pool: pictures to draw batches from.
        out: folder of the checkpoint and the log.
        seed: seed of the learner, the batches and dropout.
        stop_after: stop after this many steps of the schedule, as if killed.
        checkpoint_every: steps between checkpoints.
    """
    bf16 = torch.cuda.is_available() or (torch.backends.mkldnn.is_available() and multiplies_bf16(torch.device("cpu")))
    accelerator = Accelerator(mixed_precision="bf16" if bf16 else "no")
    with seeded(seed, accelerator.device):
        return _trained(make(), accelerator, schedule, pool, out, seed, stop_after, checkpoint_every)


def _trained(
    learner: Learner,
    accelerator: Accelerator,
    schedule: Schedule,
    pool: Pool,
    out: Path,
    seed: int,
    stop_after: int | None,
    checkpoint_every: int,
) -> Learner:
    """Train with seeded global generators; see `train`."""
    module, *optimisers = accelerator.prepare(learner, *_optimisers(learner, schedule))
    checkpoint, record = Path(out) / "checkpoint", Path(out) / "run.json"
    step, seconds = 0, 0
    if record.exists():
        accelerator.load_state(str(checkpoint))
        done = Run(**json.loads(record.read_text()))
        step, seconds = done.steps, done.seconds

    share = accelerator.num_processes, accelerator.process_index
    last = min(schedule.steps, stop_after or schedule.steps)
    bar = tqdm(total=schedule.steps, initial=step, unit="step", disable=not accelerator.is_main_process, mininterval=5)
    started = time.monotonic() - seconds
    losses = []
    module.train()
    while step < last:
        rate = schedule.rate_at(step)
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * rate
        chosen = np.random.default_rng((seed, step)).integers(len(pool), size=schedule.batch_size)[share[1] :: share[0]]
        chosen.sort()  # neighbours on disk are read together
        loss = module(pool.take(chosen), np.random.default_rng((seed, step, share[1])), step)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(learner.parameters(), schedule.clip)
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad()
        learner.after_step(step)
        step += 1
        losses.append(loss.item())
        bar.update()
        bar.set_postfix(loss=f"{np.mean(losses[-50:]):.3f}", refresh=False)
        if step % checkpoint_every == 0 or step == last:
            accelerator.save_state(str(checkpoint))
            if accelerator.is_main_process:
                run = Run(seed, step, round(time.monotonic() - started), machine_text())
                record.write_text(json.dumps(asdict(run)))
    bar.close()
    return learner


def restore(learner: Learner, out: Path) -> Run:
    """Load the newest checkpoint of a run into a fresh learner."""
    load_model(learner, Path(out) / "checkpoint" / "model.safetensors")
    return Run(**json.loads((Path(out) / "run.json").read_text()))


def machine_text() -> str:
    """Describe the machine: the accelerator, or the processor cores and threads."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{os.cpu_count()} CPU cores ({torch.get_num_threads()} thread(s) used)"


def _optimisers(learner: Learner, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Make Muon for the matrices of the blocks, AdamW for the rest.

    Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; its rate is scaled so that its updates are as large
    as AdamW's (Liu et al. 2025, arXiv 2502.16982).
    """
    matrices, others = [], []
    for name, parameter in learner.named_parameters():
        if parameter.requires_grad:
            (matrices if parameter.ndim == 2 and "blocks." in name else others).append(parameter)
    decay, peak = schedule.weight_decay, schedule.learning_rate
    optimisers = [torch.optim.AdamW(others, lr=peak / 2, weight_decay=0.0, betas=(0.9, 0.98), fused=True)]
    if matrices:  # a CNN has none
        muon = torch.optim.Muon(matrices, lr=peak, weight_decay=decay, adjust_lr_fn="match_rms_adamw")
        optimisers.insert(0, muon)
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["peak"] = group["lr"]
    return optimisers


@torch.no_grad()
def move_average(average: nn.Module, model: nn.Module, keep: float) -> None:
    """Update an average: average <- keep * average + (1 - keep) * model, parameter by parameter."""
    torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - keep)
