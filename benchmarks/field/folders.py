"""Surveys of a folder: time over a plain loop that decodes and runs the same JPEGs, and speed with more processes.

The loop decodes and fits the images in threads, runs the model in batches and keeps the logits. Time is CPU time of all
threads, so that whatever else the machine does is not counted. Every process has one thread for the model; images a
second of N processes on N cores are measured from the first finished batch to the last. Random weights: they do not
change the arithmetic.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from PIL import Image

import vitexplorer as vx
from benchmarks.field.bench import ENGINE, ROOT, Bench
from benchmarks.field.tables import Table
from benchmarks.field.timing import Timing, Work
from vitexplorer.capturing.capture import ModelInput, prepare
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.questions import QUESTIONS
from vitexplorer.survey.surveying import ask_all
from vitexplorer.survey.watched_pass import watched_captures

MODEL, QUICK = "vit_small_patch16_224", "vit_tiny_patch16_224"
BATCH = 16
PLAIN, OPENING, WATCHED = "decode, fit and run", "decode and fit alone", "the pass of all questions alone"
START = "survey of one image: all questions"
ASKED = {
    "survey: prediction": ["prediction"],
    "survey: prediction, features": ["prediction", "features"],
    "survey: all questions": list(QUESTIONS),
}
PROCESSES = (1, 2)
SURVEY = (*ENGINE, "vitexplorer/survey/**/*.py")
TIMES = (
    "{images} JPEGs of 500 x 375, {model}, batches of {batch}; the loop runs {rate:.1f} images a second. A survey "
    "decodes and fits the same images, hashes their pixels to find duplicates, and writes its rows. At its start it "
    "derives the columns from the capture of one more image: {start:.3f} of the loop's time here, whatever the number "
    "of images. For the head statistics of all questions, attention is computed explicitly in place of the fused "
    "kernel, and each block's weights are read while they are in the cache."
)
RATES = (
    "Images a second with N processes on N cores, as multiples of one process, which keeps the memory it has freed as "
    "its workers do."
)


def photographs(folder: Path, count: int, different: int = 24, size: tuple[int, int] = (500, 375)) -> list[Path]:
    """Write smooth, noisy JPEGs of a size (width, height) and return `count` paths; beyond `different`, hard links."""
    rng = np.random.default_rng(0)
    paths = []
    for number in range(count):
        path = folder / str(number % 10) / f"{number:06d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        if number < different:
            coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize(size, Image.BICUBIC)
            noise = rng.integers(-12, 12, (size[1], size[0], 3))
            Image.fromarray((np.asarray(coarse) + noise).clip(0, 255).astype(np.uint8)).save(path, quality=90)
        else:
            os.link(paths[number % different], path)
        paths.append(path)
    return paths


def tables(bench: Bench) -> list[Table]:
    """Return the times of a survey and, on a CPU, the speed of several processes."""
    images = BATCH if bench.quick else 4 * BATCH
    times = bench.cell("times", dict[str, Timing], partial(_times, bench, images), SURVEY)
    paragraph = TIMES.format(
        images=images,
        model=_model(bench),
        batch=BATCH,
        rate=images / times[PLAIN].seconds,
        start=times[START].median - 1 / images,
    )
    rows = tuple((way, timing) for way, timing in times.items())
    title = "A survey: time over that of a plain loop"
    return [
        Table("folder_time", title, ("way", "time"), rows, (paragraph,)),
        *([] if bench.on_gpu else [_rates(bench)]),
    ]


def _model(bench: Bench) -> str:
    return QUICK if bench.quick else MODEL


# ------------------------------------------------------------------------------------------------- times


def _times(bench: Bench, images: int) -> dict[str, Timing]:
    keep_freed_memory()
    model = vx.load_model(_model(bench), weights="random", device=bench.device)
    with tempfile.TemporaryDirectory() as folder:
        paths = photographs(Path(folder) / "images", images)
        inputs = [prepare(model, path) for path in paths]

        def survey(ask: list[str], images: int = images) -> Callable[[], Path]:
            some = paths[:images]
            return lambda: ask_all(some, model, ask, tempfile.mkdtemp(dir=folder), workers=1, batch_size=BATCH)

        ways: dict[str, Work] = {PLAIN: lambda: _plainly(model, paths), OPENING: lambda: _opened(model, paths)}
        ways |= {row: survey(ask) for row, ask in ASKED.items()}
        ways[START] = survey(list(QUESTIONS), 1)
        ways[WATCHED] = lambda: _watched(model, inputs)
        return bench.interleaved(ways, warmup=1)


def _plainly(model: LoadedModel, paths: list[Path]) -> None:
    logits = []
    with ThreadPoolExecutor(1) as pool, torch.no_grad():
        ready = pool.map(lambda path: prepare(model, path).tensor, paths)
        for _ in range(0, len(paths), BATCH):
            logits.append(model.module(torch.cat([next(ready) for _ in range(BATCH)])).cpu())


def _opened(model: LoadedModel, paths: list[Path]) -> None:
    for path in paths:
        prepare(model, path)


def _watched(model: LoadedModel, inputs: list[ModelInput]) -> None:
    for start in range(0, len(inputs), BATCH):
        watched_captures(model, inputs[start : start + BATCH], rollout=True)


# ------------------------------------------------------------------------------------------------- processes


def _rates(bench: Bench) -> Table:
    rates = bench.cell("rates", dict[int, list[float]], partial(_rates_by_count, bench), SURVEY)
    one = median(rates[PROCESSES[0]])
    rows = tuple((count, f"{median(found) / one:.2f}") for count, found in rates.items())
    return Table("folder_processes", "A survey by several processes", ("processes", "speed"), rows, (RATES,))


def _rates_by_count(bench: Bench) -> dict[int, list[float]]:
    rates: dict[int, list[float]] = {count: [] for count in PROCESSES}
    for _ in range(1 if bench.quick else min(3, bench.rounds)):
        for count, found in rates.items():
            command = [sys.executable, "-m", "benchmarks.field.folders", _model(bench), str(count)]
            ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            found.append(float(ended.stdout))
    return rates


def main(name: str, processes: int) -> None:
    """Print the images a second of so many processes."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processes])
    torch.set_num_threads(1)
    keep_freed_memory()
    model, reports = vx.load_model(name, weights="random", device="cpu"), list[tuple[float, int]]()
    with tempfile.TemporaryDirectory() as folder:
        ask_all(
            photographs(Path(folder) / "images", 8 * BATCH * processes),
            model,
            ["prediction", "features"],
            Path(folder) / "survey",
            workers=processes,
            rows_per_shard=BATCH,
            progress=lambda done, total: reports.append((time.perf_counter(), done)),
        )
    (begun, before), (ended, done) = next(report for report in reports if report[1]), reports[-1]
    print((done - before) / (ended - begun))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
