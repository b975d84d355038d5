"""Runs with torn, incomplete or nonsense files: each reports it, continues as far as it can, and hides no other.

A killed training of timm's `test_vit` is damaged in one file at a time and resumed; what is compared is bits.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.helpers.finetune_folders import class_folder
from tests.helpers.finished_runs import assert_same_run
from tests.helpers.small_models import load_small
from tests.helpers.waiting import until
from vitexplorer.core.settings import settings
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.in_process import run_job
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.events import EVENTS, EventLog, read_events
from vitexplorer.finetune.job.folder import BASELINE_HEAD, CHECKPOINTS, CONFIG, PREDICTIONS, TUNED, run_folder
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.job.state import job_state, list_jobs
from vitexplorer.finetune.training import loop, whole_job
from vitexplorer.finetune.training import setup as setups
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.storage import claims
from vitexplorer.storage.atomic_writes import replace_text
from vitexplorer.storage.checked_reading import BrokenFileError, read_header
from vitexplorer.storage.claims import (
    CLAIM,
    Claim,
    JobError,
    LostError,
    TakenError,
    alone,
    claimed,
    give,
    standing_still,
    stop_file,
    worker_of,
)

OWN = run_folder(Path(), "lora")


def train_small(patch: pytest.MonkeyPatch) -> None:
    """Train a small model in jobs of this process, whatever model they name, and report every step."""
    patch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small("vit"))
    patch.setattr(loop, "_BETWEEN_EVENTS", 0.0)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    train_small(monkeypatch)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Return a finished training (`whole`) and the same as a kill in its second epoch leaves it (`killed`)."""
    folder = tmp_path_factory.mktemp("runs")
    config = JobConfig(
        str(class_folder(folder / "colours", per_class=4)),
        "test_vit",
        (Candidate("lora"),),
        Plan(epochs=3, batch_size=4, precision="no", checkpoint_seconds=0, augmentation="none"),
        weights="random",
    )

    def stop(event) -> None:
        if event.kind == "step" and event.values["step"] == 5:
            shutil.copytree(folder / "stopped", folder / "killed")
            detached.stop(folder / "stopped")

    with pytest.MonkeyPatch.context() as patch:
        train_small(patch)
        run_job(config, folder / "whole")
        run_job(config, folder / "stopped", stop)
    shutil.rmtree(folder / "stopped")
    (folder / "killed" / CLAIM.name).unlink()
    return folder


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def a_bit(path: Path) -> None:
    """Change one number of a tensor; nothing else of the file shows it."""
    data = bytearray(path.read_bytes())
    data[-9] ^= 64
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("files", "damage"),
    [
        ([OWN / CHECKPOINTS[0]], half),
        ([OWN / CHECKPOINTS[0]], a_bit),
        ([OWN / name for name in CHECKPOINTS], half),
        ([OWN / TUNED, Path(BASELINE_HEAD)], a_bit),
        ([OWN / "estimate.json", Path("baseline.json"), OWN / PREDICTIONS], half),
    ],
    ids=["half a checkpoint", "a bit of one", "both", "a bit of the best", "half of the rest"],
)
def test_a_damaged_run_is_resumed_to_the_same_weights(runs, tmp_path, files, damage):
    folder = shutil.copytree(runs / "killed", tmp_path / "job")
    for file in files:
        damage(folder / file)
    run_job(CONFIG.read(folder), folder)
    assert job_state(folder).state == "finished"
    assert_same_run(runs / "whole", folder, "lora")
    notes = [event.text.en for event in read_events(folder)[0] if event.kind == "note"]
    assert all(any(file.name in text for text in notes) for file in files)


@pytest.mark.parametrize("file", ["result.json", TUNED])
def test_a_broken_result_is_a_failure_among_the_others_and_trained_again(runs, tmp_path, file):
    folder = shutil.copytree(runs / "whole", tmp_path / "job")
    assert job_state(folder).runs[0].has_result
    half(folder / OWN / file)
    state = job_state(folder)
    assert (state.state, state.runs[0].state, state.runs[0].has_result) == ("interrupted", "broken", False)
    assert file in state.runs[0].text.en
    if file == "result.json":
        comparison = load_comparison(folder)
        assert (comparison.results, [run for run, _ in comparison.failures]) == ((), ["lora"])
        assert "trained again" in comparison.failures[0][1].en
    run_job(CONFIG.read(folder), folder)
    assert_same_run(runs / "whole", folder, "lora")


