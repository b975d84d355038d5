"""What the server remembers of each page that is open: for those who use it, not for whoever names a session.

gradio makes a state for every name that a request brings, and lets go of the one that was used least lately: some
hundred requests with made-up names pushed out everybody who was reading. Here a state is kept from the first thing that
is written into it, and who makes way is found among the pages that are closed, then among those of the address that has
most. gradio also keeps every component's last value for each visitor, for links of a kind that is closed here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

from vitexplorer.ui.kit.named_clients import client

CLOSED_SECONDS = 3600.0
"""in which a page that lost its connection, as a laptop asleep does, finds its state again"""


class Visitor(SessionState):
    """What is remembered of one page."""

    def __init__(self, blocks: gr.Blocks, written: Callable[[Visitor], None]):
        """Args: blocks: the app; written: called whenever something is written."""
        # Without blocks, of each of which gradio would write out the configuration: 37 ms and 240 kB for any name.
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))
        self.client, self.used = client.get(), time.monotonic()
        self._written = written

    def __setitem__(self, key: int, value: Any) -> None:
        """Remember a state's value, or a component that has become another."""
        super().__setitem__(key, value)
        self.config_values.clear()
        self._written(self)

    def _update_config(self, key: int) -> None:
        """Nothing is kept for it."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept for it."""


class Visitors(StateHolder):
    """Every page that is open."""

    def __init__(self, blocks: gr.Blocks, capacity: int):
        """Args: blocks: the app; capacity: most pages that are remembered."""
        super().__init__()
        self.blocks, self.capacity = blocks, capacity
        self._unwritten: WeakValueDictionary[str, Visitor] = WeakValueDictionary()

    def __getitem__(self, session_id: str) -> Visitor:
        """The page of this name; a new one is kept once something is written into it."""
        with self.lock:
            visitor = self.session_data.get(session_id) or self._unwritten.get(session_id)
            if visitor is None:
                visitor = Visitor(self.blocks, lambda written: self._keep(session_id, written))
                self._unwritten[session_id] = visitor
            visitor.used, visitor.is_closed = time.monotonic(), False
            return visitor

    def open(self, session_id: str) -> None:
        """A page has said that it is there; what it asks next may come before the answer."""
        self._keep(session_id, self[session_id])

    def _keep(self, session_id: str, visitor: Visitor) -> None:
        with self.lock:
            self.session_data[session_id] = visitor
            while len(self.session_data) > self.capacity:
                del self.session_data[self._who_makes_way(session_id)]

    def _who_makes_way(self, newest: str) -> str:
        """A page that is closed, otherwise one of the address that has most of them; the one used least lately."""
        pages = self.session_data.items()
        of_client = Counter(visitor.client for _, visitor in pages)

        def rank(name: str, visitor: Visitor) -> tuple[bool, bool, int, float]:
            return name != newest, visitor.is_closed, of_client[visitor.client], -visitor.used

        return max(self.session_data, key=lambda name: rank(name, self.session_data[name]))

    @property
    def counts(self) -> dict[str, int]:
        """How many pages are open, and how many have lately been closed."""
        closed = sum(visitor.is_closed for visitor in list(self.session_data.values()))
        return {"open": len(self.session_data) - closed, "closed": closed}

    def delete_all_expired_state(self) -> None:
        """Forget pages that have been closed for long; gradio asks for it every second."""
        last = time.monotonic() - CLOSED_SECONDS
        with self.lock:
            for name in [n for n, page in self.session_data.items() if page.is_closed and page.used < last]:
                del self.session_data[name]
