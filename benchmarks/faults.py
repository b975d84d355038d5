"""Fault injection for trainings and surveys: killed, frozen and doubly started processes, and damaged files.

    python -m benchmarks.faults [times]

Real processes train timm's `test_vit` on two dozen drawn squares. Each line prints the count of successes and the
expected count: workers killed at random moments and resumed to the same bits; suspended workers; one file of a killed
training damaged at random, then resumed in this process (ten times as often, since that is quick); the same with each
file cut to half; two servers that start trainings at the same moment where one is allowed. Processes frozen at random
moments, whose training or survey another process finishes before they wake, must end and change no byte. Damaged files
of a survey: rows are computed again to the same bytes, an index gives the same answers.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
from hypothesis import strategies as st
from safetensors.torch import load_file

from benchmarks.fuzz import tried
from tests.helpers.damaged_files import WRECKS, torn, wreck
from tests.helpers.finetune_folders import class_folder
from tests.helpers.fuzz_subject import Subject
from tests.helpers.survey_images import files_of
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.in_process import run_job
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.events import EVENTS
from vitexplorer.finetune.job.folder import CHECKPOINTS, PREDICTIONS, TUNED, run_folder
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.job.state import JobState, job_state
from vitexplorer.models.loading import load_model
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.storage.checked_reading import BrokenFileError
from vitexplorer.storage.claims import CLAIM, Claim, JobError, worker_of
from vitexplorer.storage.workers import LOG
from vitexplorer.survey.card import SurveyError
from vitexplorer.survey.index import index_of
from vitexplorer.survey.manifest import rows_file
from vitexplorer.survey.opened import open_survey
from vitexplorer.survey.surveying import ask_all

OWN = run_folder(Path(), "lora")
MADE_AGAIN = (
    *(OWN / name for name in (*CHECKPOINTS, TUNED, PREDICTIONS, "estimate.json")),
    *map(Path, ("baseline.json", "baseline_head.npz", EVENTS, CLAIM.name)),
)
"""Files without which a training still ends with the same weights"""
LOST = (Path("config.json"), Path("split.json"))
"""Files without which a training refuses to resume"""
TIMEOUT_SECONDS = 300.0


def config_of(data: Path, **plan: object) -> JobConfig:
    whole = {"epochs": 6, "batch_size": 4, "precision": "no", "checkpoint_seconds": 0.0, **plan}
    return JobConfig(str(data), "test_vit", (Candidate("lora"),), Plan(**whole), weights="random")


def is_same(one: Path, other: Path) -> bool:
    """Return True if weights, predictions and metrics of two trainings are equal bit for bit."""
    a, b = (load_comparison(folder)["lora"] for folder in (one, other))
    ours, theirs = load_file(a.file), load_file(b.file)
    return (
        ours.keys() == theirs.keys()
        and all(np.array_equal(tensor.numpy(), theirs[name].numpy()) for name, tensor in ours.items())
        and np.array_equal(a.outputs, b.outputs)
        and [dict(epoch.metrics) for epoch in a.epochs] == [dict(epoch.metrics) for epoch in b.epochs]
    )


def ended(folder: Path) -> JobState:
    """Wait until no process works on a job and return its state."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while (state := job_state(folder)).state == "running" and time.monotonic() < end:
        time.sleep(0.05)
    return state


def interrupted(folder: Path, config: JobConfig, sign: int, draw: random.Random) -> bool:
    """Send a training's worker a signal at a random moment, then resume; True if noticed and finished."""
    detached.start(config, folder)
    begun = time.monotonic()
    after = draw.uniform(0.5, 8.0)
    while time.monotonic() < begun + after and worker_of(folder):
        time.sleep(0.01)
    pid = worker_of(folder)
    if pid is None:  # it had finished
        return ended(folder).state == "finished"
    os.kill(pid, sign)
    end = time.monotonic() + 10
    while job_state(folder).state == "running" and time.monotonic() < end:
        time.sleep(0.01)
    seen = job_state(folder).state
    if seen == "finished":  # it had nothing left to do
        return True
    detached.resume(folder)
    return ended(folder).state == "finished" and seen == "interrupted"


def stopped_and_resumed(whole: Path, root: Path, sign: int, times: int) -> int:
    """Count the signalled trainings that end with the weights of `whole`."""
    draw, right = random.Random(0), 0
    for n in range(times):
        folder = root / f"{sign}-{n}"
        right += interrupted(folder, job_state(whole).config, sign, draw) and is_same(whole, folder)
        shutil.rmtree(folder)
    return right


