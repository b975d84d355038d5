"""Truth of text maps: every method of `text_map` on worded scenes whose things are known, by noun and by colour word.

    python -m benchmarks.words [--scale 1] [--models scenes_clip,...]

Prints a Markdown table for each model and kind of word: methods by measurements, each a mean with its 95 % bootstrap
interval. Scenes are those of the stream "test", unseen in training; the texts are English.

- one thing: does the highest patch lie on it (Zhang et al. 2016, arXiv 1608.00507), and the largest intersection over
  union of the thing with the patches above any threshold;
- two to four things, one of them asked for: the same highest patch, and the overlap of the thing with the patches whose
  largest number, among the texts of the scene's things and one for the ground, is its text's;
- four things in a 2 x 2 grid: positive numbers in the right cell over all positive ones (Böhle et al. 2021, arXiv
  2104.00032). Cosines have no zero of their own: the mean over all words of the kind is taken away first.

The last rows are a random map and the mask of the largest thing, whichever is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, get_args

import numpy as np
import torch
import typer
from tqdm import tqdm

import vitexplorer as vx
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import TextVector
from vitexplorer.controls.texts import text_vectors
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.case import covered_cells
from vitexplorer.evaluation.data import STREAM, grid_of
from vitexplorer.evaluation.intervals import mean_interval
from vitexplorer.evaluation.mass_accuracy import mass_accuracy
from vitexplorer.evaluation.pointing import points_at
from vitexplorer.models.catalog import catalog
from vitexplorer.quantities.texts.methods import METHODS, text_maps
from vitexplorer.scenes import Scene
from vitexplorer.scenes.paper import box_of
from vitexplorer.scenes.sentences import Phrase, of_nothing, with_article, word
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS, Thing, draw_worded

SCENES = 500
OTHER = "scenes_dino_patch16_192"
"""Second model of ProxyCLIP"""
VIEWS = ("attn_lrp", "generic_relevance", "grad_rollout", "grad_cam")
"""Views of a target, which take a text too"""
PARTS: dict[Part, Sequence[str]] = {"shape": LABEL_NAMES, "colour": COLOURS}
Part = Literal["shape", "colour"]
Measurement = Literal["pointing, one", "best overlap", "pointing, several", "argmax overlap", "grid pointing"]


@dataclass(frozen=True)
class Asked:
    """A picture and the thing in it that is asked for."""

    image: np.ndarray
    mask: np.ndarray
    """(height, width) bool: where the thing is visible"""
    things: tuple[Thing, ...]
    at: int
    """Number of the thing that is asked for"""
    largest: np.ndarray
    """(height, width) bool: mask of the largest thing"""
    cell: np.ndarray | None = None
    """(height, width) bool: the thing's cell, in a grid"""

    def value(self, part: Part) -> int:
        """Return the number of the shape or colour that is asked for."""
        return getattr(self.things[self.at], part)


def one_thing(count: int) -> Iterator[Asked]:
    for index in range(count):
        scene = draw_worded(STREAM, index, count=1)
        if scene.masks.any():
            yield Asked(scene.image, scene.masks[0], scene.things, 0, scene.masks[0])


def several_things(count: int) -> Iterator[Asked]:
    rng = np.random.default_rng(0)
    for index in range(count):
        scene = draw_worded(STREAM, index, count=int(rng.integers(2, 5)))
        at = int(rng.integers(len(scene.things)))
        if scene.masks.any((1, 2)).all():
            yield Asked(scene.image, scene.masks[at], scene.things, at, scene.masks[scene.masks.sum((1, 2)).argmax()])


def grids(count: int) -> Iterator[Asked]:
    """Make grids of scenes of one thing, of four shapes and four colours, and ask for one of their things."""
    rng = np.random.default_rng(1)
    drawn = [draw_worded(STREAM, index, count=1) for index in range(count)]
    scenes = [scene for scene in drawn if scene.masks.any()]
    for index in range(count):
        four = []
        for number in rng.permutation(len(scenes)):
            thing = scenes[number].things[0]
            if all(thing.shape != other.things[0].shape and thing.colour != other.things[0].colour for other in four):
                four.append(scenes[number])
            if len(four) == 4:
                break
        masks = [scene.masks[0] for scene in four]
        cases = grid_of([Scene(s.image, m, s.things[0].shape, box_of(m)) for s, m in zip(four, masks, strict=True)], 2)
        largest = max((case.mask for case in cases), key=np.sum)
        case = cases[index % 4]
        yield Asked(case.image, case.mask, tuple(s.things[0] for s in four), index % 4, largest, case.cell)


# ---------------------------------------------------------------------------------------------- maps


@cache
def other_model() -> vx.LoadedModel:
    return vx.load_model(OTHER)


class Maps:
    """Maps of all words of a kind, and of the ground, for one capture and method; gradients only of those asked for."""

    def __init__(self, capture: Capture, method: str, vectors: Sequence[TextVector]):
        self.capture, self.method, self.vectors = capture, method, vectors
        self.all = None
        if method in METHODS and METHODS[method].scores is None:
            second = vx.capture(other_model(), capture.input.pixels, fit="squash") if method == "proxyclip" else None
            self.all = text_maps(capture, METHODS[method], vectors, second).float().cpu().numpy()

    def of(self, number: int) -> np.ndarray:
        """Return the map of one text, (rows, cols)."""
        grid = self.capture.grid(self.capture.depth - 1)
        if self.all is not None:
            return self.all[number].reshape(grid.rows, grid.cols)
        if self.method in METHODS:
            values = text_maps(self.capture, METHODS[self.method], [self.vectors[number]])[0]
            return values.float().cpu().numpy().reshape(grid.rows, grid.cols)
        return vx.compute(self.method, self.capture, target=self.vectors[number].vector).values

    def beside_others(self, number: int) -> np.ndarray:
        """Return the map less the mean over all words of the kind, where it is a map of cosines."""
        values = self.of(number)
        return values if self.all is None else values - self.all[:-1].mean(0).reshape(values.shape)


