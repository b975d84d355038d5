"""Cache of the events of trainings; a look reads only what is new in the event file."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.finetune.job.events import EVENTS, Event, latest, read_events

MOST_KNOWN = 64
"""Most trainings whose events are in memory"""


@dataclass(frozen=True)
class EventLog:
    """Events of a training, without those that a resumption replaced."""

    events: tuple[Event, ...] = ()
    read: int = 0
    """Bytes of the event file that were read"""


class Watch:
    """Events of trainings, shared by all pages."""

    def __init__(self):
        self._known: OrderedDict[Path, EventLog] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, folder: Path) -> EventLog:
        """Return all events so far; a file that became shorter is read again from the start."""
        with self._lock:
            log = self._known.pop(folder, EventLog())
            path = folder / EVENTS
            if not path.exists() or path.stat().st_size < log.read:
                log = EventLog()
            new, read = read_events(folder, log.read)
            log = EventLog(latest((*log.events, *new)) if new else log.events, read)
            self._known[folder] = log
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            return log
