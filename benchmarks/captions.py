"""Truth of a caption's words: each reading of the view `caption` on worded scenes, by noun and by colour word.

    python -m benchmarks.captions [--scale 1]

Prints a Markdown table for each kind of word: readings by measurements, each a mean with its 95 % bootstrap interval.
Scenes and measurements are those of `benchmarks.words`, with one thing and with two to four, one of which is asked for.
Only words that the caption has count; the last row says in how many of the scenes it has them. Captions are English.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

import torch
import typer
from tqdm import tqdm

import vitexplorer as vx
from benchmarks.words import PARTS, SCENES, Part, best_overlap, cell, one_thing, priors, several_things
from vitexplorer.evaluation.pointing import points_at
from vitexplorer.quantities.texts.captions import READINGS
from vitexplorer.scenes.sentences import word

MODEL = "scenes_captioner"
COLUMNS = ("pointing, one", "best overlap", "pointing, several")


def measure(count: int) -> dict[tuple[Part, str, str], list[float]]:
    """Return the numbers of each case by kind of word, reading and measurement."""
    model, found = vx.load_model(MODEL), defaultdict(list)
    for seed, asked in enumerate(tqdm([*one_thing(count), *several_things(count)])):
        capture = vx.capture(model, asked.image, fit="squash")
        caption = vx.compute("caption", capture)
        is_one = len(asked.things) == 1
        pointing = COLUMNS[0 if is_one else 2]
        for part in PARTS:
            name = word(part, PARTS[part][asked.value(part)]).en
            is_there = name in caption.words
            found[part, "in the caption", pointing].append(float(is_there))
            if not is_there:
                continue
            for reading, maps in zip(READINGS, caption.values, strict=True):
                values = maps[caption.words.index(name)]
                found[part, f"`{reading}`", pointing].append(float(points_at(values, caption.grid, asked.mask)))
                if is_one:
                    found[part, f"`{reading}`", COLUMNS[1]].append(best_overlap(values, caption.grid, asked.mask))
            for row, numbers in priors(asked, caption.grid, seed):
                for key, number in numbers.items():
                    found[part, row, key].append(number)
    return found


def table(found: dict[tuple[Part, str, str], list[float]], part: Part) -> str:
    """Write the table of a kind of word, Markdown."""
    names = [*(f"`{reading}`" for reading in READINGS), "random", "largest thing", "in the caption"]
    rows = [["reading", *COLUMNS], ["---"] * (1 + len(COLUMNS))]
    rows += [[name, *(cell(found.get((part, name, column))) for column in COLUMNS)] for name in names]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(scale: Annotated[float, typer.Option(help="Share of the cases.")] = 1.0) -> None:
    torch.set_num_threads(1)
    found = measure(max(4, round(scale * SCENES)))
    for part in PARTS:
        typer.echo(f"\n### {MODEL}, by {'noun' if part == 'shape' else 'colour word'}\n\n{table(found, part)}")


if __name__ == "__main__":
    typer.run(main)
