"""Trust in maps: every view that draws one, on every bundled model, by every protocol with a known truth.

    python -m benchmarks.truth [--scale 1] [--models scenes_vit_patch16_192,...] [--json truth.json] [--workers 2]

Prints a Markdown table for each model: methods by protocols, each number with its 95 % bootstrap interval, a random map
and the truth itself as the last two rows, and the number of cases of each column (the larger number: methods that take
one run of the network; the smaller one: those that take many). The protocols are defined in `vitexplorer/evaluation/`,
one file each, with their papers. Models without a classifier are tested by localisation only, and so are untrained
twins of all models, in columns of their own.

Measurements are stored in `runs/truth`, by weights, method, protocol, cases and source code: an interrupted run
continues, and only changed parts are measured again. `--scale 0.1` takes a tenth of the cases.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from tqdm import tqdm

import vitexplorer as vx
from vitexplorer.core.standings import ORACLE, RANDOM
from vitexplorer.core.text import Text
from vitexplorer.core.types import EvaluationResult
from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.evaluating import drawn_cases, drawn_kinds, tabulate
from vitexplorer.evaluation.markdown import as_markdown
from vitexplorer.evaluation.measuring import measure
from vitexplorer.evaluation.methods import is_slow, map_views, view_of
from vitexplorer.evaluation.protocol import PROTOCOLS, Data
from vitexplorer.models.catalog import catalog
from vitexplorer.models.loading import LoadedModel
from vitexplorer.storage.atomic_writes import replace_bytes
from vitexplorer.views import VIEWS

SEED = 0
CHUNK = 20
"""Cases of one piece of work"""
UNTRAINED, UNTRAINED_SLOW = 100, 10
"""Scenes for an untrained twin, and for its methods that run the network many times"""
UNTRAINED_NAME = Text("{name}, untrained", "{name}（未训练）")
WHERE = ("pointing", "overlap")
"""Protocols that are meaningful without a classifier and on an untrained network"""
RUNS = {"deletion_insertion": 22, "road": 100, "saco": 11}
"""Cost of one number beside the map, in images, by protocol"""
MAPS = {"sensitivity": 5, "parameter_randomisation": 4, "parts": 3}
"""Maps that one number takes, by protocol"""
SLOW = 120
"""Approximate cost of a slow method's map, in images"""
VARIANTS = (("sign", "both"), ("backward", "libra"), ("head_fusion", "max"))
"""Settings that are tested as further methods, with the protocols that need one map only"""
Found = dict[str, list]
"""Protocol, method and source hash -> measurement of each case"""


@dataclass(frozen=True)
class Piece:
    """Some cases of one model with the protocols and methods to measure on them."""

    model: str
    weights: str
    """Weights: "auto", or "random" for the untrained twin"""
    kind: Data
    start: int
    end: int
    measurements: tuple[tuple[str, str, str], ...]
    """Protocol, method, and key of the stored number"""
    drawn: int
    """Number of cases of all pieces of the model and kind"""

    @property
    def cost(self) -> float:
        """Approximate number of images that go through the network."""
        maps = {method: 1.0 for _, method, _ in self.measurements}
        for protocol, method, _ in self.measurements:
            maps[method] += MAPS.get(protocol, 0)
        images = sum(maps[method] * (SLOW if is_slow(method) else 1) for method in maps)
        return (self.end - self.start) * (images + sum(RUNS.get(protocol, 0) for protocol, _, _ in self.measurements))


# ---------------------------------------------------------------------------------------------- what is asked


@lru_cache(maxsize=2)
def loaded(name: str, weights: str) -> LoadedModel:
    return vx.load_model(name, weights=weights, seed=SEED)


@lru_cache(maxsize=2)
def cases_of(name: str, weights: str, kind: Data, count: int) -> list[Case]:
    """Return the cases that `evaluate` draws."""
    return drawn_cases(loaded(name, weights), kind, count)


@cache
def kinds_of(name: str, weights: str) -> dict[str, Data]:
    """Return a model's protocols with their kind of images; without a classifier, localisation only."""
    model = loaded(name, "auto")
    kinds = drawn_kinds(model) if model.num_classes else dict.fromkeys(WHERE, "scenes")
    return kinds if weights == "auto" else {key: kind for key, kind in kinds.items() if key in WHERE}


