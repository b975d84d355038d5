"""Comparison with the field: our functions beside the libraries that a person would use instead.

    python -m benchmarks.field [capture memory ...] [--device cuda] [--dtype bfloat16]

Each section measures one thing by us and by every peer that is installed (`pip install -r benchmarks/requirements.txt`)
in one run: times as multiples of the first row (absolute ones only on a GPU), medians with the middle half of the
rounds, memory at its peak in a process of its own. A section's file says what is compared and how. The tables are
printed and saved as Markdown and JSON; sections that were not run stay as they are. Measurements are stored in
`runs/field`, so an interrupted run continues.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.field.bench import Bench
from benchmarks.field.fresh import preload
from benchmarks.field.peers import missing, versions
from benchmarks.field.tables import Made, as_markdown, document, read, write

SECTIONS = ("capture", "memory", "views", "growth", "folders", "coverage", "precision", "page", "start", "finetune")
"""Modules of this folder, each with `tables(bench) -> list[Table]`, in the order of the document"""


def machine(device: str) -> str:
    """Return the name of the GPU or processor that is measured on."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    about = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").is_file() else ""
    match = re.search(r"^model name\s*:\s*(.+)$", about, re.MULTILINE)
    return f"{match[1] if match else platform.processor()}, {os.cpu_count()} CPUs, times of one thread"


def main(
    sections: Annotated[list[str] | None, typer.Argument(help=f"Any of {', '.join(SECTIONS)}; all when empty.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    dtype: Annotated[str, typer.Option(help="float32 or bfloat16: weights and activations.")] = "float32",
    quick: Annotated[bool, typer.Option(help="The smallest case of everything, to see that it runs.")] = False,
    rounds: Annotated[int, typer.Option(help="Rounds of each timing, at most.")] = 15,
    limit_s: Annotated[float, typer.Option(help="Seconds after which a timing begins no further round.")] = 40.0,
    folder: Annotated[Path, typer.Option(help="Where what was measured is kept.")] = Path("runs/field"),
    markdown: Annotated[Path, typer.Option(help="The tables, for people.")] = Path("benchmarks/field.md"),
    json: Annotated[Path, typer.Option(help="The same, for programs.")] = Path("benchmarks/field.json"),
) -> None:
    """Measure what is missing, print the tables and save them."""
    unknown = set(sections or ()) - set(SECTIONS)
    if unknown:
        raise typer.BadParameter(f"No section {', '.join(sorted(unknown))}. There are {', '.join(SECTIONS)}.")
    torch.set_num_threads(1)
    os.environ.setdefault("VIT_SIZE_MEGABYTES", "1000000")  # the benchmark tests the limits itself
    preload()
    bench = Bench(device, dtype, quick, folder, rounds, limit_s)
    command = f"python -m benchmarks.field {shlex.join(sys.argv[1:])}".strip()
    made = Made(command, f"{datetime.now(UTC):%Y-%m-%d}", machine(device), versions())
    for line in missing():
        typer.echo(line, err=True)
    for section in sections or SECTIONS:
        measured = importlib.import_module(f"benchmarks.field.{section}").tables(bench)
        known = read(json) | {section: [replace(table, made=made) for table in measured]}
        write(json, known)
        markdown.write_text(document(known, SECTIONS), "utf-8")
        for table in known[section]:
            print(f"\n{as_markdown(table)}", flush=True)


if __name__ == "__main__":
    typer.run(main)
