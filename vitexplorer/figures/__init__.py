"""Figures: numbers with labels in, pictures and files out. Knows no model, no view and no tensor."""

from vitexplorer.figures.files import save
from vitexplorer.figures.rendering import render

__all__ = ["render", "save"]
