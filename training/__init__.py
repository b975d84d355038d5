"""Recipes of the bundled models and the loop that trains them: `python -m training --help`."""
