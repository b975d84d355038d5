"""Display of records in notebooks, by drawing code that the package's root has registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: list[Callable[[], Any]] = []
"""Imports the drawing code: a module with `html_of(record)`, a piece of a page, and `bundle_of(record)` by MIME type"""


def register_drawing(load: Callable[[], Any]) -> None:
    """Register the function that imports the drawing code; it is called when a notebook first shows a record."""
    _loaders[:] = [load]


class NotebookDisplay:
    """A record that notebooks draw: as the last line of a cell it is its figure or card."""

    def _repr_html_(self) -> str:
        return _loaders[0]().html_of(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return _loaders[0]().bundle_of(self)  # IPython leaves out what it does not want
