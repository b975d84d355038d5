"""Execution of a whole job in the calling process: images, baseline, estimates, one run after the other.

All results go into the folder and its events. Existing results are not computed again, so that another call resumes
the job or trains added methods.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np

from vitexplorer.core.out_of_memory import memory_full
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.finetune.comparison import load_result
from vitexplorer.finetune.job.events import EventLog, Listener, SilentLog
from vitexplorer.finetune.job.folder import (
    BASELINE,
    BASELINE_HEAD,
    ESTIMATE,
    RESULT,
    TRAIN_AGAIN,
    TUNED,
    read_config,
    run_folder,
)
from vitexplorer.finetune.job.images import read_material
from vitexplorer.finetune.job.plan import Candidate
from vitexplorer.finetune.results.baseline import Features, fit_baseline
from vitexplorer.finetune.results.metrics import METRIC
from vitexplorer.finetune.results.records import Baseline, Estimate, RunRecord
from vitexplorer.finetune.training.cached_features import features, features_at
from vitexplorer.finetune.training.checkpoint import TrainingState, remove_checkpoints
from vitexplorer.finetune.training.cut import Tail
from vitexplorer.finetune.training.estimate import Measurement, measure
from vitexplorer.finetune.training.feeds import CachedFeed, Feed, LiveFeed
from vitexplorer.finetune.training.loop import Run, StoppedError
from vitexplorer.finetune.training.pixels import PLAIN
from vitexplorer.finetune.training.setup import HEAD_PARTS, Setup, load_base, make_accelerator
from vitexplorer.storage.atomic_writes import DiskFullError, permitted, replace_file
from vitexplorer.storage.checked_reading import BrokenFileError, read_arrays, read_tensors
from vitexplorer.storage.claims import JobError, stop_file

T = TypeVar("T")

_BETWEEN_EVENTS = 0.5
"""Seconds between two progress events"""
_FAR_TOO_LONG = 2
"""Multiple of the allowed hours after which a training is stopped, whatever its estimate"""
HEAD_BEGAN = {
    True: Text(
        "The head began as the instant baseline: a linear probe on the frozen features.",
        "分类头以即时基线为起点，即冻结特征上的线性探测。",
    ),
    False: Text("The head began fresh.", "分类头从随机初始化开始。"),
}


def do_job(folder: Path, listen: Listener | None = None) -> None:
    """Run what is left of the job in `folder`, which the caller has claimed for this process.

    A requested stop is no error. A method that cannot be trained does not prevent the others.

    Raises ExplainedError, or the exception of a defect, if it ended the job early; an event reports it first.
    """
    accelerator = make_accelerator()
    log = EventLog(folder, listen) if accelerator.is_main_process else SilentLog()
    log.tell("started", processes=accelerator.num_processes, device=str(accelerator.device))
    try:
        failed = _Job(folder, log, accelerator).run()
        if not failed:
            with permitted(folder):
                shutil.rmtree(folder / "cache", ignore_errors=True)
        log.tell("finished")
    except (StoppedError, KeyboardInterrupt) as stop:
        log.tell("stopped", text=_STOPPED)
        if isinstance(stop, KeyboardInterrupt):
            raise
    except BaseException as error:
        log.tell("failed", text=_reason(error))
        raise
    finally:
        accelerator.free_memory()


_STOPPED = Text("Stopped. The best so far is kept; it can be resumed.", "已停止。目前最好的结果已保留，可以继续训练。")


_TOO_LONG = Text(
    "By its estimate this training would take {hours:hour}; at most {most} are allowed here. Choose fewer methods or "
    "epochs, or train on fewer images.",
    "据估计该训练需要 {hours} 小时；此处最多允许 {most} 小时。请减少方法、轮数或图像。",
)
_OVERDUE = Text(
    "It was stopped because it took far longer than the {most:hour} that {most:~is/are} allowed here.",
    "因耗时远超此处允许的 {most} 小时而停止。",
)
_DEFECT = Text(
    "The training stopped at a defect of this program, not of your images. The end of worker.log "
    "in the training's folder, or the terminal, says where it is.",
    "训练因程序自身的缺陷而停止，与您的图像无关。具体位置见训练文件夹中 worker.log 的末尾，或见终端。",
)
_SMALLER = Text(
    "In a training, make batch_size smaller or raise accumulate.", "训练时请减小 batch_size 或增大 accumulate。"
)


def _reason(error: BaseException) -> Text:
    if full := memory_full(error):
        return Text("{why} {mend}", "{why}{mend}").format(why=full.text, mend=_SMALLER)
    return error.text if isinstance(error, ExplainedError) else _DEFECT


def _check_hours(estimates: Sequence[Estimate]) -> None:
    hours = sum(estimate.seconds for estimate in estimates) / 3600
    most = settings().training_hours
    if hours > most:
        raise JobError(_TOO_LONG.format(hours=f"{hours:.1f}", most=f"{most:g}"))


class _Job:
    """Steps of a job; each writes a file, and is skipped if that file exists and is intact."""

    def __init__(self, folder: Path, log: EventLog, accelerator):
        self._folder = folder
        self._log = log
        self._last_event = 0.0
        self._stop = stop_file(folder)
        self._until = time.monotonic() + _FAR_TOO_LONG * settings().training_hours * 3600
        accelerator.wait_for_everyone()  # the first process has written the configuration
        self._accelerator = accelerator
        self._config = read_config(folder)

    def run(self) -> int:
        """Run all steps and return the number of methods that failed."""
        with self._accelerator.main_process_first():  # the others read what it writes
            dataset, sides = read_material(self._config, self._folder, self._log, self._progress("reading"))
        base = load_base(self._config, self._accelerator.device)
        self._setup = Setup(self._config, self._folder, dataset, sides, base, self._accelerator)
        self._make_baseline()
        todo = [c for c in self._config.candidates if not self._is_finished(c)]
        attempts = {c.key: self._attempt(c, self._measure) for c in todo}
        measured = {key: measurement for key, measurement in attempts.items() if measurement is not None}
        _check_hours([measurement.estimate for measurement in measured.values()])
        done = [self._attempt(c, lambda c: self._train(c, measured[c.key])) for c in todo if c.key in measured]
        return len(todo) - sum(state is not None for state in done)

    def _stops(self) -> bool:
        """Return True if a stop was requested; request it if the job takes far longer than allowed."""
        if time.monotonic() > self._until and not self._stop.exists():
            with permitted(self._stop):
                self._stop.touch()
            self._log.tell("note", text=_OVERDUE.format(most=f"{settings().training_hours:g}"))
        return self._stop.exists()

    def _attempt(self, candidate: Candidate, do: Callable):
        """Return `do(candidate)`; None with an event if the method cannot be trained."""
        try:
            return do(candidate)
        except (DiskFullError, StoppedError):
            raise
        except Exception as error:
            if not isinstance(error, ExplainedError) and memory_full(error) is None:
                raise
            self._log.tell("failed", candidate.key, text=_reason(error))
        return None

    def _progress(self, kind: str, run: str = "") -> Callable[[int, int], None]:
        """Make a progress callback that logs events and raises StoppedError on request."""
        start = time.monotonic()

        def report(done: int, total: int) -> None:
            if self._stops() and self._accelerator.num_processes == 1:
                raise StoppedError
            now = time.monotonic()
            if now - self._last_event > _BETWEEN_EVENTS or done == total:
                self._last_event = now
                self._log.tell(kind, run, done=done, total=total, seconds=now - start)

        return report

    def _read_or_none(self, read: Callable[[], T]) -> T | None:
        """Return `read()`; None if the file is missing, or broken, which is logged. The file can be made again."""
        try:
            return read()
        except BrokenFileError as error:
            self._log.tell("note", text=error.text)
        except JobError:
            pass
        return None

    def _is_finished(self, candidate: Candidate) -> bool:
        own = run_folder(self._folder, candidate.key)
        if not RESULT.is_in(own):
            return False
        result = self._read_or_none(lambda: load_result(self._folder, candidate.key))
        tuned = self._read_or_none(lambda: read_tensors(own / TUNED, TRAIN_AGAIN))
        return result is not None and not result.stopped and tuned is not None

    # ------------------------------------------------------------------------------------------ before the runs

    def _read_baseline(self) -> Baseline | None:
        baseline = self._read_or_none(lambda: BASELINE.read(self._folder))
        path = self._folder / BASELINE_HEAD
        if baseline is None or not path.exists():  # no head if all images are of one class
            return baseline
        return baseline if self._read_or_none(lambda: read_arrays(path, HEAD_PARTS)) else None

    def _make_baseline(self) -> None:
        if self._read_baseline() is not None:
            return
        setup = self._setup
        train, validation, seconds = features(setup, self._progress("extracting"))
        if not self._accelerator.is_main_process:
            return
        baseline, head = fit_baseline(
            setup.dataset.task,
            setup.num_outputs,
            Features(train, setup.train_targets),
            Features(validation, setup.validation_targets),
            setup.config.plan.seed,
            seconds,
        )
        if head is not None:  # written before the baseline, which marks this step as done
            arrays = {name: getattr(head, name) for name in HEAD_PARTS}
            replace_file(self._folder / BASELINE_HEAD, lambda path: np.savez(path, **arrays))
        BASELINE.write(self._folder, baseline)
        self._log.tell("baseline", **asdict(baseline))

    def _measure(self, candidate: Candidate) -> Measurement:
        """Estimate a candidate; a run that has begun keeps its precision."""
        if self._stops():
            raise StoppedError
        measured = measure(self._setup, candidate, self._setup.attach(candidate))
        own = run_folder(self._folder, candidate.key)
        if self._accelerator.is_main_process:
            own.mkdir(parents=True, exist_ok=True)
            if self._read_or_none(lambda: ESTIMATE.read(own)) is None:
                ESTIMATE.write(own, measured.estimate)
        self._accelerator.wait_for_everyone()
        begun: Estimate = ESTIMATE.read(own)
        self._log.tell("estimate", candidate.key, **asdict(measured.estimate))
        return measured.beginning_as(begun.precision, begun.cache_bytes)

    # ------------------------------------------------------------------------------------------ one run

    def _train(self, candidate: Candidate, measured: Measurement) -> TrainingState:
        tuned, from_baseline = self._setup.begin(candidate)
        feed, own = self._feed(candidate, tuned, measured), run_folder(self._folder, candidate.key)
        run = Run(self._setup, candidate, tuned, feed, measured.estimate.precision, own, self._log, self._stops)
        try:
            run.train()
        except StoppedError:
            if self._accelerator.is_main_process and run.state.epochs:
                self._end(run, measured.estimate, from_baseline, stopped=True)
            raise
        if self._accelerator.is_main_process:
            self._end(run, measured.estimate, from_baseline, stopped=False)
            remove_checkpoints(run.folder)
        return run.state

    def _feed(self, candidate: Candidate, tuned, measured: Measurement) -> Feed:
        setup = self._setup
        if measured.cut is None:
            return LiveFeed(tuned.module, setup.train_pixels, setup.validation_pixels, setup.normalise)
        views = setup.config.plan.views
        features_of_sides = features_at(setup, tuned, measured.cut, views, self._progress("extracting", candidate.key))
        blank = setup.normalise(setup.train_pixels.image(0, PLAIN)[None])
        return CachedFeed(Tail(tuned.module, measured.cut, blank), *features_of_sides, setup.device)

    def _end(self, run: Run, estimate: Estimate, from_baseline: bool, *, stopped: bool) -> None:
        state, candidate = run.state, run.candidate
        metric = METRIC[self._setup.dataset.task]
        best = state.epochs[state.best]
        record = RunRecord(
            method=candidate.method,
            settings=dict(candidate.settings),
            epochs=tuple(state.epochs),
            best=state.best,
            seconds=state.seconds,
            total=estimate.total,
            trainable=estimate.trainable,
            head=estimate.head,
            file_bytes=(run.folder / TUNED).stat().st_size,
            stopped=stopped,
            notes=(estimate.text, HEAD_BEGAN[from_baseline]),
        )
        RESULT.write(run.folder, record)
        self._log.tell(
            "stopped" if stopped else "finished",
            candidate.key,
            metric=metric,
            value=best.metrics[metric],
            best=best.epoch,
            seconds=state.seconds,
            file_bytes=record.file_bytes,
        )
