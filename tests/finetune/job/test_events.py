"""Event log of a job: read in pieces, torn lines, full disks, resumption."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.finetune.job.events import EVENTS, EventLog, latest, read_events
from vitexplorer.storage.atomic_writes import DiskFullError


def a_step(step: int, **values: object) -> dict:
    """Return an event of a step."""
    return {
        "step": step,
        "steps": 9,
        "epoch": 1,
        "epochs": 1,
        "seconds": 1.0,
        "seconds_left": 0.5,
        "loss": 1.0,
        **values,
    }


def test_events_are_read_on_from_where_the_last_reading_ended(tmp_path):
    log = EventLog(tmp_path)
    log.tell("step", "lora", **a_step(1, loss=math.nan))
    first, place = read_events(tmp_path)
    log.tell("epoch", "lora", **a_step(2, metrics={"accuracy": np.float32(0.5)}, is_best=True))
    second, _ = read_events(tmp_path, place)
    assert [event.values for event in first + second] == [
        a_step(1, loss=None),
        a_step(2, metrics={"accuracy": 0.5}, is_best=True),
    ]


def test_a_torn_line_is_not_read_and_is_cut_away(tmp_path):
    EventLog(tmp_path).tell("step", step=1)
    with open(tmp_path / EVENTS, "ab") as file:
        file.write(b'{"time": 1, "kind": "st')
    assert len(read_events(tmp_path)[0]) == 1
    EventLog(tmp_path).tell("step", step=2)
    assert [event.values["step"] for event in read_events(tmp_path)[0]] == [1, 2]


def test_a_full_disk_still_takes_the_sentence(tmp_path, monkeypatch):
    log = EventLog(tmp_path)
    write, reserve = log._append, tmp_path / ".reserve"

    def append(data):
        if reserve.exists():
            raise DiskFullError(Text("full", "满"))
        write(data)

    monkeypatch.setattr(log, "_append", append)
    log.tell("failed")
    assert [event.kind for event in read_events(tmp_path)[0]] == ["failed"]


def test_a_resumption_takes_back_what_came_after_its_checkpoint(tmp_path):
    log = EventLog(tmp_path)
    for step in (1, 2, 3):
        log.tell("step", "lora", **a_step(step))
    log.tell("step", "other", **a_step(3))
    log.tell("resumed", "lora", step=2)
    steps = [(event.run, event.values["step"]) for event in latest(read_events(tmp_path)[0]) if event.kind == "step"]
    assert steps == [("lora", 1), ("lora", 2), ("other", 3)]
