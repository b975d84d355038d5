"""Parameter counts: a bar for each part of a model and, if the family has one, the closed formula below.

Names are read by their numbers and dots. `blocks.3.attn.qkv` belongs to the row `blocks.3`, its piece is `attn.qkv` and
its kind, the colour, `attn`. Consecutive rows with equal counts, such as `block 0` and `block 1` of a ViT, share one
bar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from vitexplorer.core.format import percent
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import CostResult, CountResult, Term
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.meanings import OTHER, part_color
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE, TEXT_SIZE
from vitexplorer.figures.typesetting import width

LABELS = 290  # pixels left of the bars
SHARE, NUMBER_WIDTH = 76, 114  # pixels of a share, and least pixels of a number
DIGIT = 0.66  # width of a digit, in units of the font size, a little generous: the bars end before it
BAR, STEP, MOST = 26, 36, 72
"""Pixels of a bar, of a row, and of a row at most"""
NUMBER = re.compile(r"(?<![^. ])\d+(?![^. ])")  # between dots, spaces or the ends: no number in `norm1`
TABLE = ((0, 300), (310, 220), (540, 520))
"""Left edge and width of the columns of text on a slide; a narrow page has only the first"""
HEADING, TERM = 28, 27
"""Pixels of the heading of the terms, and of one of them on one line"""
NARROW, BESIDE = 700, 640
"""Widths in pixels below which a term is only its name, and below which a label stands over its bar"""
TWO, BETWEEN = 520, 32
"""Width in pixels from which such terms have two columns, and pixels between the columns"""


@dataclass
class Row:
    """Equal neighbours, `count` of them, with the counts of one of them piece by piece."""

    first: str
    last: str
    count: int = 1
    pieces: dict[tuple[str, str], int] = field(default_factory=dict)
    """(kind, piece) -> count of one neighbour"""

    @property
    def total(self) -> int:
        """Sum of all pieces of all neighbours."""
        return self.count * sum(self.pieces.values())

    @property
    def together(self) -> Iterator[tuple[str, str, int]]:
        """Yield kind, piece and count of all neighbours."""
        return ((kind, piece, self.count * each) for (kind, piece), each in self.pieces.items())

    @property
    def label(self) -> Text:
        """Return `classifier`, or `block 0 … 11 (12 × 444,864)`."""
        if self.count == 1:
            return part_text(self.first)
        return Text("{first} … {last} ({count} × {each:,})", "{first} … {last}（{count} × {each:,}）").format(
            first=part_text(self.first), last=_last_number(self.last), count=self.count, each=self.total // self.count
        )


def place(part: str) -> tuple[str, str, str]:
    """Return row, kind and piece of a name.

    The row ends with the first number, the piece begins after the last. Without a number the word before the first
    dot is both row and kind.
    """
    numbers = [*NUMBER.finditer(part)]
    if not numbers:
        row = part.split(".")[0]
        return row, row, part
    row, after = part[: numbers[0].end()], part[numbers[-1].end() :].lstrip(". ")
    piece = after or part[: numbers[0].start()].rstrip(". ").rpartition(".")[2] or part
    return row, piece.split(".")[0], piece


def rows_of(parts: Iterable[tuple[str, int]]) -> list[Row]:
    """Gather parts into rows, in their order; equal numbered neighbours become one."""
    separate: dict[str, Row] = {}
    for part, count in parts:
        name, kind, piece = place(part)
        pieces = separate.setdefault(name, Row(name, name)).pieces
        pieces[kind, piece] = pieces.get((kind, piece), 0) + count
    return merged(separate.values())


def merged(separate: Iterable[Row]) -> list[Row]:
    """Merge numbered neighbours with equal counts into one row."""
    rows: list[Row] = []
    for row in separate:
        before = rows[-1] if rows else None
        if before and _stem(before.first) == _stem(row.first) != "" and before.pieces == row.pieces:
            before.last, before.count = row.last, before.count + 1
        else:
            rows.append(row)
    return rows


def _stem(row: str) -> str:
    """Return the part of a row's name before its final number; empty if there is none."""
    return row[: row.rindex(last)] if (last := _last_number(row)) else ""


def _last_number(row: str) -> str:
    numbers = NUMBER.findall(row)
    return numbers[-1] if numbers and row.endswith(numbers[-1]) else ""


def draw_count(page: Page, result: CountResult, y: float) -> float:
    """Draw the total, the bars and the terms of the closed formula."""
    return _draw(page, result, y, rows_of(zip(result.parts, result.values.tolist(), strict=True)))


def draw_cost(page: Page, result: CostResult, y: float) -> float:
    """Draw the same of the cost of one image, with bars split by kind of multiplication."""
    kinds = [kind.in_(page.language) for kind in result.kinds]
    rows = [
        Row(part, part, pieces={(kind, kind): count for kind, count in zip(kinds, split, strict=True) if count})
        for part, split in zip(result.parts, result.split.tolist(), strict=True)
    ]
    return _draw(page, result, y, merged(rows))


def _draw(page: Page, result: CountResult, y: float, rows: list[Row]) -> float:
    total = Text("{total:,} {unit}", "{total:,} {unit}").format(total=result.total, unit=result.unit)
    y = page.total(y, total, page.inner) + 18
    kinds: Counter[str] = Counter()
    for row in rows:
        for kind, _, count in row.together:
            kinds[kind] += count
    colors = {kind: color for kind, _ in kinds.most_common() if (color := part_color(kind)) != OTHER}
    if any(len({kind for kind, _ in row.pieces}) > 1 for row in rows):
        y = _legend(page, y, kinds, colors)
    below = 24 + HEADING + TERM * (len(result.terms) + 2) if result.terms else 0
    y = _bars(page, y, rows, colors, below + 20)
    if result.terms:
        y = _terms(page, y + 24, result)
    return caption_below(page, y + 20, replace(result, formula="") if result.terms else result)  # it is in the table


