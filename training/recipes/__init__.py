"""Recipes: each file defines one bundled model as `RECIPE`. A new model is a new file here."""

import importlib
import pkgutil

from training.recipe import Recipe


def all_recipes() -> dict[str, Recipe]:
    """Import every recipe, by the name of its model."""
    files = sorted(file.name for file in pkgutil.iter_modules(__path__))
    recipes = [importlib.import_module(f"{__name__}.{file}").RECIPE for file in files]
    return {recipe.name: recipe for recipe in recipes}
