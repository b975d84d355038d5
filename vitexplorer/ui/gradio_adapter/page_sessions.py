"""States of open pages, safe from eviction by requests with invented session names.

gradio makes a state for every session name in a request and evicts the least recently used: some hundred requests with
invented names evicted everybody. Here a state is kept from the first write on; closed pages are evicted first, then
pages of the client with the most. gradio also stores every component's last value per visitor, for deep links, which
are closed here.
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

from vitexplorer.ui.kit.requests import client

CLOSED_SECONDS = 3600.0
"""Seconds that the state of a disconnected page is kept, for laptops that sleep"""


class Visitor(SessionState):
    """State of one page."""

    def __init__(self, blocks: gr.Blocks, written: Callable[[Visitor], None]):
        """Make an empty state of the app `blocks`; `written` is called at every write."""
        # Without blocks: gradio would copy each block's configuration, 37 ms and 240 kB for any session name.
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))
        self.client, self.used = client.get(), time.monotonic()
        self._written = written

    def __setitem__(self, key: int, value: Any) -> None:
        """Store the value of a State, or an updated component."""
        super().__setitem__(key, value)
        self.config_values.clear()
        self._written(self)

    def _update_config(self, key: int) -> None:
        """Store nothing."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Store nothing."""


class Visitors(StateHolder):
    """States of all open pages."""

    def __init__(self, blocks: gr.Blocks, capacity: int):
        """Hold at most `capacity` states of the app `blocks`."""
        super().__init__()
        self.blocks, self.capacity = blocks, capacity
        self._unwritten: WeakValueDictionary[str, Visitor] = WeakValueDictionary()

    def __getitem__(self, session_id: str) -> Visitor:
        """Return the state of this session; a new one is kept from its first write on."""
        with self.lock:
            visitor = self.session_data.get(session_id) or self._unwritten.get(session_id)
            if visitor is None:
                visitor = Visitor(self.blocks, lambda written: self._keep(session_id, written))
                self._unwritten[session_id] = visitor
            visitor.used, visitor.is_closed = time.monotonic(), False
            return visitor

    def open(self, session_id: str) -> None:
        """Keep the state of a page that opens; its next event may arrive before the answer to this one."""
        self._keep(session_id, self[session_id])

    def _keep(self, session_id: str, visitor: Visitor) -> None:
        with self.lock:
            self.session_data[session_id] = visitor
            while len(self.session_data) > self.capacity:
                del self.session_data[self._page_to_drop(session_id)]

    def _page_to_drop(self, newest: str) -> str:
        """Choose a closed page, else one of the client with the most pages; among these the least recently used."""
        pages = self.session_data.items()
        of_client = Counter(visitor.client for _, visitor in pages)

        def rank(name: str, visitor: Visitor) -> tuple[bool, bool, int, float]:
            return name != newest, visitor.is_closed, of_client[visitor.client], -visitor.used

        return max(self.session_data, key=lambda name: rank(name, self.session_data[name]))

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of open and of recently closed pages."""
        closed = sum(visitor.is_closed for visitor in list(self.session_data.values()))
        return {"open": len(self.session_data) - closed, "closed": closed}

    def delete_all_expired_state(self) -> None:
        """Drop pages closed for longer than CLOSED_SECONDS; gradio calls this every second."""
        last = time.monotonic() - CLOSED_SECONDS
        with self.lock:
            for name in [n for n, page in self.session_data.items() if page.is_closed and page.used < last]:
                del self.session_data[name]
