"""Append-only event log of a job: one line of JSON for each event.

A reader continues at the byte where its last reading ended. A line that a kill cut off is not read, and is removed
before the next one is written; a damaged line is skipped with a note. A resumed run repeats the steps since its
checkpoint; its event "resumed" gives that step, and `latest` drops the earlier events of later steps.

Events (`Event.kind`: values). Those with a run key:
    estimate   the fields of `records.Estimate`
    extracting done, total, seconds: images that ran through the frozen part; for the baseline without a run
    resumed    step: earlier events of this run after that step are void (`latest` drops them)
    step       step, steps, epoch, epochs, loss, learning_rate, seconds, seconds_left (of this run); a few a second
    epoch      step, epoch, epochs, train_loss, metrics {...}, is_best, learning_rate, seconds, seconds_left
    finished   metric, value, best (epoch), seconds, file_bytes; stopped the same; failed: text with the reason
Those without: started (processes, device), reading (done, total: images looked at), data (images, train, validation,
task, classes, counts, findings [[level, en, zh], ...]), baseline (the fields of `records.Baseline`),
note (text), finished, stopped, failed (text).
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, create_model

from vitexplorer.core.text import Text
from vitexplorer.storage.atomic_writes import DiskFullError, explain_full_disk, permitted
from vitexplorer.storage.checked_reading import Amount, BrokenFileError, Count, checked, parsed
from vitexplorer.storage.dataset import Task

EVENTS = "events.jsonl"
_RESERVE = ".reserve"
_RESERVED_BYTES = 1 << 16


@dataclass(frozen=True)
class Event:
    """One event."""

    kind: str
    """Kind: started, data, baseline, estimate, note, extracting, resumed, step, epoch, finished, stopped or failed; the
    last three without a run are about the whole job"""
    run: str = ""
    """Key of the candidate; "" for the whole job"""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Numbers and names; None stands for NaN"""
    text: Text | None = None
    """Message for the user, if any"""
    time: Amount = 0.0
    """Seconds since 1970"""


Listener = Callable[[Event], None]


class EventLog:
    """Writer of a job's events."""

    def __init__(self, folder: Path, listen: Listener | None = None):
        """Open the log in the job's `folder`; `listen` is called with every event."""
        self._path = folder / EVENTS
        self._reserve = folder / _RESERVE
        self._listen = listen
        self._cut_torn_line()
        with explain_full_disk(folder):
            # random bytes: a compressing file system reserves nothing for zeros
            self._reserve.write_bytes(os.urandom(_RESERVED_BYTES))

    def tell(self, kind: str, run: str = "", /, text: Text | None = None, **values: Any) -> None:
        """Append an event; on a full disk the reserve file is deleted to make room."""
        event = Event(kind, run, {name: _plain(value) for name, value in values.items()}, text, time.time())
        line = {"time": event.time, "kind": kind, "run": run, **({"text": text._asdict()} if text else {})}
        data = json.dumps({**line, "values": event.values}, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            self._append(data)
        except DiskFullError:
            self._cut_torn_line()
            self._reserve.unlink(missing_ok=True)
            self._append(data)
        if self._listen:
            self._listen(event)

    def _append(self, data: bytes) -> None:
        with permitted(self._path), explain_full_disk(self._path.parent), open(self._path, "ab", buffering=0) as file:
            file.write(data)

    def _cut_torn_line(self) -> None:
        if not self._path.exists():
            return
        with permitted(self._path), open(self._path, "rb+") as file:
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)


class SilentLog(EventLog):
    """Silent log for all processes of a distributed job but the first, which alone writes."""

    def __init__(self):
        pass

    def tell(self, kind: str, run: str = "", /, text: Text | None = None, **values: Any) -> None:
        """Do nothing."""


# ---------------------------------------------------------------------------------------------- reading

_FIGURES = Mapping[str, float | None]
_PACE = {"step": Count, "steps": Count, "epoch": Count, "epochs": Count, "seconds": Amount, "seconds_left": Amount}
_ENDED = {"value": float | None, "seconds": Amount}
_OF_A_JOB = {"data": {"task": Task}, "baseline": {"metrics": _FIGURES}}
_OF_A_RUN = {
    "estimate": {"steps": Count, "seconds": Amount},
    "resumed": {"step": Count},
    "step": _PACE | {"loss": float | None},
    "epoch": _PACE | {"metrics": _FIGURES, "is_best": bool},
    "finished": _ENDED,
    "stopped": _ENDED,
}
"""Required values by kind of event, with their types; an event may hold more"""


@cache
def _values_of(kind: str, of_run: bool) -> type[BaseModel] | None:
    values = (_OF_A_RUN if of_run else _OF_A_JOB).get(kind)
    return create_model(kind, **{name: (of, ...) for name, of in values.items()}) if values else None


def read_events(folder: Path, start: int = 0) -> tuple[tuple[Event, ...], int]:
    """Read events from byte `start` of a job's log and return them with the next start; none if there is no file.

    Damaged lines are skipped and counted in a final note.
    """
    try:
        with open(folder / EVENTS, "rb") as file:
            file.seek(start)
            data = file.read()
    except OSError:
        return (), 0
    whole = data[: data.rfind(b"\n") + 1]
    events = []
    damaged = 0
    for line in whole.split(b"\n")[:-1]:
        try:
            events.append(_event(line))
        except BrokenFileError:
            damaged += 1
    if damaged:
        events.append(Event("note", text=_DAMAGED.format(count=damaged, name=EVENTS)))
    return tuple(events), start + len(whole)


_DAMAGED = Text(
    "Damaged lines of {name} are left out: {count}. What was trained is not touched by that.",
    "{name} 中有 {count} 行已损坏，已忽略；训练结果不受影响。",
)


def _event(line: bytes) -> Event:
    event = parsed(Event, line, EVENTS)
    if record := _values_of(event.kind, bool(event.run)):
        checked(record, event.values, EVENTS, extra="ignore")
    return event


def latest(events: Iterable[Event]) -> tuple[Event, ...]:
    """Drop the events that a resumption voided: steps and epochs of its run after the step it resumed from."""
    valid: list[Event] = []
    for event in events:
        if event.kind == "resumed":
            step = event.values["step"]
            valid = [
                earlier
                for earlier in valid
                if not (
                    earlier.run == event.run and earlier.kind in ("step", "epoch") and earlier.values["step"] > step
                )
            ]
        valid.append(event)
    return tuple(valid)


def _plain(value: Any) -> Any:
    """Convert to JSON values: numpy numbers to Python's, NaN to None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
