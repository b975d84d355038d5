"""Growth of a survey's memory with its images.

    python -m benchmarks.survey memory [--images 2000,100000]

Prints the peak resident size of a fresh process each, for folders of links to a few small pictures. Random weights:
they do not change the arithmetic.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import typer

import vitexplorer as vx
from benchmarks.field.folders import photographs
from vitexplorer.survey.surveying import ask_all

app = typer.Typer(help=__doc__.splitlines()[0], add_completion=False)
MODEL, SIZE = "test_vit", 32
"""Memory per image does not depend on the model"""


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
    model = vx.load_model(MODEL, weights="random", size=SIZE, device="cpu")
    peaks: list[float] = []

    def progress(done: int, total: int) -> None:
        if not done or done == total:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    ask_all(folder / "images", model, None, folder / "survey", fit="squash", workers=1, progress=progress)
    print(f"{peaks[0]:.0f} MB when planned, {peaks[-1]:.0f} MB at the end")


if __name__ == "__main__":
    app()
