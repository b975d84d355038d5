"""Trainings that outlive the page: each is a process of its own, and all that is known of it lies in its folder.

    from vitexplorer.finetune import jobs
    from vitexplorer.finetune.trainer.plan import Candidate, JobConfig, Plan

    config = JobConfig(data="pets", model="scenes_vit_patch16_192",
                       candidates=(Candidate("lora", {"r": 4}), Candidate("linear")), plan=Plan(epochs=10))
    jobs.start(config, "runs/pets")          # -> JobState, at once; the same folder again resumes, or adds methods
    jobs.state("runs/pets")                  # -> JobState: .state .runs .text .seconds_left
    jobs.events("runs/pets", start=0)        # -> (tuple[Event, ...], start of the next reading)
    jobs.stop("runs/pets")                   # the best so far is kept and becomes the result
    jobs.resume("runs/pets")                 # goes on where it was stopped or killed, to the same weights
    jobs.list_jobs("runs")                   # -> tuple[JobState, ...], newest first
    jobs.delete("runs/pets")                 # refuses while it runs
    running.load_comparison("runs/pets")     # -> Comparison of the runs that are finished (also while others train)

Nothing here imports torch. A process that dies before it tells anything leaves its reason in `worker.log` of the folder
and the job "interrupted". Functions return within milliseconds but for `stop(wait=...)`; they may be called by
several processes and pages at once.

Events (`Event.kind`: values). Those with a run key:
    estimate   the fields of `records.Estimate`
    extracting done, total, seconds: images that ran through the frozen part; for the baseline without a run
    resumed    step: events of this run after that step are void (`jobs.latest` drops them)
    step       step, steps, epoch, epochs, loss, learning_rate, seconds, seconds_left (of this run); a few a second
    epoch      step, epoch, epochs, train_loss, metrics {...}, is_best, learning_rate, seconds, seconds_left
    finished   metric, value, best (epoch), seconds, file_bytes; stopped the same; failed: text says why
without: started (processes, device), reading (done, total: images looked at), data (images, train, validation,
task, classes, counts, findings [[level, en, zh], ...]), baseline (the fields of `records.Baseline`),
note (text), finished, stopped, failed (text).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from vitexplorer.finetune.trainer.events import EVENTS, Event, latest, read_events
from vitexplorer.finetune.trainer.folder import (
    CONFIG,
    RESULT,
    JobError,
    read_config,
    run_folder,
    stop_file,
    worker_of,
    write_config,
)
from vitexplorer.finetune.trainer.plan import JobConfig
from vitexplorer.words import Text

LOG = "worker.log"
_BETWEEN_LOOKS = 0.02

RunPhase = Literal["waiting", "running", "interrupted", "finished", "stopped", "failed"]
JobPhase = Literal["running", "interrupted", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class RunState:
    """How far one method is."""

    key: str
    method: str
    state: RunPhase = "waiting"
    epoch: int = 0
    """the one that runs or ran last, counted from 1"""
    epochs: int = 0
    step: int = 0
    steps: int = 0
    best: float | None = None
    """the best metric so far: accuracy, or rmse"""
    seconds: float = 0.0
    seconds_left: float | None = None
    """at the pace so far, or as estimated; None where nothing is known"""
    has_result: bool = False
    """whether there is something to show: a run that is finished, or stopped after an epoch"""
    text: Text | None = None
    """why it failed"""


@dataclass(frozen=True)
class JobState:
    """How far a job is."""

    folder: Path
    config: JobConfig
    state: JobPhase
    """interrupted: its process is gone without a word; resume it"""
    runs: tuple[RunState, ...]
    begun: float
    """seconds since 1970 at which the job was first started"""
    doing: str = ""
    """kind of the last event while it runs: reading, extracting, estimate, step, ..."""
    text: Text | None = None
    """why it stopped or failed"""

    @property
    def seconds_left(self) -> float | None:
        """Of all runs together; None before their estimates."""
        left = [run.seconds_left for run in self.runs if run.state in ("waiting", "running")]
        return None if any(one is None for one in left) else sum(left)


# ---------------------------------------------------------------------------------------------- doing


def start(config: JobConfig, folder: str | os.PathLike, processes: Sequence[str] = ()) -> JobState:
    """Start a job in a process of its own, resume the one that is in the folder, or add methods to it.

    Args:
        config: what to do.
        folder: of the job; new, empty, or of a job that differs in its methods only.
        processes: options of `accelerate launch` ("--num_processes", "2", ...); none: one process.

    Raises JobError where the folder holds something else, or a job that is running.
    """
    folder = Path(folder).expanduser().absolute()
    _refuse_running(folder)
    write_config(folder, config)
    return _launch(folder, processes)


def resume(folder: str | os.PathLike, processes: Sequence[str] = ()) -> JobState:
    """Go on with a job that was stopped, killed or failed; a finished one finishes at once. Raises as `start`."""
    folder = Path(folder).expanduser().absolute()
    read_config(folder)
    _refuse_running(folder)
    return _launch(folder, processes)


def stop(folder: str | os.PathLike, wait: float = 0.0) -> JobState:
    """Ask a job to end after its step; the best so far of the run that trains becomes its result.

    Waits up to `wait` seconds for that. A job that is not running stays as it is.
    """
    folder = Path(folder).expanduser().absolute()
    if _works(folder):
        stop_file(folder).touch()
    end = time.monotonic() + wait
    while _works(folder) and time.monotonic() < end:
        time.sleep(_BETWEEN_LOOKS)
    return state(folder)


def delete(folder: str | os.PathLike) -> None:
    """Remove a job with all that it found. Raises JobError while it runs, and for a folder that holds no job."""
    folder = Path(folder).expanduser().absolute()
    read_config(folder)
    _refuse_running(folder)
    shutil.rmtree(folder)
    _known.pop(folder, None)


def _refuse_running(folder: Path) -> None:
    if worker_of(folder) is not None:
        raise JobError(
            Text("{folder} is being trained. Stop it first.", "{folder} 正在训练。请先停止。").format(
                folder=folder.name
            )
        )


_children: dict[Path, subprocess.Popen] = {}
"""by the folders of their jobs, until they have ended: they claim their job some seconds after they were started"""


def _works(folder: Path) -> bool:
    """Whether somebody works on a job, or was just started to."""
    child = _children.get(folder)
    if child is not None and child.poll() is not None:  # asking also clears away what has ended
        _children.pop(folder, None)
        child = None
    return child is not None or worker_of(folder) is not None


def _launch(folder: Path, processes: Sequence[str]) -> JobState:
    launcher = ["-m", "accelerate.commands.launch", *processes, "-m"] if processes else ["-m"]
    stop_file(folder).unlink(missing_ok=True)
    with open(folder / LOG, "ab") as log:
        _children[folder] = subprocess.Popen(
            [sys.executable, *launcher, "vitexplorer.finetune.worker", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(__file__).resolve().parent.parent.parent,
            start_new_session=True,
        )
    return state(folder)


# ---------------------------------------------------------------------------------------------- looking


def events(folder: str | os.PathLike, start: int = 0) -> tuple[tuple[Event, ...], int]:
    """Events of a job from byte `start` of its file on, and the start of the next reading."""
    return read_events(Path(folder), start)


def state(folder: str | os.PathLike) -> JobState:
    """How far a job is; only what was told since the last time is read. Raises JobError where there is no job."""
    folder = Path(folder).expanduser().absolute()
    config, works = read_config(folder), _works(folder)
    with _looking:
        seen = _known.setdefault(folder, _Seen())
        seen.read_on(folder)
        runs = tuple(
            _run_state(seen, candidate.key, candidate.method, folder, works) for candidate in config.candidates
        )
        phase: JobPhase = "running" if works else seen.ended or "interrupted"
        while len(_known) > _MOST_KNOWN:
            _known.pop(next(iter(_known)))
        return JobState(folder, config, phase, runs, seen.begun, seen.doing if works else "", seen.text)


def list_jobs(root: str | os.PathLike) -> tuple[JobState, ...]:
    """The jobs whose folders lie in `root`, the newest first; a folder that cannot be read is left out."""
    root = Path(root).expanduser()
    found = []
    for config in root.glob(f"*/{CONFIG}"):
        try:
            found.append(state(config.parent))
        except JobError:
            continue
    return tuple(sorted(found, key=lambda job: -job.begun))


@dataclass
class _Seen:
    """What the events of a job have said so far."""

    start: int = 0
    begun: float = 0.0
    doing: str = ""
    ended: JobPhase | None = None
    text: Text | None = None
    runs: dict[str, RunState] = field(default_factory=dict)

    def read_on(self, folder: Path) -> None:
        """Take in what was told since; a file that became shorter is another job's."""
        path = folder / EVENTS
        if path.exists() and path.stat().st_size < self.start:
            self.__init__()
        told, self.start = read_events(folder, self.start)
        for event in told:
            self.begun = self.begun or event.time
            self.doing = event.kind
            if event.run:
                self.runs[event.run] = _after(self.runs.get(event.run) or RunState(event.run, ""), event)
            elif event.kind == "started":
                self.ended = self.text = None
            elif event.kind in ("finished", "stopped", "failed"):
                self.ended, self.text = event.kind, event.text


