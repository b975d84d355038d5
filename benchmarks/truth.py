"""Which maps deserve trust? Every view that draws one, on every bundled model, by every protocol with a known truth.

    python -m benchmarks.truth [--scale 1] [--models scenes_vit_patch16_192,...] [--json truth.json] [--workers 2]

A Markdown table for each model: methods by protocols, each number with its 95 % bootstrap interval, a random map and
the truth itself as the last two rows, and the number of cases that each column rests on (the larger one: methods that
take one run of the network; the smaller one: those that take many). The protocols are defined in
`vitexplorer/evaluation/`, one file each, with their papers. Models without a classifier are asked where their attention
points; untrained twins of all of them too, in columns of their own.

What was measured lies in `runs/truth`, by weights, method, protocol, cases and the source that measured it: a run that
was stopped goes on where it was, and only what changed is measured again. `--scale 0.1` takes a tenth of the cases.
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
from vitexplorer.evaluation.protocol import Data
from vitexplorer.evaluation.protocols import PROTOCOLS
from vitexplorer.models.catalog import catalog
from vitexplorer.models.loading import LoadedModel
from vitexplorer.views import VIEWS

SEED = 0
CHUNK = 20
"""cases of one piece of work"""
UNTRAINED, UNTRAINED_SLOW = 100, 10
"""scenes that an untrained twin is asked about, and by methods that run the network many times"""
UNTRAINED_NAME = Text("{name}, untrained", "{name}（未训练）")
WHERE = ("pointing", "overlap")
"""protocols that have a meaning without a classifier, and on an untrained network"""
RUNS = {"deletion_insertion": 22, "road": 100, "saco": 11}
"""images that one number takes beside the map, or as long as it takes; of others: how many maps"""
MAPS = {"sensitivity": 5, "parameter_randomisation": 4, "parts": 3}
SLOW = 120
"""images that a map of a slow method takes, about"""
VARIANTS = (("sign", "both"), ("backward", "libra"), ("head_fusion", "max"))
"""settings that make another method of every view that has them; asked where one map answers, which is cheap"""
Found = dict[str, list]
"""protocol and method, and the source that measured it -> what was measured of each case"""


@dataclass(frozen=True)
class Piece:
    """Some cases of one model by all protocols on them."""

    model: str
    weights: str
    """"auto", or "random" for the untrained twin"""
    kind: Data
    start: int
    end: int
    wanted: tuple[tuple[str, str, str], ...]
    """protocol, method, and what the number is kept under"""
    drawn: int
    """cases of all pieces of the model and kind"""

    @property
    def cost(self) -> float:
        """Images that go through the network, about."""
        maps = {method: 1.0 for _, method, _ in self.wanted}
        for protocol, method, _ in self.wanted:
            maps[method] += MAPS.get(protocol, 0)
        ways = sum(maps[method] * (SLOW if is_slow(method) else 1) for method in maps)
        return (self.end - self.start) * (ways + sum(RUNS.get(protocol, 0) for protocol, _, _ in self.wanted))


# ---------------------------------------------------------------------------------------------- what is asked


@lru_cache(maxsize=2)
def loaded(name: str, weights: str) -> LoadedModel:
    return vx.load_model(name, weights=weights, seed=SEED)


@lru_cache(maxsize=2)
def cases_of(name: str, weights: str, kind: Data, count: int) -> list[Case]:
    """Those of `evaluate`."""
    return drawn_cases(loaded(name, weights), kind, count)


@cache
def kinds_of(name: str, weights: str) -> dict[str, Data]:
    """Protocols that a model is asked by, and on which pictures; without a class it is asked where attention lies."""
    model = loaded(name, "auto")
    kinds = drawn_kinds(model) if model.num_classes else dict.fromkeys(WHERE, "scenes")
    return kinds if weights == "auto" else {key: kind for key, kind in kinds.items() if key in WHERE}


@cache
def rows_of(name: str) -> tuple[str, ...]:
    """The methods that a model can be asked about."""
    model = loaded(name, "auto")
    kind = next(iter(kinds_of(name, "auto").values()))
    views = map_views(vx.capture(model, cases_of(name, "auto", kind, 1)[0].image, fit="squash"))
    asked = set(kinds_of(name, "auto")) - {*RUNS, *MAPS}
    rows = [row for view in views if view != RANDOM for row in (view, *(variants_of(view) if asked else ()))]
    return (*rows, RANDOM, ORACLE) if model.num_classes else views


def variants_of(view: str) -> list[str]:
    """The same view at other settings, one at a time."""
    known = {control.name for control in VIEWS[view].controls}
    return [f"{view}:{name}={value}" for name, value in VARIANTS if name in known]


def counts_of(name: str, weights: str, scale: float) -> dict[tuple[str, str], int]:
    """How many cases each protocol has for each method."""
    found = {}
    for key in kinds_of(name, weights):
        for method in rows_of(name):
            if ":" in method and key in {*RUNS, *MAPS}:
                continue
            protocol = PROTOCOLS[key]
            most = protocol.targets_of_slow if is_slow(method) else protocol.targets
            if weights == "random":
                most = min(most, UNTRAINED_SLOW if is_slow(method) else UNTRAINED)
            found[key, method] = max(2, round(scale * most))
    return found


def pieces_of(name: str, weights: str, scale: float) -> Iterator[Piece]:
    """The work on one model, cut where the number of methods changes and every `CHUNK` cases."""
    counts = counts_of(name, weights, scale)
    kinds = kinds_of(name, weights)
    for kind in sorted(set(kinds.values())):
        here = {pair: count for pair, count in counts.items() if kinds[pair[0]] == kind}
        most = max(here.values())
        for start, end in pairwise(sorted({*range(0, most, CHUNK), *here.values()})):
            wanted = tuple((*pair, key_of(*pair)) for pair, count in here.items() if count >= end)
            yield Piece(name, weights, kind, start, end, wanted, most)


# ---------------------------------------------------------------------------------------------- what is kept


@cache
def source(protocol: str, method: str) -> str:
    """What the number depends on in our own files: another source is measured anew."""
    package = Path(vx.__file__).parent
    files = [package / "evaluation" / f"{protocol}.py", *sorted((package / "quantities").glob("*.py"))]
    files += [package / "evaluation" / f"{name}.py" for name in ("case", "data", "mass_accuracy", "ranks")]
    files += [
        package / "evaluation" / "methods.py" if method == ORACLE else package / "views" / f"{view_of(method)}.py"
    ]
    return f"{zlib.crc32(b''.join(file.read_bytes() for file in files)):08x}"


@cache
def weights_hash(name: str, weights: str) -> str:
    """Of every parameter and buffer."""
    found = 0
    for tensor in loaded(name, weights).module.state_dict().values():
        found = zlib.crc32(tensor.contiguous().view(-1).view(torch.uint8).numpy(), found)
    return f"{found:08x}"


def kept_in(folder: Path, piece: Piece) -> Path:
    place = folder / f"{piece.model}-{weights_hash(piece.model, piece.weights)}"
    return place / f"{piece.kind}-{piece.start}-{piece.end}.json"


def read(file: Path) -> Found:
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def key_of(protocol: str, method: str) -> str:
    return f"{protocol} {method} {source(protocol, method)}"


# ---------------------------------------------------------------------------------------------- the work


def work(piece: Piece, folder: Path) -> tuple[Piece, dict[str, float]]:
    """Measure what is not kept yet; returns seconds by protocol, "" for the maps themselves."""
    file, seconds = kept_in(folder, piece), defaultdict(float)
    found = read(file)
    keys = {(protocol, method): key for protocol, method, key in piece.wanted if key not in found}
    missing: dict[str, list[str]] = defaultdict(list)
    for protocol, method in keys:
        missing[protocol].append(method)
    if missing:

        def told(protocol: str, method: str, took: float) -> None:
            seconds[protocol] += took

        cases = cases_of(piece.model, piece.weights, piece.kind, piece.drawn)[piece.start : piece.end]
        model, shared = loaded(piece.model, piece.weights), shared_of(piece.model, piece.weights)
        scores = measure(model, cases, missing, first=piece.start, of_model=shared, told=told)
        found |= {keys[pair]: [value.tolist() for value in values] for pair, values in scores.items()}
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(f".{os.getpid()}.tmp")
        beside.write_text(json.dumps(found), "utf-8")
        beside.replace(file)
    return piece, dict(seconds)


@lru_cache(maxsize=1)
def shared_of(name: str, weights: str) -> dict:
    """What all pieces of a model share in one process."""
    return {}


def run_all(pieces: Sequence[Piece], folder: Path, workers: int) -> dict[str, float]:
    """Do the pieces in some processes, with a bar that tells the time left; returns seconds by protocol."""
    seconds: dict[str, float] = defaultdict(float)
    context = multiprocessing.get_context("spawn")
    form = "{l_bar}{bar}| {elapsed}, {remaining} left"
    pool = ProcessPoolExecutor(workers, context, initializer=torch.set_num_threads, initargs=(1,))
    try:
        with tqdm(total=sum(piece.cost for piece in pieces), bar_format=form) as bar:
            for done in as_completed([pool.submit(work, piece, folder) for piece in pieces]):
                piece, took = done.result()
                for protocol, one in took.items():
                    seconds[protocol] += one
                bar.update(piece.cost)
    finally:
        pool.shutdown(cancel_futures=True)
    return seconds


# ---------------------------------------------------------------------------------------------- the tables


def table_of(name: str, weights: str, scale: float, folder: Path) -> EvaluationResult:
    """What is kept of one model as a table."""
    scores: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
    cases: dict[str, list[Case]] = {}
    for piece in pieces_of(name, weights, scale):
        found = read(kept_in(folder, piece))
        for protocol, method, key in piece.wanted:
            cases[protocol] = cases_of(name, weights, piece.kind, piece.drawn)
            scores[protocol, method] += map(np.array, found[key])
    return tabulate(loaded(name, weights), rows_of(name), cases, scores)


def beside(trained: EvaluationResult, untrained: EvaluationResult) -> EvaluationResult:
    """One table with the columns of the untrained twin behind the others."""
    numbers = ("values", "low", "high", "counts")
    return replace(
        trained,
        protocols=(*trained.protocols, *(f"{name}, untrained" for name in untrained.protocols)),
        names=(*trained.names, *(UNTRAINED_NAME.format(name=name) for name in untrained.names)),
        better=(*trained.better, *untrained.better),
        **{name: np.hstack([getattr(trained, name), getattr(untrained, name)]) for name in numbers},
    )


def document(tables: dict[str, EvaluationResult]) -> str:
    """The tables of the classifiers as JSON, as `vitexplorer/core/standings.py` reads them."""
    plain = {
        name: {
            "weights": weights_hash(name, "auto"),
            "methods": table.methods,
            "numbers": table.protocols,
            "names": [(one.en, one.zh) for one in table.names],
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
    models: Annotated[str, typer.Option(help="Names with commas between them; all bundled ones when empty.")] = "",
    workers: Annotated[int, typer.Option(help="Processes; each runs the network in one thread.")] = os.cpu_count() or 1,
    folder: Annotated[Path, typer.Option(help="Where what was measured is kept.")] = Path("runs/truth"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="A file for the tables as JSON: assets/truth.json for the page.")
    ] = None,
) -> None:
    """Measure what is not kept yet, and print the tables."""
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
        said = ", ".join(f"{protocol or 'the maps'} {took / total:.0%}" for protocol, took in shares)
        typer.echo(f"\n{total:.0f} s of processors: {said}", err=True)


if __name__ == "__main__":
    typer.run(main)
