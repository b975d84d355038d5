"""Upload budgets: bytes that one client may send in an hour, so that no one fills the disk alone.

A client is the address of its connection, or the one that a trusted proxy gives, since a name sent by the browser could
change each time. A lecture hall may share one address, so the budget is generous.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque

HOUR = 3600.0
"""Seconds"""
MOST_KNOWN = 10_000
"""Most addresses that are remembered; the longest silent are forgotten first"""


class UploadBudgets:
    """Bytes that each address has sent within the last hour."""

    def __init__(self, most: int):
        """Start with no uploads; `most` are bytes an hour and address, 0 sets no limit."""
        self.most = most
        self._sent: OrderedDict[str, deque[tuple[float, int]]] = OrderedDict()

    def left(self, client: str) -> float:
        """Return the bytes that an address may still send; infinite without a limit."""
        if not self.most:
            return float("inf")
        return self.most - self._of_hour(client)

    def take(self, client: str, size: int) -> None:
        """Count bytes that an address has sent."""
        if not self.most or not size:
            return
        sent = self._sent.setdefault(client, deque())
        self._sent.move_to_end(client)
        sent.append((time.monotonic(), size))
        while len(self._sent) > MOST_KNOWN:
            self._sent.popitem(last=False)

    def _of_hour(self, client: str) -> int:
        sent = self._sent.get(client)
        if sent is None:
            return 0
        while sent and sent[0][0] < time.monotonic() - HOUR:
            sent.popleft()
        if not sent:
            del self._sent[client]
        return sum(size for _, size in sent)

    @property
    def of_all(self) -> int:
        """Bytes of the last hour, of all remembered addresses."""
        return sum(self._of_hour(client) for client in list(self._sent))