# ---------------------------------------------------------------------------------------------- torn files


def killed_of(whole: Path, root: Path) -> Path:
    """Copy the training as a kill in its fourth epoch would leave it."""
    folder, killed = root / "stopping", root / "killed"

    def stop(event) -> None:
        if event.kind == "epoch" and event.values["epoch"] == 4:
            shutil.copytree(folder, killed)
            detached.stop(folder)

    run_job(job_state(whole).config, folder, stop)
    shutil.rmtree(folder)
    CLAIM.write(killed, Claim(1, 1.0))  # of a dead process whose pid another one has now
    return killed


def resumed(killed: Path, damaged: dict[Path, bytes]) -> Path:
    """Resume a copy of the training with these files replaced; ExplainedError if it cannot go on."""
    folder = killed.with_name("torn")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(killed, folder)
    for file, content in damaged.items():
        (folder / file).write_bytes(content)
    config = job_state(folder).config or job_state(killed).config
    run_job(config, folder)
    return folder


def torn_at_random(killed: Path, cases: int) -> tuple[Counter[str], dict[str, str]]:
    """Return outcomes of trainings resumed with one damaged file."""

    def case(file: Path) -> st.SearchStrategy:
        return st.tuples(st.just(file), torn((killed / file).read_bytes()))

    files = [file for file in (*MADE_AGAIN, *LOST) if (killed / file).exists()]
    subject = Subject("torn", st.sampled_from(files).flatmap(case), lambda drawn: resumed(killed, dict([drawn])))
    return tried(subject, cases)


