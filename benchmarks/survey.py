"""Cost of a survey relative to the plain batched forward pass of the same images, and growth of its memory.

    python -m benchmarks.survey speed   [--model vit_small_patch16_224] [--images 96] [--rounds 5] [--device cpu]
    python -m benchmarks.survey workers [--runners processes,ray] [--workers 1,2]
    python -m benchmarks.survey memory  [--images 2000,100000]

speed    each round decodes and runs the same JPEGs plainly, in batches with decoding in threads, and surveys them with
         few and with all questions; a row's number is the median over the rounds of its time divided by the plain one
         of the same round (`field/timing.py`). On a CPU time is CPU time of all threads, so that whatever else the
         machine does is not counted. The process keeps freed memory, as a survey's do, also for the plain way.
workers  images a second between the first and the last progress report, by runner and number of workers.
memory   peak resident size of a fresh process each, for folders of links to a few small pictures.

Random weights: they do not change the arithmetic.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import typer
from PIL import Image

import vitexplorer as vx
from benchmarks.field.timing import Work, interleaved
from vitexplorer.capturing.capture import prepare
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.questions import QUESTIONS
from vitexplorer.survey.surveying import ask_all

app = typer.Typer(help=__doc__.splitlines()[0], add_completion=False)
MODEL = "vit_small_patch16_224"
SMALL_MODEL, SMALL_SIZE = "test_vit", 32
"""Model and size for the memory test: memory per image does not depend on the model"""
ASKED = {
    "prediction": ["prediction"],
    "prediction, features": ["prediction", "features"],
    "all questions": list(QUESTIONS),
}


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


# ------------------------------------------------------------------------------------------------- speed


def plainly(model: LoadedModel, paths: list[Path], batch_size: int, threads: int) -> None:
    """Decode and fit the images in threads, run the model in batches, keep the logits."""
    logits = []
    with ThreadPoolExecutor(threads) as pool, torch.no_grad():
        ready = pool.map(lambda path: prepare(model, path).tensor, paths)
        for start in range(0, len(paths), batch_size):
            batch = torch.cat([next(ready) for _ in paths[start : start + batch_size]])
            logits.append(model.module(batch).cpu())


@app.command()
def speed(
    model: str = MODEL,
    images: int = 96,
    rounds: int = 5,
    device: str = "cuda" if torch.cuda.is_available() else "cpu",
    batch_size: int = 16,
    threads: int = os.cpu_count() or 1,
) -> None:
    """Print the table of ratios."""
    keep_freed_memory()
    loaded = vx.load_model(model, weights="random", device=device)
    with tempfile.TemporaryDirectory() as folder:
        paths = photographs(Path(folder) / "images", images)

        def survey(ask: list[str]) -> None:
            out = tempfile.mkdtemp(dir=folder)
            ask_all(paths, loaded, ask, out, fit="crop", workers=1, batch_size=batch_size)

        ways: dict[str, Work] = {"plain": lambda: plainly(loaded, paths, batch_size, threads)}
        ways |= {row: lambda ask=ask: survey(ask) for row, ask in ASKED.items()}
        clock = time.process_time if device == "cpu" else time.perf_counter
        timings = interleaved(ways, rounds, warmup=1, limit_s=math.inf, clock=clock)
    rate = images / timings["plain"].seconds
    print(f"{model} on {device}, {images} JPEGs of 500 x 375, batches of {batch_size}: {rate:.1f}/s")
    for row in ASKED:
        print(f"{row:24s} {timings[row]} times the plain forward")


# ------------------------------------------------------------------------------------------------- workers


@app.command()
def workers(model: str = MODEL, images: int = 96, runners: str = "processes", workers: str = "1,2") -> None:
    """Print images a second by runner and number of workers."""
    loaded = vx.load_model(model, weights="random", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        paths = photographs(Path(folder) / "images", images)
        for count in map(int, workers.split(",")):
            for runner in runners.split(","):
                reports: list[tuple[float, int]] = []
                ask_all(
                    paths,
                    loaded,
                    ["prediction", "features"],
                    Path(folder) / f"{runner} {count}",
                    fit="crop",
                    workers=count,
                    rows_per_shard=max(1, images // 16),
                    runner=runner,
                    progress=lambda done, total, reports=reports: reports.append((time.perf_counter(), done)),
                )
                first, begun = next(report for report in reports if report[1])
                last, done = reports[-1]
                rate = (done - begun) / max(last - first, 1e-9)
                whole = done / (last - reports[0][0])
                print(f"{runner:10s} {count} workers: {rate:.1f} images/s, {whole:.1f} with their start", flush=True)


# ------------------------------------------------------------------------------------------------- memory


@app.command()
def memory(images: str = "2000,100000") -> None:
    """Print the peak memory of one process for folders of so many images."""
    for count in map(int, images.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            photographs(Path(folder) / "images", count, different=200, size=(40, 40))
            command = [sys.executable, "-m", "benchmarks.survey", "one", folder]
            begun = time.perf_counter()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{count} images: {done.stdout.strip()}, {time.perf_counter() - begun:.0f} s", flush=True)


@app.command(hidden=True)
def one(folder: Path) -> None:
    """Survey a folder; print the peak memory of this process after planning and at the end."""
    model = vx.load_model(SMALL_MODEL, weights="random", size=SMALL_SIZE, device="cpu")
    peaks: list[float] = []

    def progress(done: int, total: int) -> None:
        if not done or done == total:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    ask_all(folder / "images", model, None, folder / "survey", fit="squash", workers=1, progress=progress)
    print(f"{peaks[0]:.0f} MB when planned, {peaks[-1]:.0f} MB at the end")


if __name__ == "__main__":
    app()