@cache
def rows_of(name: str) -> tuple[str, ...]:
    """Return the methods that apply to a model."""
    model = loaded(name, "auto")
    kind = next(iter(kinds_of(name, "auto").values()))
    views = map_views(vx.capture(model, cases_of(name, "auto", kind, 1)[0].image, fit="squash"))
    one_map = set(kinds_of(name, "auto")) - {*RUNS, *MAPS}
    rows = [row for view in views if view != RANDOM for row in (view, *(variants_of(view) if one_map else ()))]
    return (*rows, RANDOM, ORACLE) if model.num_classes else views


def variants_of(view: str) -> list[str]:
    """Return the variants of a view, each with one setting changed."""
    known = {control.name for control in VIEWS[view].controls}
    return [f"{view}:{name}={value}" for name, value in VARIANTS if name in known]


def counts_of(name: str, weights: str, scale: float) -> dict[tuple[str, str], int]:
    """Return the number of cases by protocol and method."""
    counts = {}
    for key in kinds_of(name, weights):
        for method in rows_of(name):
            if ":" in method and key in {*RUNS, *MAPS}:
                continue
            protocol = PROTOCOLS[key]
            most = protocol.targets_of_slow if is_slow(method) else protocol.targets
            if weights == "random":
                most = min(most, UNTRAINED_SLOW if is_slow(method) else UNTRAINED)
            counts[key, method] = max(2, round(scale * most))
    return counts


def pieces_of(name: str, weights: str, scale: float) -> Iterator[Piece]:
    """Split the work on one model every `CHUNK` cases and where the set of methods changes."""
    counts = counts_of(name, weights, scale)
    kinds = kinds_of(name, weights)
    for kind in sorted(set(kinds.values())):
        here = {pair: count for pair, count in counts.items() if kinds[pair[0]] == kind}
        most = max(here.values())
        for start, end in pairwise(sorted({*range(0, most, CHUNK), *here.values()})):
            measurements = tuple((*pair, key_of(*pair)) for pair, count in here.items() if count >= end)
            yield Piece(name, weights, kind, start, end, measurements, most)


# ---------------------------------------------------------------------------------------------- what is kept


@cache
def source(protocol: str, method: str) -> str:
    """Return a hash of the source files that a number depends on; a change is measured anew."""
    package = Path(vx.__file__).parent
    files = [package / "evaluation" / f"{protocol}.py", *sorted((package / "quantities").glob("*.py"))]
    files += [package / "evaluation" / f"{name}.py" for name in ("case", "data", "mass_accuracy", "ranks")]
    files += [
        package / "evaluation" / "methods.py" if method == ORACLE else package / "views" / f"{view_of(method)}.py"
    ]
    return f"{zlib.crc32(b''.join(file.read_bytes() for file in files)):08x}"


@cache
def weights_hash(name: str, weights: str) -> str:
    """Return a hash of every parameter and buffer."""
    checksum = 0
    for tensor in loaded(name, weights).module.state_dict().values():
        checksum = zlib.crc32(tensor.contiguous().view(-1).view(torch.uint8).numpy(), checksum)
    return f"{checksum:08x}"


def file_of(folder: Path, piece: Piece) -> Path:
    place = folder / f"{piece.model}-{weights_hash(piece.model, piece.weights)}"
    return place / f"{piece.kind}-{piece.start}-{piece.end}.json"


def read(file: Path) -> Found:
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def key_of(protocol: str, method: str) -> str:
    return f"{protocol} {method} {source(protocol, method)}"


# ---------------------------------------------------------------------------------------------- the work


def work(piece: Piece, folder: Path) -> tuple[Piece, dict[str, float]]:
    """Measure what is missing; return the seconds by protocol, with "" for the maps themselves."""
    file, seconds = file_of(folder, piece), defaultdict(float)
    found = read(file)
    keys = {(protocol, method): key for protocol, method, key in piece.measurements if key not in found}
    missing: dict[str, list[str]] = defaultdict(list)
    for protocol, method in keys:
        missing[protocol].append(method)
    if missing:

        def record(protocol: str, method: str, took: float) -> None:
            seconds[protocol] += took

        cases = cases_of(piece.model, piece.weights, piece.kind, piece.drawn)[piece.start : piece.end]
        model, shared = loaded(piece.model, piece.weights), shared_of(piece.model, piece.weights)
        scores = measure(model, cases, missing, first=piece.start, of_model=shared, report=record)
        found |= {keys[pair]: [value.tolist() for value in values] for pair, values in scores.items()}
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(file, json.dumps(found).encode(), is_durable=False)
    return piece, dict(seconds)


