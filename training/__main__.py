"""Train, export and measure the bundled models: `python -m training --help`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import cv2
import typer

from training import loop
from training.export import export as export_model
from training.recipe import Recipe
from training.recipes import all_recipes
from training.shipped import CONFIG, stated
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import ASSETS

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)
RECIPES = all_recipes()
Runs = Annotated[Path, typer.Option(help="Folder of checkpoints and drawn scenes.")]


def _recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise typer.BadParameter(unknown_name("model", name, RECIPES).text.en)
    return RECIPES[name]


@app.command()
def train(name: str, seed: int = 0, runs: Runs = Path("runs/bundled"), export_after: bool = True) -> None:
    """Train a bundled model, going on from its checkpoint, and put it into assets/models."""
    recipe = _recipe(name)
    pool = recipe.pool("train", recipe.num_scenes, folder=runs)
    loop.train(recipe.learner, recipe.schedule, pool, runs / name, seed=seed)
    if export_after:
        export(name, seed, runs)


@app.command()
def export(name: str, seed: int = 0, runs: Runs = Path("runs/bundled")) -> None:
    """Put the newest checkpoint of a run into assets/models, with its figures and card."""
    recipe = _recipe(name)
    learner = recipe.start(seed)
    run = loop.restore(learner, runs / name)
    for figure, value in export_model(recipe, learner, run, ASSETS / "models" / name).items():
        typer.echo(f"{figure}: {value:.3f}")


@app.command()
def measure(name: Annotated[str, typer.Argument(help="All bundled models when left out.")] = "") -> None:
    """Print the figures of the cards again, from the shipped weights."""
    for recipe in [_recipe(name)] if name else RECIPES.values():
        folder = ASSETS / "models" / recipe.name
        if not (folder / CONFIG).exists():
            typer.echo(f"{recipe.name}  was not trained yet")
            continue
        card = stated(folder)
        for figure, value in recipe.measure(recipe, folder).items():
            typer.echo(f"{recipe.name}  {figure}: {value:.3f} (card: {card[figure]:.3f})")


if __name__ == "__main__":
    cv2.setNumThreads(1)  # many small pictures: its threads would only fight with torch's
    app()
