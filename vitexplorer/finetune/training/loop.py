"""Training of one run: AdamW, warm-up and cosine schedule, validation after every epoch, best epoch saved.

The images of a step, their augmentation and the learning rate are functions of the plan and the step; all other state
(weights, the optimiser's averages, generators, losses so far) is in the checkpoint. A killed run therefore resumes to
the same weights, bit for bit on a CPU with the same number of threads.

With several processes, each takes its share of a step's batch, and losses are divided by the weight of the whole batch,
so that the averaged gradient equals that of a single process; dropout differs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.job.events import EventLog
from vitexplorer.finetune.job.folder import PREDICTIONS, TUNED
from vitexplorer.finetune.job.plan import Candidate
from vitexplorer.finetune.results.metrics import METRIC, is_better, scores
from vitexplorer.finetune.results.records import Epoch
from vitexplorer.finetune.storing import save_tuned
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable
from vitexplorer.finetune.training.checkpoint import TrainingState, latest_checkpoint, save_checkpoint
from vitexplorer.finetune.training.feeds import Feed
from vitexplorer.finetune.training.setup import Setup
from vitexplorer.finetune.training.steps import batches_of, in_order, rate_at, share_of, steps_of
from vitexplorer.finetune.training.updates import is_recorded, recorded
from vitexplorer.models.outline import classifiers
from vitexplorer.models.seeding import TURN, stream
from vitexplorer.storage.atomic_writes import replace_file

_BETWEEN_EVENTS = 0.3
"""Seconds between two events of steps"""
_DIVERGED = Text(
    "The training diverged: the model's output is no longer finite. Choose a learning rate well below {rate}.",
    "训练发散：模型输出已不是有限数值。请选择远小于 {rate} 的学习率。",
)


class DivergedError(ExplainedError):
    """Raised when the outputs are not finite and no epoch ended with finite outputs."""


class StoppedError(Exception):
    """Raised when a stop was requested; the best epoch and a checkpoint are on the disk."""


@dataclass
class Run:
    """Training of one candidate; `train` starts or resumes it."""

    setup: Setup
    candidate: Candidate
    tuned: TunedModel
    feed: Feed
    precision: str
    folder: Path
    log: EventLog
    stop_asked: Callable[[], bool]
    """Checked after every step"""
    state: TrainingState = field(default_factory=TrainingState)

    def __post_init__(self):
        self._plan = self.setup.config.plan
        self._accelerator = self.setup.accelerator
        self._processes = self._accelerator.num_processes
        self._steps = self._plan.epochs * steps_of(len(self.setup.split.train), self.setup.batch_size)
        self._network = self._accelerator.prepare(self.feed.network) if self._processes > 1 else self.feed.network
        groups = parameter_groups(self.tuned, self.candidate.learning_rate, self._plan.weight_decay)
        self._peaks = [group["lr"] for group in groups]
        self._optimiser = torch.optim.AdamW(groups)
        self._trained = trainable(self.tuned.module)
        heads = tuple(f"{head}." for head in classifiers(self.tuned.module))
        self._fresh = [name for name in self._trained if name.startswith(heads)]
        self._last_event = 0.0

    def train(self) -> TrainingState:
        """Train to the end, or until outputs are no longer finite.

        Raises:
            StoppedError: a stop was requested; the best epoch and a checkpoint are on the disk.
            DiskFullError: the disk is full; the best epoch and a checkpoint are on the disk.
            DivergedError: no epoch ended with finite outputs.
        """
        with stream(self._plan.seed + self._accelerator.process_index, self.setup.device):
            with TURN:
                begun = latest_checkpoint(self.folder, self.tuned.module, self._optimiser, self._note)
            if begun is not None:
                self.state = begun
                self.log.tell("resumed", self.candidate.key, step=begun.step)
            self._started = self._saved = time.monotonic()
            self._seconds_before = self.state.seconds
            for epoch in range(len(self.state.epochs), self._plan.epochs):
                if self._has_no_patience_left() or self._has_diverged():  # a resumed training may have ended so
                    break
                self._train_epoch(epoch)
                self._end_epoch(epoch)
        return self.state

    def _has_no_patience_left(self) -> bool:
        state = self.state
        return bool(self._plan.patience) and len(state.epochs) - 1 - state.best >= self._plan.patience

    def _has_diverged(self) -> bool:
        epochs = self.state.epochs
        return bool(epochs) and not math.isfinite(epochs[-1].metrics["loss"])

    # ------------------------------------------------------------------------------------------ steps of an epoch

    def _train_epoch(self, epoch: int) -> None:
        batches = batches_of(len(self.setup.split.train), self.setup.batch_size, self._plan.seed, epoch)
        todo = batches[self.state.step - epoch * len(batches) :]
        shares = [share_of(batch, self._processes, self._accelerator.process_index) for batch in todo]
        turns = [[piece for piece in np.array_split(own, self._plan.accumulate) if len(piece)] for own in shares]
        turns = [pieces or [batch[:1]] for pieces, batch in zip(turns, todo, strict=True)]
        train_mode(self.tuned, self._plan.drop_path)
        inputs = self.feed.train([piece for pieces in turns for piece in pieces], epoch)
        for batch, own, pieces in zip(todo, shares, turns, strict=True):
            with TURN:  # dropout draws from the global generator
                loss, weight = self._step(batch, pieces, inputs, is_empty=not len(own))
            self.state.step += 1
            self.state.epoch_loss += loss
            self.state.epoch_weight += weight
            self._after_step(epoch, loss / weight)

    def _step(self, batch: np.ndarray, pieces: list[np.ndarray], inputs, is_empty: bool) -> tuple[float, float]:
        """Do one optimiser step; return the sum of weighted losses of the whole batch and the sum of weights."""
        share = rate_at(self.state.step, self._steps, self._plan.warmup)
        for group, peak in zip(self._optimiser.param_groups, self._peaks, strict=True):
            group["lr"] = peak * share
        targets, objective = self.setup.train_targets, self.setup.objective
        weight = float(objective.weights(targets[batch]).sum())
        loss_sum = 0.0
        for turn, piece in enumerate(pieces):
            is_last = turn == len(pieces) - 1
            waits = nullcontext() if is_last or self._processes == 1 else self._accelerator.no_sync(self._network)
            own = np.zeros(len(piece)) if is_empty else objective.weights(targets[piece])
            with waits:
                given = self._on_device(targets[piece]), self._on_device(own.astype(np.float32))
                loss = objective.weighted_loss(self._network, self.precision, next(inputs), *given)
                self._accelerator.backward(loss * (self._processes / weight))
            loss_sum += loss.detach()
        if self._plan.clip:
            torch.nn.utils.clip_grad_norm_(self._trained.values(), self._plan.clip)
        with self._recording():
            self._optimiser.step()
        self._optimiser.zero_grad()
        return float(self._accelerator.reduce(loss_sum, "sum")), weight

    def _recording(self) -> AbstractContextManager[None]:
        """Return the context of an optimiser step, which records the sizes of the first updates."""
        step = self.state.step
        if self._accelerator.is_main_process and is_recorded(step, self._steps, self._plan.warmup):
            return recorded(self._trained, step, self.folder, self._fresh)
        return nullcontext()

    def _on_device(self, values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, device=self.setup.device)

    def _after_step(self, epoch: int, loss: float) -> None:
        now = time.monotonic()
        self.state.seconds = self._seconds_before + now - self._started
        if now - self._last_event >= _BETWEEN_EVENTS:
            self._last_event = now
            self._tell("step", epoch, loss=loss)
        stops = self._agree(self.stop_asked())
        if stops or self._agree(now - self._saved >= self._plan.checkpoint_seconds):
            self._save()
        if stops:
            raise StoppedError

    def _tell(self, kind: str, epoch: int, **values: object) -> None:
        state = self.state
        self.log.tell(
            kind,
            self.candidate.key,
            step=state.step,
            steps=self._steps,
            epoch=epoch + 1,
            epochs=self._plan.epochs,
            learning_rate=max(group["lr"] for group in self._optimiser.param_groups),
            seconds=state.seconds,
            seconds_left=state.seconds / max(1, state.step) * (self._steps - state.step),
            **values,
        )

    def _note(self, text: Text) -> None:
        self.log.tell("note", self.candidate.key, text=text)

    def _agree(self, own: bool) -> bool:
        """Return the first process's value in every process, since clocks and files may differ."""
        if self._processes == 1:
            return own
        first = torch.tensor(float(own and self._accelerator.is_main_process), device=self.setup.device)
        return bool(self._accelerator.reduce(first, "sum") > 0)

    # ------------------------------------------------------------------------------------------ end of an epoch

    def _end_epoch(self, epoch: int) -> None:
        state = self.state
        metrics, outputs = self.validate()
        if state.best < 0 and not math.isfinite(metrics["loss"]):
            raise DivergedError(_DIVERGED.format(rate=f"{max(self._peaks):g}"))
        state.seconds = self._seconds_before + time.monotonic() - self._started
        train_loss = state.epoch_loss / state.epoch_weight
        rate = max(group["lr"] for group in self._optimiser.param_groups)
        state.epochs.append(Epoch(epoch + 1, train_loss, metrics, rate, state.seconds))
        is_best = self._is_best(metrics)
        if is_best:
            state.best = len(state.epochs) - 1
            self._keep(outputs)
        state.epoch_loss = state.epoch_weight = 0.0
        self._tell("epoch", epoch, train_loss=train_loss, metrics=metrics, is_best=is_best)
        self._save()  # after the event: if a kill comes between, `latest` drops the repeated event

    def _is_best(self, metrics: dict[str, float]) -> bool:
        """Return True for a better metric than the best so far, or an equal one with less loss."""
        if self.state.best < 0:
            return True
        metric = METRIC[self.setup.dataset.task]
        best = self.state.epochs[self.state.best].metrics
        if metrics[metric] == best[metric]:
            return is_better("loss", metrics["loss"], best["loss"])
        return is_better(metric, metrics[metric], best[metric])

    @torch.no_grad()
    def validate(self) -> tuple[dict[str, float], np.ndarray]:
        """Compute all validation metrics and the readable outputs, in float32; each process does its share."""
        self.tuned.module.eval()
        setup, targets = self.setup, self.setup.validation_targets
        batches = in_order(len(targets), setup.batch_size)[self._accelerator.process_index :: self._processes]
        raw = torch.zeros(len(targets), setup.num_outputs, device=setup.device)
        for batch, inputs in zip(batches, self.feed.validation(batches), strict=True):
            raw[batch] = self.feed.network(inputs).float()
        raw = self._accelerator.reduce(raw, "sum")
        loss = float(setup.objective.losses(raw, self._on_device(targets)).mean())
        outputs = setup.objective.readable(raw).cpu().numpy()
        return {"loss": loss, **scores(setup.dataset.task, outputs, targets)}, outputs

    def _keep(self, outputs: np.ndarray) -> None:
        """Save the best epoch so far as a tuned model, with its predictions."""
        if self._accelerator.is_main_process:
            save_tuned(self.tuned, self.folder / TUNED, self.setup.recipe(self.candidate))
            replace_file(self.folder / PREDICTIONS, lambda path: np.savez_compressed(path, outputs=outputs))

    def _save(self) -> None:
        self._saved = time.monotonic()
        if self._accelerator.is_main_process:
            with TURN:
                save_checkpoint(self.folder, self.tuned.module, self._optimiser, self.state)
