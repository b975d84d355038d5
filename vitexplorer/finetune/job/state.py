"""State of a job and of its runs, derived from its events and the process that works on it. No torch."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from vitexplorer.core.text import Text
from vitexplorer.finetune.comparison import why_broken
from vitexplorer.finetune.job.events import EVENTS, Event, read_events
from vitexplorer.finetune.job.folder import CONFIG, RESULT, read_config, run_folder
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.storage.checked_reading import BrokenFileError
from vitexplorer.storage.claims import JobError, standing_still, worker_of

RunPhase = Literal["waiting", "running", "interrupted", "finished", "stopped", "failed", "broken"]
JobPhase = Literal["running", "interrupted", "finished", "stopped", "failed", "broken"]


@dataclass(frozen=True)
class RunState:
    """State of one run."""

    key: str
    method: str
    state: RunPhase = "waiting"
    epoch: int = 0
    """Current or last epoch, counted from 1"""
    epochs: int = 0
    step: int = 0
    steps: int = 0
    best: float | None = None
    """Best metric so far: accuracy, or rmse"""
    seconds: float = 0.0
    seconds_left: float | None = None
    """Seconds left at the pace so far, or as estimated; None if unknown"""
    has_result: bool = False
    """True for a run that is finished, or was stopped after an epoch"""
    text: Text | None = None
    """Reason why it failed or is broken"""


@dataclass(frozen=True)
class JobState:
    """State of a job."""

    folder: Path
    config: JobConfig | None
    """Configuration; None if its file is broken"""
    state: JobPhase
    """Phase; interrupted: its process died or is suspended, resume it; broken: delete it"""
    runs: tuple[RunState, ...]
    begun: float
    """Time of the first start, seconds since 1970"""
    doing: str = ""
    """Kind of the last event while it runs: reading, extracting, estimate, step, ..."""
    text: Text | None = None
    """Reason why it stopped, failed or is broken"""

    @property
    def seconds_left(self) -> float | None:
        """Seconds left for all runs together; None before their estimates."""
        left = [run.seconds_left for run in self.runs if run.state in ("waiting", "running")]
        return None if any(seconds is None for seconds in left) else sum(left)


def job_state(folder: str | os.PathLike) -> JobState:
    """Return the state of a job; reads only events since the last call. Raises JobError if there is no job."""
    folder = Path(folder).expanduser().absolute()
    try:
        config = read_config(folder)
    except BrokenFileError as error:
        return JobState(folder, None, "broken", (), (folder / CONFIG.name).stat().st_mtime, text=error.text)
    works = worker_of(folder) is not None
    with _looking:
        seen = _known.setdefault(folder, _Seen())
        seen.read_on(folder)
        runs = tuple(
            _run_state(seen, candidate.key, candidate.method, folder, works) for candidate in config.candidates
        )
        phase: JobPhase = "running" if works else _ended(seen, runs)
        while len(_known) > _MOST_KNOWN:
            _known.pop(next(iter(_known)))
    text = _STANDS.format(pid=pid) if (pid := standing_still(folder)) else seen.text
    return JobState(folder, config, phase, runs, seen.begun, seen.doing if works else "", text)


_STANDS = Text(
    "Its process ({pid}) has stalled. Resume: another takes over and goes on from its last checkpoint.",
    "其进程（{pid}）已停滞。点击“继续训练”，另一个进程会接手，从最近的检查点继续。",
)


def forget(folder: Path) -> None:
    """Drop the cached state of a deleted job."""
    _known.pop(folder, None)


def list_jobs(root: str | os.PathLike) -> tuple[JobState, ...]:
    """List the jobs in `root`, newest first, including broken ones."""
    jobs = []
    for config in Path(root).expanduser().glob(f"*/{CONFIG.name}"):
        with suppress(JobError, FileNotFoundError):  # deleted meanwhile
            jobs.append(job_state(config.parent))
    return tuple(sorted(jobs, key=lambda job: -job.begun))


@dataclass
class _Seen:
    """Summary of the events of a job so far."""

    start: int = 0
    begun: float = 0.0
    doing: str = ""
    ended: JobPhase | None = None
    text: Text | None = None
    runs: dict[str, RunState] = field(default_factory=dict)

    def read_on(self, folder: Path) -> None:
        """Read new events; a file that became shorter belongs to another job."""
        path = folder / EVENTS
        if path.exists() and path.stat().st_size < self.start:
            self.__init__()
        events, self.start = read_events(folder, self.start)
        for event in events:
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
    if not RESULT.is_in(run_folder(folder, key)):
        return run
    why = why_broken(folder, key)
    if why is None or works:  # the process may be training it again
        return replace(run, has_result=why is None)
    return replace(run, state="broken", text=why)


def _ended(seen: _Seen, runs: tuple[RunState, ...]) -> JobPhase:
    """Return the phase of a job that is not running; a broken run makes it interrupted, as resuming trains it again."""
    return "interrupted" if any(run.state == "broken" for run in runs) else seen.ended or "interrupted"
