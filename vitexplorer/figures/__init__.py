"""Figures: labelled numbers in, pictures and files out. This package knows no model, view or tensor."""

from vitexplorer.figures.files import save
from vitexplorer.figures.rendering import render

__all__ = ["render", "save"]
