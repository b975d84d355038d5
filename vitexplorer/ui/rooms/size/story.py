"""Table of one model's parts by every way of counting, and the sentences that sum it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vitexplorer.core.format import counted, percent
from vitexplorer.core.text import Language, Text
from vitexplorer.quantities.parameter_formulas import SwinShape, ViTShape, exact_terms, rough_terms
from vitexplorer.quantities.story import PARTS, by_formula
from vitexplorer.ui.rooms.size.size_board import StoryRow
from vitexplorer.ui.rooms.size.tables import MACS, PARAMETERS, compact
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS

ROUGH_OF_VIT = {
    "embedding": "P² · C · D + (N + 1) · D",
    "attention": "4 · L · D²",
    "mlp": "2 · L · D · M",
    "head": "K · D",
}
ROUGH_OF_SWIN = {
    "embedding": "P² · C · D",
    "attention": "Σ 4 · L_s · D_s²",
    "mlp": "Σ 2 · L_s · D_s · M_s",
    "merging": "Σ 8 · D_s²",
    "head": "K · D_S",
}


def story(
    shape: ViTShape | SwinShape | None,
    module: Mapping[str, int] | None,
    macs: Mapping[str, int] | None,
    language: Language,
) -> tuple[list[StoryRow], StoryRow]:
    """Return the rows and their total.

    `shape` is None where no formula is exact, `module`, the parameters that are counted of each part, for a design, and
    `macs`, the multiply-accumulates of each part, where they are not counted.
    """
    exact, rough = (by_formula(terms(shape)) if shape else None for terms in (exact_terms, rough_terms))
    rough_symbols = _rough_symbols(shape) if shape else {}
    rows = []
    for part in PARTS:
        row = StoryRow(
            key=part,
            name=CALCULATOR_WORDS[f"part_{part}"].in_(language),
            hint=CALCULATOR_WORDS[f"hint_{part}"].in_(language),
            counted=None if module is None else module.get(part, 0),
            exact=None if exact is None else sum(term.count for term in exact.get(part, ())),
            symbols="" if exact is None else " + ".join(term.symbols for term in exact.get(part, ())),
            rough=None if rough is None else sum(term.count for term in rough.get(part, ())),
            rough_symbols=rough_symbols.get(part, ""),
            macs=None if macs is None else macs.get(part, 0),
        )
        if row.exact is not None and row.rough is not None:
            row.difference = row.exact - row.rough
        if row.counted or row.exact or row.macs:
            rows.append(row)
    sums = {name: _sum(rows, name) for name in ("counted", "exact", "rough", "difference", "macs")}
    return rows, StoryRow(name=CALCULATOR_WORDS["total"].in_(language), **sums)


def _sum(rows: Sequence[StoryRow], counting: str) -> int | None:
    counts = [getattr(row, counting) for row in rows]
    return None if None in counts else sum(counts)


def _rough_symbols(shape: ViTShape | SwinShape) -> dict[str, str]:
    """Return the rough formula by part; with the usual M = 4 D, attention and MLP together are 12 L D²."""
    if isinstance(shape, SwinShape):
        usual = {"mlp": "Σ 8 · L_s · D_s²"} if shape.mlp_ratio == 4 else {}
        return {**ROUGH_OF_SWIN, **usual}
    return {**ROUGH_OF_VIT, **({"mlp": "8 · L · D²"} if shape.hidden == 4 * shape.dim else {})}


def is_twelve(shape: ViTShape | SwinShape | None) -> bool:
    """Return True where attention and MLP together are 12 L D²."""
    if isinstance(shape, ViTShape):
        return shape.hidden == 4 * shape.dim
    return shape is not None and shape.mlp_ratio == 4


# ---------------------------------------------------------------------------------------------- sentences


def reading(rows: Sequence[StoryRow], total: StoryRow, size: tuple[int, int], language: Language) -> str:
    """Return sentences on the model's size, the rough formula's error, and the cost of a (height, width) image."""
    sentences = [_size_sentence(rows, total), _error_sentence(total), _cost_sentence(rows, total, size)]
    return " ".join(text.in_(language) for text in sentences if text).replace("。 ", "。")


def _size_sentence(rows: Sequence[StoryRow], total: StoryRow) -> Text:
    counting = "exact" if total.counted is None else "counted"
    count = getattr(total, counting)
    return CALCULATOR_WORDS["reading_size"].format(
        total=counted(count), compact=compact(count, PARAMETERS), **_largest(rows, counting, count)
    )


def _error_sentence(total: StoryRow) -> Text | None:
    if not total.exact or total.difference is None:
        return None
    key = "reading_less" if total.difference >= 0 else "reading_more"
    return CALCULATOR_WORDS[key].format(rough=counted(total.rough), off=percent(abs(total.difference) / total.exact))


def _cost_sentence(rows: Sequence[StoryRow], total: StoryRow, size: tuple[int, int]) -> Text | None:
    if not total.macs:
        return None
    return CALCULATOR_WORDS["reading_cost"].format(
        height=size[0], width=size[1], macs=compact(total.macs, MACS), **_largest(rows, "macs", total.macs)
    )


def _largest(rows: Sequence[StoryRow], counting: str, total: int) -> dict[str, object]:
    """Return the largest part and its share."""
    row = max(rows, key=lambda row: getattr(row, counting))
    share = percent(getattr(row, counting) / total) if total else percent(0)
    return {"share": share, "part": CALCULATOR_WORDS[f"in_{row.key}"]}
