"""Component of the size board, and its data: numbers and texts, which the browser only draws."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.controls.field import Field
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData


class CountRow(BaseModel):
    """One part, term or model of a table."""

    name: str
    count: int
    share: float | None = None
    """Share of the total, 0-1"""
    symbols: str = ""
    """Term of the formula in letters; D_s is D with the index s"""
    numbers: str = ""
    """Term of the formula with numbers"""
    beside: str = ""
    """Second form of the count: the size that a paper declares, or the count in short"""


class CountTableData(BaseModel):
    """Rows of counts and, where they add up to something, their total."""

    label: str = ""
    """Text of the button that opens the table"""
    title: str = ""
    rows: list[CountRow] = []
    total: int | None = None
    compact: str = ""
    """Total in short: 5.7 M"""
    unit: str = ""
    """Unit as it follows a number"""
    note: str = ""
    columns: dict[str, str] = {}
    """Headings of the columns: name, symbols, numbers, beside, count, share"""


class StoryRow(BaseModel):
    """One part of a model by every way of counting; None where a way gives no number."""

    key: str = "total"
    name: str = ""
    hint: str = ""
    """Content of the part"""
    counted: int | None = None
    exact: int | None = None
    symbols: str = ""
    """Terms of the exact formula"""
    rough: int | None = None
    rough_symbols: str = ""
    difference: int | None = None
    """Exact count minus rough count"""
    macs: int | None = None


class SizeData(FrameData):
    """Size of the model on the screen, or of a design."""

    asked: int = 0
    """Number of the question that this answers, counted by the browser; 0 where it answers none"""
    design: str = ""
    """Design as in the address; empty for the model on the screen"""
    title: str = ""
    rows: list[StoryRow] = []
    total: StoryRow = StoryRow()
    notes: list[str] = []
    fields: list[Field] = []
    """Controls of a design: its start and its sizes"""
    tables: list[CountTableData] = []
    """Tables that open on demand"""


class SizeBoard(Widget):
    """Component with the parts of a model by every way of counting, sliders for a design, and tables on demand.

    Event: `design` with `text`, the design as in the address, and `asked`.
    """

    data_model = SizeData
    sends = ("design",)
