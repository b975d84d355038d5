"""Changed runs of the page, kept like plain ones: one pass for each picture and set of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vitexplorer.cache import BytesCache
from vitexplorer.settings import Settings
from vitexplorer.ui.engine import Engine, Picture

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

SHARE = 4
"""changed runs may take this part of the memory for captures"""


class ChangedRuns:
    """The changed runs of one process."""

    def __init__(self, engine: Engine, settings: Settings):
        """Args: engine: has the plain runs; settings: how much memory there is."""
        self._engine = engine
        self._kept: BytesCache[tuple[Picture, str], Capture] = BytesCache(
            (settings.capture_cache_megabytes << 20) // SHARE, lambda capture: capture.nbytes
        )

    def capture(self, picture: Picture, changes: str) -> Capture:
        """The changed run, from memory or by one pass; the plain one where no change is named.

        Raises ExplainedError for changes that are not possible, and as `Turns.need`.
        """
        from vitexplorer.interventions import intervene

        plain = self._engine.capture(picture)
        if not changes:
            return plain
        return self._engine.turns.kept(self._kept, (picture, changes), lambda _: intervene(plain, changes))