def halves(whole: Path, killed: Path) -> int:
    """Count the files of which half is enough to end with the same weights."""
    present = [file for file in MADE_AGAIN if (killed / file).exists()]
    return (
        len(MADE_AGAIN)
        - len(present)
        + sum(
            is_same(whole, resumed(killed, {file: (killed / file).read_bytes()[: (killed / file).stat().st_size // 2]}))
            for file in present
        )
    )


# ---------------------------------------------------------------------------------------------- two servers


def begin(root: Path, config: JobConfig, at: float) -> bool:
    """Start a training as a server does, at time `at`; return True if there was room."""
    places = UserStorage(root, hosted=False)
    time.sleep(max(0.0, at - time.time()))
    try:
        with places.room_for_one(1):
            detached.start(config, places.new_training(""))
    except JobError:
        return False
    return True


def begun_at_once(root: Path, config: JobConfig, times: int) -> int:
    """Count the rounds in which exactly one of two servers finds room for a training."""
    right = 0
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as servers:
        for n in range(times):
            place = root / f"round-{n}"
            at = time.time() + (5.0 if n == 0 else 0.3)
            futures = [servers.submit(begin, place, config, at) for _ in range(2)]
            right += sorted(future.result() for future in futures) == [False, True]
            for job in place.glob(f"*/{CLAIM.name}"):
                if worker := worker_of(job.parent):
                    os.kill(worker, signal.SIGKILL)
    return right


# ---------------------------------------------------------------------------------------------- frozen processes


def everything(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return the modification time and content of each file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in (".lock", LOG))
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def woken(frozen: psutil.Process, folder: Path) -> bool:
    """Resume a frozen process; True if it ends and changes no file."""
    before = everything(folder)
    with suppress(psutil.NoSuchProcess):
        frozen.resume()
        frozen.wait(TIMEOUT_SECONDS)
    return everything(folder) == before


def frozen_after(folder: Path, seconds: float, pid: int) -> psutil.Process:
    """Freeze a process `seconds` after it has claimed its folder; it may have ended before."""
    process, end = psutil.Process(pid), time.monotonic() + TIMEOUT_SECONDS
    with suppress(psutil.NoSuchProcess):
        while not begins(folder) and process.is_running() and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(seconds)
        process.suspend()
    return process


def begins(folder: Path) -> bool:
    """Return True if the launched process has confirmed its claim."""
    with suppress(BrokenFileError):
        claim = CLAIM.read(folder)
        return claim is not None and claim.begun
    return False


def take_over(frozen: psutil.Process, work: Callable[[], object]) -> None:
    """Finish the work of a frozen process; if it holds the folder's lock, end it first, as the error asks.

    The lock is never broken: the process may have been frozen with a file half in place.
    """
    try:
        work()
    except (JobError, SurveyError) as error:
        if "end that process" not in str(error):
            raise
        frozen.kill()
        frozen.wait()
        work()


def frozen_trainings(whole: Path, root: Path, times: int) -> int:
    """Count the frozen trainings that another process finishes to the same weights, unharmed by the frozen one."""
    draw, right = random.Random(1), 0
    for n in range(times):
        folder = root / f"frozen-{n}"
        detached.start(job_state(whole).config, folder)
        frozen = frozen_after(folder, draw.uniform(0.0, 6.0), worker_of(folder) or 0)
        take_over(frozen, lambda folder=folder: run_job(job_state(whole).config, folder))
        right += woken(frozen, folder) and is_same(whole, folder)
        shutil.rmtree(folder)
    return right


def survey_of(images: Path, out: Path) -> Path:
    model = load_model("test_vit", "random")
    return ask_all(images, model, ["prediction"], out, workers=1, rows_per_shard=1, batch_size=1)


def frozen_surveys(images: Path, root: Path, times: int) -> int:
    """Count the frozen surveys that another process finishes to the same bytes, unharmed by the frozen one."""
    draw, right = random.Random(2), 0
    whole = survey_of(images, root / "whole-survey")
    command = [sys.executable, "-m", "vitexplorer", "survey", str(images), "--model", "test_vit", "--weights", "random"]
    command += ["--ask", "prediction", "--workers", "1", "--rows-per-shard", "1", "--batch-size", "1", "--out"]
    for n in range(times):
        folder = root / f"frozen-survey-{n}"
        with subprocess.Popen([*command, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            frozen = frozen_after(folder, draw.uniform(0.0, 0.3), process.pid)
            take_over(frozen, lambda folder=folder: survey_of(images, folder))
            right += woken(frozen, folder) and files_of(folder) == files_of(whole)
    return right


# ---------------------------------------------------------------------------------------------- a survey's files


def damaged_rows(whole: Path, images: Path) -> int:
    """Count the kinds of damage to a file of rows that are repaired to the same bytes."""
    right = 0
    for how in WRECKS:
        folder = whole.with_name("wrecked")
        shutil.copytree(whole, folder)
        wreck(rows_file(folder, 3), how)
        survey_of(images, folder)
        right += files_of(whole).items() <= files_of(folder).items()
        shutil.rmtree(folder)
    return right


def damaged_indexes(whole: Path) -> int:
    """Count the kinds of damage to an index after which the survey opens complete and reports the repair."""
    right = 0
    for how in WRECKS:
        folder = whole.with_name("wrecked")
        shutil.copytree(whole, folder)
        path = index_of(folder, 1).path
        wreck(path, how)
        opened = open_survey(folder)
        is_reported = bool(opened.made_again) or how == "closed"  # root can read every file
        right += is_reported and opened.count == len(files_of(whole))
        shutil.rmtree(folder)
    return right


def main(times: int = 20) -> int:
    """Print the counts; return 1 if one differs from the expected count."""
    os.environ["VIT_TRAINING_HOURS"] = "0.02"  # a damaged plan with 99,999 epochs is refused
    good = []

    def line(what: str, came: int, of: int) -> None:
        good.append(came == of)
        print(f"{what:62}{came:6} of {of}", flush=True)

    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        config = config_of(class_folder(root / "colours", per_class=8))
        whole = root / "whole"
        run_job(config, whole)
        line("killed at random, resumed to the same weights", stopped_and_resumed(whole, root, 9, times), times)
        still = max(1, times // 4)
        line("stands still, seen, resumed to the same", stopped_and_resumed(whole, root, 19, still), still)
        line("frozen, ended by another, woken, left alone", frozen_trainings(whole, root, still), still)
        images = root / "colours"
        line("a survey frozen, ended by another, woken", frozen_surveys(images, root, times), times)
        surveyed = root / "whole-survey"
        line("a damaged file of rows, asked again to the same", damaged_rows(surveyed, images), len(WRECKS))
        line("a damaged index, made again and said", damaged_indexes(surveyed), len(WRECKS))
        killed = killed_of(whole, root)
        line("half of a file, resumed to the same weights", halves(whole, killed), len(MADE_AGAIN))
        came, faults = torn_at_random(killed, 10 * times)
        line("a file torn at random: resumed, or a sentence", came["right"] + came["sentence"], came.total())
        print(f"    right {came['right']}, sentence {came['sentence']}")
        for fault, case in faults.items():
            print(f"    {fault} ({came[fault]})\n        {case}")
        line("two servers at once, one training begun", begun_at_once(root, config, times), times)
    print("all held" if all(good) else "NOT all held")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