_MOST_KNOWN = 256
_known: dict[Path, _Seen] = {}
_looking = threading.Lock()


def _after(run: RunState, event: Event) -> RunState:
    """A run's state after one more event."""
    values = event.values
    if event.kind == "estimate":
        return replace(run, steps=values["steps"], seconds_left=values["seconds"])
    if event.kind == "extracting":
        return replace(run, state="running")
    if event.kind == "resumed":
        return replace(run, state="running", step=values["step"])
    if event.kind in ("step", "epoch"):
        known = {name: values[name] for name in ("epoch", "epochs", "step", "steps", "seconds", "seconds_left")}
        best = run.best
        if values.get("is_best"):
            best = values["metrics"].get("accuracy", values["metrics"].get("rmse"))
        return replace(run, state="running", best=best, text=None, **known)
    if event.kind in ("finished", "stopped"):
        return replace(run, state=event.kind, best=values["value"], seconds=values["seconds"], seconds_left=0.0)
    if event.kind == "failed":
        return replace(run, state="failed", text=event.text)
    return run


def _run_state(seen: _Seen, key: str, method: str, folder: Path, works: bool) -> RunState:
    run = replace(seen.runs.get(key) or RunState(key, method), method=method)
    if run.state == "running" and not works:
        run = replace(run, state="stopped" if seen.ended == "stopped" else "interrupted")
    return replace(run, has_result=(run_folder(folder, key) / RESULT).exists())


__all__ = [
    "Event",
    "JobError",
    "JobState",
    "RunState",
    "delete",
    "events",
    "latest",
    "list_jobs",
    "resume",
    "start",
    "state",
    "stop",
]
