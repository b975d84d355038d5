"""Detached trainings: killed, stopped, resumed, deleted, on a full disk, on two processes.

Real processes train timm's `test_vit` with random weights on two dozen images; what is compared is bits.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from pathlib import Path

import pytest
import torch

from tests.helpers.finetune_folders import class_folder
from tests.helpers.finished_runs import assert_same_run, tuned_tensors
from tests.helpers.small_models import load_small
from vitexplorer.core.text import Text
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.in_process import compare, run_job
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.events import read_events
from vitexplorer.finetune.job.folder import CONFIG, run_folder
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.job.state import JobState, job_state, list_jobs
from vitexplorer.finetune.training import loop
from vitexplorer.finetune.training import setup as setups
from vitexplorer.models.seeding import seeded
from vitexplorer.storage.atomic_writes import DiskFullError
from vitexplorer.storage.claims import JobError, stop_file, worker_of
from vitexplorer.storage.workers import LOG

PATIENCE = 300.0
"""Seconds until a test gives up"""


TWO_PROCESSES = ["--multi_gpu", "--num_processes=2", "--num_machines=1", "--mixed_precision=no", "--dynamo_backend=no"]
"""Options of `accelerate launch`: without a GPU, two processes on the CPU that talk through gloo"""


@pytest.fixture(scope="module")
def colours(tmp_path_factory) -> Path:
    return class_folder(tmp_path_factory.mktemp("data") / "colours", per_class=5)


@pytest.fixture
def small(monkeypatch):
    """Train a small model in jobs of this process, whatever model they name."""
    monkeypatch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small("vit"))


def job(colours: Path, *methods: str, **plan) -> JobConfig:
    plan = {"epochs": 2, "batch_size": 4, "precision": "no", **plan}  # "auto" is whichever is faster just now
    candidates = tuple(Candidate(method) for method in methods)
    return JobConfig(str(colours), "test_vit", candidates, Plan(**plan), weights="random")


def wait_for(folder: Path, condition) -> JobState:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        state = job_state(folder)
        if condition(state):
            return state
        assert state.state == "running", (folder / LOG).read_text()
        time.sleep(0.02)
    raise AssertionError(f"nothing within {PATIENCE} s: {state}")


@pytest.mark.parametrize("head", ["baseline", "fresh"])
def test_before_it_learns_a_method_is_as_good_as_the_baseline(small, colours, tmp_path, head):
    """At learning rate 0 the head stays at its start; a fresh one is `attach`'s own, bit for bit."""
    plan = Plan(epochs=1, batch_size=4, head=head, augmentation="none")
    comparison = run_job(JobConfig(str(colours), "test_vit", (Candidate("lora", {}, 0.0),), plan), tmp_path / "out")
    result, own = comparison["lora-lr=0"], attach(load_small("vit"), "lora", 3, seed=0).module.head
    saved = tuned_tensors(tmp_path / "out", "lora-lr=0")
    assert torch.equal(saved["head.weight"], own.weight) == (head == "fresh")
    assert ("linear probe" in result.notes[1].en) == (head == "baseline")
    if head == "baseline":
        assert result.value == result.baseline.value


def test_a_plan_from_before_heads_could_be_chosen_began_fresh(colours, tmp_path):
    CONFIG.write(tmp_path, job(colours, "lora"))
    config = json.loads((tmp_path / CONFIG.name).read_text())
    del config["plan"]["head"]
    (tmp_path / CONFIG.name).write_text(json.dumps(config))
    assert CONFIG.read(tmp_path).plan.head == "fresh"


@pytest.mark.thorough  # `test_a_person_fine_tunes` stops and resumes in a process of its own
def test_a_killed_job_ends_with_the_same_weights(colours, tmp_path):
    config = job(colours, "lora", epochs=5, checkpoint_seconds=1e9)  # only at the ends of epochs: the kill costs steps
    whole = tmp_path / "whole"
    run_job(config, whole)

    killed = tmp_path / "killed"
    detached.start(config, killed)
    wait_for(killed, lambda state: state.runs[0].epoch >= 2)
    os.kill(worker_of(killed), signal.SIGKILL)
    state = wait_for(killed, lambda state: state.state != "running")
    assert state.state == "interrupted"
    assert state.runs[0].state == "interrupted"
    assert tuned_tensors(killed, "lora"), "the best so far is on the disk"
    detached.resume(killed)
    state = wait_for(killed, lambda state: state.state != "running")
    assert state.state == "finished", (killed / LOG).read_text()
    assert "resumed" in [event.kind for event in read_events(killed)[0]]
    assert_same_run(whole, killed, "lora")


@pytest.mark.parametrize("step", [3, 4])  # the last of an epoch, before its validation; the first of the next
def test_a_stopped_run_goes_on_from_where_it_was(small, colours, tmp_path, step):
    config = job(colours, "lora", checkpoint_seconds=0, augmentation="crop_flip_colour")
    run_job(config, tmp_path / "whole")

    folder = tmp_path / "stopped"

    def stop_there(event):
        if event.kind == "step" and event.values["step"] == step:
            detached.stop(folder)

    run_job(config, folder, stop_there)
    state = job_state(folder)
    assert state.state == state.runs[0].state == "stopped"
    results = load_comparison(folder).results
    assert [(result.stopped, len(result.epochs)) for result in results] == ([] if step == 3 else [(True, 1)])
    with seeded(100):  # a resumed process has other generators
        run_job(config, folder)
    assert not load_comparison(folder)["lora"].stopped
    assert_same_run(tmp_path / "whole", folder, "lora")


@pytest.fixture(autouse=True)
def _report_every_step(monkeypatch):
    monkeypatch.setattr(loop, "_BETWEEN_EVENTS", 0.0)


