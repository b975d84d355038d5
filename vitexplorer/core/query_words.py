"""Display names of queries and prefix tokens."""

from __future__ import annotations

from vitexplorer.core.text import Text, same

PREFIX_WORDS = {
    "cls": Text("class token", "类别标记"),
    "dist": Text("distillation token", "蒸馏标记"),
    "mean": Text("mean over patches", "图块平均"),
}


def query_text(query: str | tuple[int, int]) -> Text:
    """Name a query: the class token, the mean over patches, or the patch in row 3, column 5 (counted from 0)."""
    if isinstance(query, str):
        return PREFIX_WORDS[query]
    return Text("patch in row {row}, column {col}", "第 {row} 行第 {col} 列的图块").format(row=query[0], col=query[1])


def prefix_text(name: str) -> Text:
    """Name a prefix token; registers and learned prompts are numbered from 1."""
    if name.startswith("reg"):
        return Text("register {n}", "寄存器标记 {n}").format(n=name[3:])
    if name.startswith("prompt"):
        return Text("prompt token {n}", "提示标记 {n}").format(n=name[6:])
    return PREFIX_WORDS.get(name, same(name))