def test_without_its_split_a_job_says_what_is_lost(runs, tmp_path):
    folder = shutil.copytree(runs / "killed", tmp_path / "job")
    half(folder / "split.json")
    with pytest.raises(BrokenFileError, match=r"job/split\.json cannot be read: .* start a new training"):
        run_job(CONFIG.read(folder), folder)
    assert job_state(folder).state == "failed"
    assert "split.json" in job_state(folder).text.zh


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"candidates": []}', "[" * 9999, "\udcff"])
def test_a_broken_training_is_listed_hides_no_other_and_is_deleted(runs, tmp_path, content):
    for name in ("sound", "broken"):
        (tmp_path / name).mkdir()
        shutil.copy(runs / "whole" / CONFIG.name, tmp_path / name)
    (tmp_path / "broken" / CONFIG.name).write_text(content, errors="surrogateescape")
    states = {job.folder.name: job for job in list_jobs(tmp_path)}
    assert {name: job.state for name, job in states.items()} == {"sound": "interrupted", "broken": "broken"}
    assert "delete it" in states["broken"].text.en
    for refused in (detached.resume, load_comparison):
        with pytest.raises(BrokenFileError, match=r"broken/config\.json cannot be read"):
            refused(tmp_path / "broken")
    detached.delete(tmp_path / "broken")
    assert [job.folder.name for job in list_jobs(tmp_path)] == ["sound"]


def test_a_damaged_line_is_left_out_and_reported(tmp_path):
    log = EventLog(tmp_path)
    log.tell("finished", "lora", value=0.5, seconds=2.0)
    with open(tmp_path / EVENTS, "ab") as file:
        file.write(b'{"time": 1, "kind": "st\n\xff\n{"time":1,"kind":"step","run":"lora","values":{"step":"x"}}\n')
    log.tell("finished")
    events, read = read_events(tmp_path)
    assert [event.kind for event in events] == ["finished", "finished", "note"]
    assert "left out: 3" in events[-1].text.en
    assert read_events(tmp_path, read) == ((), read)


# ---------------------------------------------------------------------------------------------- whose a job is


@pytest.fixture
def sleeper() -> subprocess.Popen:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", detached.MODULE]) as process:
        yield process
        process.kill()


def claim(folder: Path, process: subprocess.Popen) -> None:
    CLAIM.write(folder, Claim(process.pid, psutil.Process(process.pid).create_time()))


def freeze(folder: Path, process: subprocess.Popen) -> None:
    """Stop the process of a job, and wait until that is seen."""
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: standing_still(folder))


def test_a_worker_that_stands_still_is_interrupted_and_ended_by_who_resumes(runs, tmp_path, sleeper):
    shutil.copy(runs / "whole" / CONFIG.name, tmp_path)
    claim(tmp_path, sleeper)
    assert job_state(tmp_path).state == "running"
    freeze(tmp_path, sleeper)
    state = job_state(tmp_path)
    assert (state.state, str(sleeper.pid) in state.text.en) == ("interrupted", True)
    detached.refuse_running(tmp_path)
    sleeper.wait(30)
    assert job_state(tmp_path).text is None


def test_a_paused_session_of_somebody_is_not_ended_and_keeps_nobody_waiting(tmp_path, monkeypatch, sleeper):
    monkeypatch.setattr(detached, "MODULE", "another")
    claim(tmp_path, sleeper)
    freeze(tmp_path, sleeper)
    detached.refuse_running(tmp_path)
    with claimed(tmp_path):
        assert worker_of(tmp_path) == os.getpid()
    assert sleeper.poll() is None


def test_a_process_of_another_machine_is_known_by_its_beats(tmp_path, monkeypatch):
    """The number of a process elsewhere means nothing here, and its clock may be wrong."""
    monkeypatch.setattr(claims, "STILL", 0.5)
    CLAIM.write(tmp_path, Claim(1, 1.0, host="elsewhere", token="theirs"))
    os.utime(tmp_path / CLAIM.name, (1, 1))
    assert worker_of(tmp_path) == 1
    until(lambda: standing_still(tmp_path) == 1)
    os.utime(tmp_path / CLAIM.name, (2, 2))
    assert worker_of(tmp_path) == 1
    with claimed(tmp_path) as held:
        assert worker_of(tmp_path) == os.getpid()
        held.check()


def test_a_process_that_beats_is_not_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "STILL", 600)
    monkeypatch.setattr(claims, "BEAT", 0.01)
    with claimed(tmp_path):
        monkeypatch.setattr(claims, "_host", lambda: "elsewhere")
        with pytest.raises(TakenError), claimed(tmp_path):
            pass
        monkeypatch.undo()


