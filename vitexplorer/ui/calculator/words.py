"""Every word of a count table that does not come with the counts."""

from __future__ import annotations

from vitexplorer.words import Text

CALCULATOR_WORDS: dict[str, Text] = {
    "part": Text("Part", "部分"),
    "term": Text("Term", "项"),
    "symbols": Text("Formula", "公式"),
    "numbers": Text("With numbers", "代入数值"),
    "share": Text("Share", "占比"),
    "total": Text("Total", "合计"),
    "grew": Text("more than before", "比之前多"),
    "fell": Text("less than before", "比之前少"),
}