def _share(count: int, total: int) -> str:
    return percent(count / total) if total else percent(0)


def _legend(page: Page, y: float, kinds: Counter[str], colors: dict[str, str]) -> float:
    """Draw kinds, the largest first, each with its share; those without a colour of their own together."""
    x, low = float(page.margin), y
    entries = [(color, kind, kinds[kind]) for kind, color in colors.items()]
    if others := kinds.total() - sum(count for _, _, count in entries):
        entries.append((OTHER, Text("other", "其他").in_(page.language), others))
    for color, kind, count in entries:
        words = f"{kind} {_share(count, kinds.total())}"
        wide = width(words, SMALL_SIZE) + 44
        if x > page.margin and x + wide > page.right:
            x, y = float(page.margin), low + 11
        page.rectangle(Box(x, y, 14, 14), fill=color)
        low = page.small(x + 20, y - 2, words, pixels=page.right - x - 20)
        x += wide
    return low + 19


def _bars(page: Page, y: float, rows: list[Row], colors: dict[str, str], below: float) -> float:
    """Draw one bar for each row, in pieces, all on one scale; `below` pixels follow. Returns y below them."""
    widest = max((width(row.label.in_(page.language), TEXT_SIZE) for row in rows), default=0) + 20
    labels, over = (min(LABELS, 0.36 * page.inner, widest), 0) if page.inner >= BESIDE else (0, 24)
    digits = DIGIT * TEXT_SIZE * max((len(f"{row.total:,}") for row in rows), default=0)
    left, room = page.margin + labels, page.inner - labels - SHARE - max(digits, NUMBER_WIDTH if labels else 0)
    longest = max((row.total for row in rows), default=0) or 1
    everything = sum(row.total for row in rows)
    count = max(1, len(rows))
    step = min(MOST, max(STEP, page.high(count * STEP, y + below + page.margin, 0) / count - over))
    high = BAR * step / STEP
    pieces: list[tuple[Box, str, str]] = []
    for row in rows:
        page.text(page.margin, y + high / 2, row.label, vertical="middle")
        y += over
        x, middle = float(left), y + high / 2
        for kind, piece, part in row.together:
            box = Box(x, y, room * part / longest, high)
            share = _share(part, everything)
            name = part_text(row.first).in_(page.language) + (f": {piece}" if len(row.pieces) > 1 else "")
            pieces.append((box, colors.get(kind, OTHER), f"{name}\n{part:,} ({share})"))
            if len(row.pieces) > 1 and width(piece, SMALL_SIZE) + 12 < box.width:
                page.small(box.centre[0], middle, piece, color="#ffffff", anchor="center", vertical="middle")
            x = box.right
        page.text(page.right - SHARE, middle, f"{row.total:,}", anchor="right", vertical="middle")
        page.text(page.right, middle, _share(row.total, everything), muted=True, anchor="right", vertical="middle")
        y += step
    page.bars(pieces)
    return y


def _terms(page: Page, y: float, result: CountResult) -> float:
    """Draw the closed formula as a table, its sum, and the parts that it leaves out. Returns y below it."""
    total = sum(term.count for term in result.terms)
    rows = [*result.terms, Term(Text("closed formula", "闭式公式"), "", "", total)]
    if total != result.total:
        rows.append(Term(Text("counted minus formula", "实际计数减公式"), "", "", result.total - total))
    if TWO <= page.inner < NARROW:
        return _terms_by_name(page, y, rows, len(result.terms))
    heads = (Text("Term", "项"), Text("Formula", "公式"), Text("With numbers", "代入数值"))
    factor = page.inner / 1200
    columns = [(page.margin + left * factor, wide * factor) for left, wide in TABLE]
    if page.inner < NARROW:
        columns = [(page.margin, page.inner - 120)]
    for (x, _), head in zip(columns, heads, strict=False):
        page.text(x, y, head, muted=True)
    page.text(page.right, y, result.unit, muted=True, anchor="right")
    y += HEADING
    for at, term in enumerate(rows):
        page.rule(y - 4)
        bold = at >= len(result.terms)
        cells = (term.name, same(_unbroken(term.symbols)), same(_unbroken(term.numbers)))
        below = [
            page.text(x, y, words, pixels=pixels, bold=bold) for (x, pixels), words in zip(columns, cells, strict=False)
        ]
        page.text(page.right, y, f"{term.count:,}", anchor="right", bold=bold)
        y = max(below) + 8
    return y


def _terms_by_name(page: Page, y: float, rows: list[Term], terms: int) -> float:
    """Draw the terms without their formulas, one half beside the other; entries after the first `terms` are sums."""
    wide, half, top = (page.inner - BETWEEN) / 2, -(-len(rows) // 2), y
    bottom = y
    for at, term in enumerate(rows):
        left = float(page.margin) if at < half else page.margin + wide + BETWEEN
        y = top if at == half else y
        page.line((left, y - 4), (left + wide, y - 4))
        below = page.text(left, y, term.name, pixels=wide - NUMBER_WIDTH, bold=at >= terms)
        page.text(left + wide, y, f"{term.count:,}", anchor="right", bold=at >= terms)
        y = below + 8
        bottom = max(bottom, y)
    return bottom


def _unbroken(formula: str) -> str:
    """Keep a product on its line: no break beside the dot."""
    return formula.replace(" · ", "\u00a0·\u00a0")


RENDERERS = (Renderer(CountResult, draw_count), Renderer(CostResult, draw_cost))