def test_who_lost_a_job_writes_nothing_more(tmp_path):
    """A replaced process writes no file and no line, and leaves its successor's stop request."""
    with claimed(tmp_path):
        log = EventLog(tmp_path)
        replace_text(tmp_path / "kept", "ours")
        CLAIM.write(tmp_path.parent, Claim(os.getpid(), psutil.Process().create_time(), token="theirs"))
        (tmp_path.parent / CLAIM.name).replace(tmp_path / CLAIM.name)
        stop_file(tmp_path).touch()
        with pytest.raises(LostError):
            log.tell("finished")
        with pytest.raises(LostError, match="taken it over"):
            replace_text(tmp_path / "kept", "again")
    assert (tmp_path / "kept").read_text() == "ours"
    assert read_events(tmp_path) == ((), 0)
    assert CLAIM.read(tmp_path).token == "theirs"
    assert stop_file(tmp_path).exists()
    assert not list(tmp_path.glob(".*-kept"))


def test_a_training_that_stands_still_is_stopped_at_once(runs, tmp_path, sleeper):
    folder = shutil.copytree(runs / "killed", tmp_path / "job")
    claim(folder, sleeper)
    freeze(folder, sleeper)
    state = detached.stop(folder)
    assert (state.state, "had stalled" in state.text.en) == ("stopped", True)
    sleeper.wait(30)
    run_job(CONFIG.read(folder), folder)
    assert_same_run(runs / "whole", folder, "lora")


def test_a_launched_worker_has_its_job_before_it_begins(tmp_path, sleeper):
    with alone(tmp_path):
        give(tmp_path, sleeper.pid)
    assert worker_of(tmp_path) == sleeper.pid
    with pytest.raises(JobError, match="already"), claimed(tmp_path):
        pass
    with alone(tmp_path):
        give(tmp_path, os.getppid())  # a launcher, whose child takes over
    with claimed(tmp_path):
        assert worker_of(tmp_path) == os.getpid()
        with pytest.raises(JobError, match="already"), claimed(tmp_path):
            pass
    assert worker_of(tmp_path) is None


def test_a_folder_that_another_process_keeps_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "_PATIENCE", 0.01)
    with alone(tmp_path), pytest.raises(JobError, match=r"has held .* for 0\.01 seconds"), claimed(tmp_path):
        pass


def test_what_is_launched_counts_before_another_server_looks(tmp_path, sleeper):
    places = UserStorage(tmp_path, hosted=True)
    folder = places.new_training("a" * 32)
    folder.mkdir(parents=True)
    (folder / CONFIG.name).touch()
    with places.room_for_one(1), alone(folder):
        give(folder, sleeper.pid)
    with pytest.raises(JobError, match="1 training runs here already"), places.room_for_one(1):
        pass
    assert UserStorage(tmp_path, hosted=True).running() == 1


# ---------------------------------------------------------------------------------------------- hours and memory


def test_a_training_of_too_many_hours_ends_before_it_begins(runs, tmp_path, monkeypatch):
    folder = shutil.copytree(runs / "killed", tmp_path / "job")
    few = settings().model_copy(update={"training_hours": 1e-6})
    monkeypatch.setattr(whole_job, "settings", lambda: few)
    monkeypatch.setattr(whole_job, "_FAR_TOO_LONG", 1e9)
    with pytest.raises(JobError, match="at most 1e-06 are allowed here"):
        run_job(CONFIG.read(folder), folder)
    assert job_state(folder).state == "failed"
    monkeypatch.setattr(whole_job, "_FAR_TOO_LONG", 0)
    run_job(CONFIG.read(folder), folder)
    assert job_state(folder).state == "stopped"
    assert "far longer" in next(event.text.en for event in read_events(folder)[0] if event.kind == "note")


def test_a_header_that_is_far_too_large_is_not_read(tmp_path):
    (tmp_path / "x.safetensors").write_bytes((99 << 20).to_bytes(8, "little") + b"{}")
    with pytest.raises(BrokenFileError, match="claims to contain more"):
        read_header(tmp_path / "x.safetensors")


def test_arrays_that_claim_more_than_they_hold_are_refused(runs, tmp_path):
    header = np.lib.format.magic(1, 0) + b"\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,), }"
    folder = shutil.copytree(runs / "whole", tmp_path / "job")
    with zipfile.ZipFile(folder / OWN / PREDICTIONS, "w") as archive:
        archive.writestr("outputs.npy", header.ljust(127) + b"\n")
    assert "cannot be read" in load_comparison(folder).failures[0][1].en
    assert json.loads((folder / OWN / "result.json").read_text())


def test_a_defect_is_reported_without_pythons_own_words(tmp_path: Path, monkeypatch) -> None:
    """Python's own words go to the log of the process, which the sentence names."""

    def fails(*_):
        raise KeyError("blocks.0.norm1")

    monkeypatch.setattr(whole_job, "_Job", fails)
    with pytest.raises(KeyError):
        whole_job.do_job(tmp_path)
    (message,) = [event.text for event in read_events(tmp_path)[0] if event.kind == "failed"]
    assert all("worker.log" in text and "norm1" not in text and "KeyError" not in text for text in message)