def test_one_method_that_cannot_be_trained_does_not_keep_the_others(small, colours, tmp_path):
    comparison = run_job(
        JobConfig(str(colours), "x", (Candidate("partial_k", {"k": 40}), Candidate("linear")), Plan(epochs=1)),
        tmp_path / "job",
    )
    assert [result.run for result in comparison.results] == ["linear"]
    ((run, why),) = comparison.failures
    assert run == "partial_k-k=40"
    assert "40" in why.en
    assert [run.state for run in job_state(tmp_path / "job").runs] == ["failed", "finished"]


def test_methods_are_added_to_a_job_and_nothing_is_done_twice(small, colours, tmp_path):
    folder = tmp_path / "job"
    run_job(job(colours, "linear", epochs=1), folder)
    before = (run_folder(folder, "linear") / "tuned.safetensors").stat().st_mtime_ns
    events: list = []
    comparison = run_job(job(colours, "mlp_k", epochs=1), folder, events.append)
    assert {result.run for result in comparison.results} == {"linear", "mlp_k"}
    assert (run_folder(folder, "linear") / "tuned.safetensors").stat().st_mtime_ns == before
    assert {event.run for event in events if event.kind == "epoch"} == {"mlp_k"}
    assert "baseline" not in [event.kind for event in events]
    assert comparison.bootstrap("linear", "mlp_k").metric == "accuracy"
    assert comparison.leaderboard[0] in comparison.pareto("trainable")
    with pytest.raises(JobError, match="another plan"):
        run_job(job(colours, "linear", epochs=5), folder)


def test_other_images_are_noticed(small, tmp_path):
    data = class_folder(tmp_path / "data", per_class=4)
    run_job(job(data, "linear", epochs=1), tmp_path / "job")
    (data / "red" / "0.png").rename(data / "blue" / "10.png")
    with pytest.raises(ValueError, match="have changed since this job began"):
        run_job(job(data, "mlp_k", epochs=1), tmp_path / "job")
    state = job_state(tmp_path / "job")
    assert state.state == "failed"
    assert "Start a new job" in state.text.en


def test_a_full_disk_ends_in_a_sentence_and_keeps_the_best(small, colours, tmp_path, monkeypatch):
    config, folder = job(colours, "lora", epochs=3), tmp_path / "job"
    save, saved = loop.save_checkpoint, []

    def full_in_the_second_epoch(path, *rest):
        saved.append(path)
        if len(saved) == 2:
            raise DiskFullError(Text("The disk is full", "磁盘已满")) from OSError(errno.ENOSPC, "full")
        save(path, *rest)

    monkeypatch.setattr(loop, "save_checkpoint", full_in_the_second_epoch)
    with pytest.raises(DiskFullError):
        run_job(config, folder)
    assert job_state(folder).state == "failed"
    assert "disk is full" in job_state(folder).text.en
    assert tuned_tensors(folder, "lora")
    run_job(config, folder)  # there is room again
    monkeypatch.undo()
    monkeypatch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small("vit"))
    run_job(config, tmp_path / "whole")
    assert_same_run(tmp_path / "whole", folder, "lora")


def test_jobs_are_listed_and_deleted(small, colours, tmp_path):
    run_job(job(colours, "linear", epochs=1), tmp_path / "a")
    run_job(job(colours, "linear", epochs=1), tmp_path / "b")
    (tmp_path / "other").mkdir()
    assert [state.folder.name for state in list_jobs(tmp_path)] == ["b", "a"]
    state = job_state(tmp_path / "a")
    assert (state.state, state.runs[0].has_result, state.seconds_left) == ("finished", True, 0)
    assert not (tmp_path / "a" / "cache").exists()
    detached.delete(tmp_path / "a")
    assert [state.folder.name for state in list_jobs(tmp_path)] == ["b"]
    with pytest.raises(JobError, match="not the folder of a training"):
        detached.delete(tmp_path / "other")
    assert (tmp_path / "other").exists()


def test_a_folder_with_other_things_is_refused(colours, tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(JobError, match="other things"):
        compare(colours, "test_vit", ["linear"], out=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_job_is_trained_by_one_process_at_a_time(small, colours, tmp_path):
    folder, refused = tmp_path / "job", []

    def again(event):
        if event.kind == "baseline":
            assert job_state(folder).state == "running"
            for attempt in (detached.resume, detached.delete):
                with pytest.raises(JobError, match="Stop it first"):
                    attempt(folder)
                refused.append(attempt)

    run_job(job(colours, "linear", epochs=1), folder, again)
    assert len(refused) == 2


def test_a_stop_before_anything_was_learned_stops(small, colours, tmp_path):
    folder = tmp_path / "job"
    run_job(job(colours, "lora"), folder, lambda event: stop_file(folder).touch() if event.kind == "baseline" else None)
    assert job_state(folder).state == "stopped"
    assert load_comparison(folder).results == ()


@pytest.mark.thorough
def test_two_processes_learn_what_one_learns(colours, tmp_path):
    config = job(colours, "lora", epochs=1, drop_path=0.0, batch_size=6)
    run_job(config, tmp_path / "one")
    detached.start(config, tmp_path / "two", processes=TWO_PROCESSES)
    state = wait_for(tmp_path / "two", lambda state: state.state != "running")
    assert state.state == "finished", (tmp_path / "two" / LOG).read_text()
    assert read_events(tmp_path / "two")[0][0].values["processes"] == 2
    one, two = (load_comparison(tmp_path / name)["lora"] for name in ("one", "two"))
    assert one.outputs == pytest.approx(two.outputs, abs=1e-3)
    assert one.epochs[0].train_loss == pytest.approx(two.epochs[0].train_loss, abs=1e-4)
