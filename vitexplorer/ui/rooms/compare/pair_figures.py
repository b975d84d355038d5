"""Figure panel of the room Compare: comparisons of two captures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from vitexplorer.core.types import Result
from vitexplorer.ui.panel.figure_panel import ViewSource
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.compare.sides import right_as_left
from vitexplorer.ui.shell.address import Address

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison


class PairFigures(RoomFigures):
    """Panel of comparisons of the two sides; controls offer the blocks, heads and classes of the left side."""

    def records(self) -> Mapping[str, Comparison]:
        """Return the registry of comparisons."""
        from vitexplorer.comparisons import COMPARISONS

        return COMPARISONS

    async def source(self, address: Address) -> ViewSource:
        """Return the comparisons as a source, with refusals for the two sides of the address."""
        from vitexplorer.comparisons import COMPARISONS, reading, refusal

        left, right = await self.capture(address), await self._right(address)
        return ViewSource(left, COMPARISONS, lambda key: refusal(key, left, right), reading)

    def run(self, address: Address) -> Hashable:
        """Return the engine's key of both runs: both pictures, with the changes on each side."""
        return address.picture, address.left_change, address.other, address.other_change

    async def capture(self, address: Address) -> Capture:
        """Return the capture of the left side."""
        return await self.context.engine.changed(address.picture, address.left_change)

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute one comparison, or return it from memory."""
        return await self.context.engine.compare(self.run(address), capture, await self._right(address), view, given)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """Return Python code that makes both captures and compares them."""
        return self.context.lines_of_two(address, right_as_left(address), view, settings)

    async def _right(self, address: Address) -> Capture:
        return await self.context.engine.changed(address.other, address.other_change)
