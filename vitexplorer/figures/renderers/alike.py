"""Similarity of two captures: a matrix whose rows and columns are blocks of two networks."""

from __future__ import annotations

from vitexplorer.core.types import AlikeResult
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers import matrix
from vitexplorer.figures.rendering import Renderer


def draw(page: Page, result: AlikeResult, *, colormap: str | None = None) -> float:
    """Draw the matrix. Option: colormap, as for a matrix."""
    return matrix.draw(page, result, result.axis_names, colormap=colormap)


RENDERER = Renderer(AlikeResult, draw)
