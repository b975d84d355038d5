"""The comparisons of two captures as figures of a room."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from vitexplorer.core.types import Result
from vitexplorer.ui.panel import Shelf
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.compare.pairs import on_the_left
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Desk

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison


class PairFigures(RoomFigures):
    """The comparisons of the two sides; what controls offer is the left one's."""

    def __init__(self, desk: Desk):
        """Args: desk: with the address that names both sides."""
        super().__init__(desk, "compare")

    def records(self) -> Mapping[str, Comparison]:
        """All comparisons."""
        from vitexplorer.comparisons import COMPARISONS

        return COMPARISONS

    async def shelf(self, address: Address) -> Shelf:
        """The comparisons of the two that an address names."""
        from vitexplorer.comparisons import COMPARISONS, reading, refusal

        right = await self._right(address)
        return Shelf(COMPARISONS, lambda key, left: refusal(key, left, right), reading)

    def run(self, address: Address) -> Hashable:
        """Both pictures, with what is changed on each side."""
        return address.picture, address.left_change, address.other, address.other_change

    async def capture(self, address: Address) -> Capture:
        """The left one."""
        return await self.desk.engine.changed(address.picture, address.left_change)

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """One comparison, from memory where it is kept."""
        return await self.desk.engine.compare(self.run(address), capture, await self._right(address), view, given)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """The lines of Python that make both captures."""
        return self.desk.lines_of_two(address, on_the_left(address), view, settings)

    async def _right(self, address: Address) -> Capture:
        return await self.desk.engine.changed(address.other, address.other_change)
