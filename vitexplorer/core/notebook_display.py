"""What shows itself in a notebook. How is known above, in `vitexplorer.notebook`; only a notebook loads it."""

from __future__ import annotations

import importlib
from typing import Any

from vitexplorer.core.summaries import Summarised


class NotebookDisplay(Summarised):
    """A result, a capture, a model, a fine-tuning run: the last line of a notebook's cell is its figure or card."""

    def _repr_html_(self) -> str:
        """It as a piece of a page that needs neither a server nor a network."""
        return _notebook().html_of(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The same in each form that a notebook chooses from; IPython leaves out what it does not want."""
        return _notebook().bundle_of(self)


def _notebook() -> Any:
    return importlib.import_module("vitexplorer.notebook")
