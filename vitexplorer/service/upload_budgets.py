"""How much one visitor may send in an hour, so that nobody fills the disk alone.

A visitor is the address that a connection comes from, or that a proxy of ours says it comes from: a name that a browser
sends could be another one each time. A whole lecture hall may share an address, so the hour's budget is a generous one.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque

HOUR = 3600.0
"""seconds"""
MOST_KNOWN = 10_000
"""addresses that are remembered; those that have sent nothing for longest are forgotten first"""


class UploadBudgets:
    """What each address has sent within the last hour."""

    def __init__(self, most: int):
        """Args: most: bytes; 0 where anybody may send as much as they like."""
        self.most = most
        self._sent: OrderedDict[str, deque[tuple[float, int]]] = OrderedDict()

    def left(self, client: str) -> float:
        """Bytes that an address may still send; infinite where there is no bound."""
        if not self.most:
            return float("inf")
        return self.most - self._of_hour(client)

    def take(self, client: str, size: int) -> None:
        """So many bytes more were sent."""
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
        """Bytes of the last hour, of everybody who is remembered."""
        return sum(self._of_hour(client) for client in list(self._sent))