@lru_cache(maxsize=1)
def shared_of(name: str, weights: str) -> dict:
    """Return the cache that all pieces of a model share in one process."""
    return {}


def run_all(pieces: Sequence[Piece], folder: Path, workers: int) -> dict[str, float]:
    """Do the pieces in worker processes with a progress bar; return the seconds by protocol."""
    seconds: dict[str, float] = defaultdict(float)
    context = multiprocessing.get_context("spawn")
    form = "{l_bar}{bar}| {elapsed}, {remaining} left"
    pool = ProcessPoolExecutor(workers, context, initializer=torch.set_num_threads, initargs=(1,))
    try:
        with tqdm(total=sum(piece.cost for piece in pieces), bar_format=form) as bar:
            for done in as_completed([pool.submit(work, piece, folder) for piece in pieces]):
                piece, took = done.result()
                for protocol, spent in took.items():
                    seconds[protocol] += spent
                bar.update(piece.cost)
    finally:
        pool.shutdown(cancel_futures=True)
    return seconds


# ---------------------------------------------------------------------------------------------- the tables


def table_of(name: str, weights: str, scale: float, folder: Path) -> EvaluationResult:
    """Return the stored measurements of one model as a table."""
    scores: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
    cases: dict[str, list[Case]] = {}
    for piece in pieces_of(name, weights, scale):
        found = read(file_of(folder, piece))
        for protocol, method, key in piece.measurements:
            cases[protocol] = cases_of(name, weights, piece.kind, piece.drawn)
            scores[protocol, method] += map(np.array, found[key])
    return tabulate(loaded(name, weights), rows_of(name), cases, scores)


def beside(trained: EvaluationResult, untrained: EvaluationResult) -> EvaluationResult:
    """Return one table with the columns of the untrained twin after the others."""
    numbers = ("values", "low", "high", "counts")
    return replace(
        trained,
        protocols=(*trained.protocols, *(f"{name}, untrained" for name in untrained.protocols)),
        names=(*trained.names, *(UNTRAINED_NAME.format(name=name) for name in untrained.names)),
        better=(*trained.better, *untrained.better),
        **{name: np.hstack([getattr(trained, name), getattr(untrained, name)]) for name in numbers},
    )


def document(tables: dict[str, EvaluationResult]) -> str:
    """Return the tables of the classifiers as JSON for `vitexplorer/core/standings.py`."""
    plain = {
        name: {
            "weights": weights_hash(name, "auto"),
            "methods": table.methods,
            "numbers": table.protocols,
            "names": [(name.en, name.zh) for name in table.names],
            "better": table.better,
            **{key: list(map(_plain, getattr(table, key).tolist())) for key in ("values", "low", "high", "counts")},
        }
        for name, table in tables.items()
        if ORACLE in table.methods
    }
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


def _plain(row: list[float]) -> list[float | None]:
    return [round(number, 4) if np.isfinite(number) else None for number in row]


def main(
    scale: Annotated[float, typer.Option(help="Share of the cases that the protocols state.")] = 1.0,
    models: Annotated[str, typer.Option(help="Names separated by commas; when empty, all bundled ones.")] = "",
    workers: Annotated[int, typer.Option(help="Processes; each runs the network in one thread.")] = os.cpu_count() or 1,
    folder: Annotated[Path, typer.Option(help="Where what was measured is kept.")] = Path("runs/truth"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="A file for the tables as JSON: assets/truth.json for the page.")
    ] = None,
) -> None:
    """Measure what is missing, and print the tables."""
    names = models.split(",") if models else [entry.name for entry in catalog() if entry.bundled]
    torch.set_num_threads(1)
    both = ("auto", "random")
    pieces = [piece for name in names for weights in both for piece in pieces_of(name, weights, scale)]
    seconds = run_all(pieces, folder, workers)
    tables = {name: table_of(name, "auto", scale, folder) for name in names}
    for name, table in tables.items():
        print(f"\n### {name}\n\n{as_markdown(beside(table, table_of(name, 'random', scale, folder)))}", flush=True)
    if json_file:
        json_file.write_text(document(tables), "utf-8")
    if seconds:
        total = sum(seconds.values())
        shares = sorted(seconds.items(), key=lambda pair: -pair[1])
        summary = ", ".join(f"{protocol or 'the maps'} {took / total:.0%}" for protocol, took in shares)
        typer.echo(f"\n{total:.0f} s of processors: {summary}", err=True)


if __name__ == "__main__":
    typer.run(main)