def texts_of(part: Part) -> list[str]:
    """Return the words of a kind, "a gear" or "red", and last a text for the ground."""
    say = (lambda value: with_article(Phrase(shape=value)).en) if part == "shape" else (lambda v: word("colour", v).en)
    return [*map(say, PARTS[part]), of_nothing().text.en]


def rows_of(capture: Capture) -> list[str]:
    return [key for key, method in METHODS.items() if method.refuses(capture) is None] + list(VIEWS)


# ---------------------------------------------------------------------------------------------- measurements


def best_overlap(values: np.ndarray, grid: PatchGrid, mask: np.ndarray) -> float:
    """Compute the largest intersection over union of the mask with the highest cells, however many they are."""
    cover = covered_cells(mask, grid).ravel()[np.argsort(-values.ravel(), kind="stable")]
    inside = cover.cumsum()
    return float((inside / (np.arange(1, len(cover) + 1) + cover.sum() - inside)).max())


def overlap_of(cells: np.ndarray, grid: PatchGrid, mask: np.ndarray) -> float:
    cover = covered_cells(mask, grid)
    inside = (cover * cells).sum()
    return float(inside / (cells.sum() + cover.sum() - inside))


def measured(asked: Asked, maps: Maps, part: Part) -> dict[Measurement, float]:
    grid, value = maps.capture.grid(maps.capture.depth - 1), asked.value(part)
    if asked.cell is not None:
        return {"grid pointing": mass_accuracy(maps.beside_others(value), grid, asked.cell)}
    values = maps.of(value)
    pointing = float(points_at(values, grid, asked.mask))
    if len(asked.things) == 1:
        return {"pointing, one": pointing, "best overlap": best_overlap(values, grid, asked.mask)}
    numbers = [getattr(thing, part) for thing in asked.things]
    scores = np.stack([maps.of(number) for number in (*numbers, len(PARTS[part]))])
    best = scores.argmax(0) == asked.at
    return {"pointing, several": pointing, "argmax overlap": overlap_of(best, grid, asked.mask)}


def priors(asked: Asked, grid: PatchGrid, seed: int) -> Iterator[tuple[str, dict[Measurement, float]]]:
    """Yield the measurements of a random map and of the largest thing's mask."""
    random = np.random.default_rng(seed).normal(size=(grid.rows, grid.cols))
    for name, values in (("random", random), ("largest thing", covered_cells(asked.largest, grid))):
        if asked.cell is not None:
            yield name, {"grid pointing": mass_accuracy(values, grid, asked.cell)}
        elif len(asked.things) == 1:
            pointing = float(points_at(values, grid, asked.mask))
            yield name, {"pointing, one": pointing, "best overlap": best_overlap(values, grid, asked.mask)}
        else:
            yield name, {"pointing, several": float(points_at(values, grid, asked.mask))}


def measure_model(name: str, count: int) -> dict[tuple[Part, str, Measurement], list[float]]:
    """Return the numbers of each case by kind of word, method and measurement."""
    model, found = vx.load_model(name), defaultdict(list)
    cases = [*one_thing(count), *several_things(count), *grids(count)]
    for seed, asked in enumerate(tqdm(cases, desc=name)):
        capture = vx.capture(model, asked.image, fit="squash")
        grid = capture.grid(capture.depth - 1)
        for part in PARTS:
            vectors = text_vectors(texts_of(part), capture)
            for method in rows_of(capture):
                for key, number in measured(asked, Maps(capture, method, vectors), part).items():
                    found[part, method, key].append(number)
            for row, numbers in priors(asked, grid, seed):
                for key, number in numbers.items():
                    found[part, row, key].append(number)
    return found


def table(found: dict[tuple[Part, str, Measurement], list[float]], part: Part) -> str:
    """Write the table of a kind of word, Markdown."""
    methods = list(dict.fromkeys(method for kind, method, _ in found if kind == part))
    columns = get_args(Measurement)
    rows = [["method", *columns], ["---"] * (1 + len(columns))]
    for method in methods:
        numbers = (found.get((part, method, column)) for column in columns)
        rows.append([f"`{method}`" if method in METHODS or method in VIEWS else method, *map(cell, numbers)])
    rows.append(["cases", *(str(len(found[part, methods[0], column])) for column in columns)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cell(numbers: list[float] | None) -> str:
    """Write the mean of numbers with its interval; empty without numbers."""
    if not numbers:
        return ""
    mean, low, high = mean_interval(np.array(numbers), np.arange(len(numbers)))
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"


def main(
    scale: Annotated[float, typer.Option(help="Share of the cases.")] = 1.0,
    models: Annotated[str, typer.Option(help="Names, with commas; all bundled models with texts if empty.")] = "",
) -> None:
    torch.set_num_threads(1)
    names = models.split(",") if models else [entry.name for entry in catalog() if entry.reads_texts]
    for name in names:
        found = measure_model(name, max(4, round(scale * SCENES)))
        for part in PARTS:
            typer.echo(f"\n### {name}, by {'noun' if part == 'shape' else 'colour word'}\n\n{table(found, part)}")


if __name__ == "__main__":
    typer.run(main)
