"""Per-visitor accounting for least-attained-service scheduling: the visitor with the least time is next.

Visitors with little work go before visitors with much, and nobody waits for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


class Shares:
    """Seconds of work that each visitor has received: present visitors, and absent ones with more than those."""

    def __init__(self) -> None:
        self._received: dict[str, float] = {}

    def enter(self, visitor: str, present: Iterable[str]) -> None:
        """Add a visitor to the present ones, with at least their smallest time, so that absence saves nothing up."""
        least = min((self._received[other] for other in present), default=0.0)
        self._received[visitor] = max(self._received.get(visitor, 0.0), least)

    def of(self, visitors: Iterable[str]) -> float:
        """Return the smallest time of these visitors; -1 without visitors, which is less than anybody's."""
        return min((self._received[visitor] for visitor in visitors), default=-1.0)

    def pay(self, seconds: float, visitors: Collection[str], present: Iterable[str]) -> None:
        """Divide time among its visitors, and forget absent visitors with no more than every present one."""
        for visitor in visitors:
            self._received[visitor] += seconds / len(visitors)
        least = min((self._received[other] for other in present), default=float("inf"))
        self._received = {
            name: received for name, received in self._received.items() if name in present or received > least
        }
