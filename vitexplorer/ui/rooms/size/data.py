"""Data of the board of sizes: numbers and words; the browser draws them and adds nothing."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.ui.controls.field import Field
from vitexplorer.ui.shell.frame import FrameData


class CountRow(BaseModel):
    """One part, term or model of a table."""

    name: str
    count: int
    share: float | None = None
    """of the total, 0-1"""
    symbols: str = ""
    """the term in letters; D_s is D with the index s"""
    numbers: str = ""
    """the same with numbers"""
    beside: str = ""
    """another saying of the count: what a paper declares, or the count in short"""


class CountTableData(BaseModel):
    """Rows of counts and, where they add up to something, their total."""

    label: str = ""
    """on the button that opens it"""
    title: str = ""
    rows: list[CountRow] = []
    total: int | None = None
    compact: str = ""
    """the total in short: 5.7 M"""
    unit: str = ""
    """what was counted, as it follows a number"""
    note: str = ""
    columns: dict[str, str] = {}
    """headings: name, symbols, numbers, beside, count, share"""


class StoryRow(BaseModel):
    """One part of a model in every counting; None where one does not say."""

    key: str = "total"
    name: str = ""
    hint: str = ""
    """what is in it"""
    counted: int | None = None
    exact: int | None = None
    symbols: str = ""
    """of the exact formula"""
    rough: int | None = None
    rough_symbols: str = ""
    difference: int | None = None
    """exact - rough"""
    macs: int | None = None


class SizeData(FrameData):
    """A model that there is, or one that is designed."""

    asked: int = 0
    """number of the question that this answers, as the browser counts them; 0 where nobody asked"""
    design: str = ""
    """what is designed, as the address has it; empty for the model on the screen"""
    title: str = ""
    rows: list[StoryRow] = []
    total: StoryRow = StoryRow()
    notes: list[str] = []
    fields: list[Field] = []
    """where a design starts, and its sizes"""
    tables: list[CountTableData] = []
    """what is opened on demand"""
