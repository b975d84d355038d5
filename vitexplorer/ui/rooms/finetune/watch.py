"""Events of a training so far, read on from where the last reading ended, by whoever looks first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.finetune.job.events import EVENTS, Event, latest, read_events

MOST_KNOWN = 64
"""trainings whose events are kept in memory"""


@dataclass(frozen=True)
class Told:
    """The events of a training without what a resumption took back, and how far its file was read."""

    events: tuple[Event, ...] = ()
    read: int = 0
    """bytes"""


class Watch:
    """The events of trainings, shared by all pages."""

    def __init__(self):
        self._known: OrderedDict[Path, Told] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, folder: Path) -> Told:
        """Everything that was told so far; a file that became shorter is read anew."""
        with self._lock:
            told = self._known.pop(folder, Told())
            path = folder / EVENTS
            if not path.exists() or path.stat().st_size < told.read:
                told = Told()
            new, read = read_events(folder, told.read)
            told = Told(latest((*told.events, *new)) if new else told.events, read)
            self._known[folder] = told
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            return told
