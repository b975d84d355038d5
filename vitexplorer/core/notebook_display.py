"""Display of records in notebooks, by drawing code that the package's root has registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Drawing(Protocol):
    """Functions that draw a record for a notebook."""

    def html_of(self, thing: Any) -> str:
        """Draw a record as a piece of a page that needs neither a server nor a network."""

    def bundle_of(self, thing: Any) -> dict[str, Any]:
        """Draw a record in each form that the notebook can choose from, by MIME type."""


_loaders: list[Callable[[], Drawing]] = []


def register_drawing(load: Callable[[], Drawing]) -> None:
    """Register the function that imports the drawing code; it is called when a notebook first shows a record."""
    _loaders[:] = [load]


class NotebookDisplay:
    """A record that notebooks draw: as the last line of a cell it is its figure or card."""

    def _repr_html_(self) -> str:
        return _loaders[0]().html_of(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return _loaders[0]().bundle_of(self)  # IPython leaves out what it does not want
