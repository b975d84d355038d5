"""Parts of a model: nested rectangles of their counts, and bars of what they add to a logit."""

from __future__ import annotations

from itertools import groupby

from vitexplorer.core.format import percent, signed
from vitexplorer.core.part_names import PARTS, part_text
from vitexplorer.core.text import Text
from vitexplorer.core.types import ContributionsResult, TreeResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.meanings import OTHER, part_color
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import width

HEIGHT = 640
READING = Text(
    "An area is a count; one colour is one kind of module. In the page a click enlarges a rectangle.",
    "面积表示数目，同一颜色为同一类模块。在页面中点击矩形即可放大。",
)
LABELS, NUMBERS = 104, 74
"""Pixels left and right of the bars"""
BAR, BETWEEN = 16, 8
SUMMANDS = {"embedding": Text("embedding", "嵌入"), "constant": Text("constant", "常数项")}
BRANCHES = {"attn": PARTS["attn"], "mlp": PARTS["mlp"], "attn + mlp": Text("attention + MLP", "注意力 + MLP")}
TOTAL = Text("{unit} {logit} = sum of all bars", "{unit} {logit} = 所有条形之和")


def kinds_of(result: TreeResult) -> list[str]:
    """Return the kind of each module, which decides its colour: its part of the block, or elsewhere of the model."""
    kinds: list[str] = []
    for name, parent in zip(result.names, result.parents, strict=True):
        opens = parent < 0 or result.names[parent].startswith(("block ", "stage "))
        kinds.append(name.partition(" ")[0] if opens else kinds[parent])
    return kinds


def draw_tree(page: Page, result: TreeResult, y: float) -> float:
    """Draw the total, and rectangles whose areas are the counts (a treemap); a click on one enlarges it."""
    total = Text("{total:,} {unit}", "{total:,} {unit}").format(total=result.total, unit=result.unit)
    top = page.total(y, total) + 14
    box = Box(page.margin, top, page.inner, page.high(HEIGHT, top + 8))
    labels = [part_text(name).in_(page.language) for name in result.names]
    counts = result.values.tolist()
    colors = [OTHER if at in result.parents else part_color(kind) for at, kind in enumerate(kinds_of(result))]
    paths: list[str] = []
    for label, parent in zip(labels, result.parents, strict=True):
        paths.append(f"{paths[parent]} › {label}" if parent >= 0 else label)
    shares = [percent(count / max(result.total, 1)) for count in counts]
    words = [f"{path}\n{count:,} ({share})" for path, count, share in zip(paths, counts, shares, strict=True)]
    page.treemap(box, labels, result.parents, counts, colors, words)
    return caption_below(page, box.bottom + 20, result, remarks=(READING,))


def row_and_branch(part: str) -> tuple[str, str]:
    """Split `block 3 attn` into (`block 3`, `attn`); a part that is no branch of a block is a row of its own."""
    words = part.split(" ", 2)
    return (f"{words[0]} {words[1]}", words[2]) if len(words) > 1 else (part, "")


def draw_contributions(page: Page, result: ContributionsResult, y: float) -> float:
    """Draw the sum, and bars to both sides of zero: rows for the embedding, for each block and for the constant."""
    y = page.total(y, TOTAL.format(unit=result.unit, logit=signed(result.logit)))
    y = _bars(page, _legend(page, y + 10, result), result)
    return caption_below(page, y + 16, result)


def _legend(page: Page, y: float, result: ContributionsResult) -> float:
    """Draw the branches that occur. Returns y below them."""
    x = float(page.margin)
    for branch in dict.fromkeys(row_and_branch(part)[1] for part in result.parts):
        if branch:
            page.rectangle(Box(x, y + 2, 14, 14), fill=part_color(branch))
            page.small(x + 20, y, BRANCHES[branch])
            x += 44 + width(BRANCHES[branch].in_(page.language), SMALL_SIZE)
    return y + 30


def _bars(page: Page, y: float, result: ContributionsResult) -> float:
    """Draw the rows. Returns y below them."""
    low, high = min(0.0, result.values.min()), max(0.0, result.values.max())
    left, room = page.margin + LABELS, page.inner - LABELS - NUMBERS
    per_logit = room / ((high - low) or 1)
    zero, top = left - low * per_logit, y
    rows = len({row_and_branch(part)[0] for part in result.parts})
    slide = (BAR + 2) * len(result.parts) + BETWEEN * rows
    stretch = max(1.0, page.high(slide, y + 16 + page.margin, 0) / slide)
    bar, gap, between = (stretch * pixels for pixels in (BAR, 2, BETWEEN))
    pieces: list[tuple[Box, str, str]] = []
    numbered = zip(result.parts, result.values.tolist(), strict=True)
    for row, bars in groupby(numbered, key=lambda part_and_value: row_and_branch(part_and_value[0])[0]):
        label, start = SUMMANDS.get(row) or part_text(row), y
        for part, value in bars:
            branch = row_and_branch(part)[1]
            words = label.in_(page.language) + (f": {BRANCHES[branch].in_(page.language)}" if branch else "")
            length = value * per_logit
            box = Box(min(zero, zero + length), y, abs(length), bar)
            pieces.append((box, part_color(part), f"{words}\n{signed(value)}"))
            page.small(page.right, y + bar / 2, signed(value), anchor="right", vertical="middle")
            y += bar + gap
        page.small(page.margin, (start + y - gap) / 2, label, vertical="middle")
        y += between
    page.bars(pieces, gap=0)
    page.line((zero, top - 4), (zero, y - between + 4), page.theme.muted)
    return y


RENDERERS = (Renderer(TreeResult, draw_tree), Renderer(ContributionsResult, draw_contributions))
