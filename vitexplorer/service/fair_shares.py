"""Who had how much of something that all share: whoever had least is next.

So that one who asks for little goes before one who asks for much, and nobody waits for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


class Shares:
    """Seconds that visitors had, of those who wait and of those who are still ahead of them."""

    def __init__(self) -> None:
        self._had: dict[str, float] = {}

    def enter(self, visitor: str, there: Iterable[str]) -> None:
        """One comes among those who are there: with the least of them, for being away saves nothing up."""
        least = min((self._had[other] for other in there), default=0.0)
        self._had[visitor] = max(self._had.get(visitor, 0.0), least)

    def of(self, visitors: Iterable[str]) -> float:
        """What the one of them had who had least; less than anybody where there is none of them."""
        return min((self._had[visitor] for visitor in visitors), default=-1.0)

    def pay(self, seconds: float, visitors: Collection[str], there: Iterable[str]) -> None:
        """Divide time among those it was spent for; what nobody who is there can fall behind is forgotten."""
        for visitor in visitors:
            self._had[visitor] += seconds / len(visitors)
        least = min((self._had[other] for other in there), default=float("inf"))
        self._had = {name: had for name, had in self._had.items() if name in there or had > least}
