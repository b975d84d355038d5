"""What did a change do? The changed run beside the plain one: answer, class token, map.

For a capture made by `vx.intervene`. Shows the probabilities of the likeliest classes of both runs, or the output of a
model that has only one; the cosine between the class tokens of the two runs after each block (the mean over patches if
there is no class token); and a map of each run (attention rollout through all blocks, or the attention of one block)
with the difference. If patches were shuffled, the cells of the changed map move back to their old places before the
plain map is subtracted, and a query patch is followed to its new place.
Misleading: a change that moves the answer was used in this network and image; one that does not may still be used,
because what is left can make up for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture, Moved
from vitexplorer.controls import BlockControl, Choice, QueryControl
from vitexplorer.core.capture_protocol import CaptureProtocol, refuse_if
from vitexplorer.core.format import measured
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import (
    OUTPUT,
    BeforeAfterResult,
    MapResult,
    PatchGrid,
    PredictionChange,
    Query,
    query_text,
    value_text,
)
from vitexplorer.interventions.changed_pass import came_from
from vitexplorer.quantities.on_the_map import extreme
from vitexplorer.quantities.read_out import answer_text, displayed_values, top_classes, unit_of_values
from vitexplorer.quantities.two_runs import token_cosines
from vitexplorer.views.record import View

MAPS = (
    ("rollout", Text("attention rollout", "注意力展开（rollout）")),
    ("attention", Text("attention of a block", "单个块的注意力")),
)
MAP = Text("Map: {map}, {query} → patches.", "图：{map}，{query} → 图块。")
PUT_BACK = Text(
    "Before the difference is taken, the patches are moved back to their original places.",
    "先把图块放回原来的位置，再计算差值。",
)


def class_changes(before: Capture, after: Capture) -> tuple[PredictionChange, ...]:
    """List the likeliest classes of the plain run, then those that the changed run adds; or a model's one output."""
    if before.logits is None:
        return ()
    names = before.model.class_texts
    best = [top.index for run in (before, after) for top in top_classes(run.logits, names)]
    values = [displayed_values(run.logits.double()).tolist() for run in (before, after)]
    unit = unit_of_values(before.logits)
    return tuple(
        PredictionChange(index, names[index] if names else same(""), values[0][index], values[1][index], unit)
        for index in dict.fromkeys(best)
    )


def put_back(values: Float[np.ndarray, "rows cols"], grid: PatchGrid, moved: Moved) -> Float[np.ndarray, "rows cols"]:
    """Return a map of the changed image with each cell where its patch was in the plain image."""
    out = np.empty_like(values)
    out.ravel()[came_from(moved, grid)] = values.ravel()
    return out


def followed(query: Query, grid: PatchGrid, moved: Moved) -> Query:
    """Return the place of a plain image's patch in the changed image."""
    if isinstance(query, str):
        return query
    place = np.flatnonzero(came_from(moved, grid) == query[0] * grid.cols + query[1])[0]
    row, col = divmod(int(place), grid.cols)
    return row, col


def map_of(capture: Capture, kind: str, block: int, query: Query) -> MapResult:
    """Compute one map of one run, by its own view."""
    from vitexplorer.views import compute as compute_view

    if kind == "rollout":
        return compute_view("attention_rollout", capture, query=query)
    return compute_view("attention_map", capture, block=block, query=query)


def compute(capture: Capture, map: str, attention_block: int, query: Query) -> BeforeAfterResult:
    """Compute the changed run's map minus the plain run's, (rows, cols), with both maps, classes and cosines."""
    plain, moved = capture.change.original, capture.change.moved
    block = attention_block
    queried = capture.grid(capture.depth - 1 if map == "rollout" else block)
    before = map_of(plain, map, block, query)
    after = map_of(capture, map, block, followed(query, queried, moved) if moved else query)
    back = put_back(after.values, after.grid, moved) if moved else after.values
    token = "cls" if "cls" in capture.prefix_tokens else "mean"
    return BeforeAfterResult(
        values=back - before.values,
        axes=("rows", "cols"),
        unit=before.unit,
        formula=before.formula,
        notes=present(
            MAP.format(map=dict(MAPS)[map], query=query_text(query)),
            PUT_BACK if moved else None,
            *(note for note in before.notes if note not in (*plain.model.notes, *plain.input.notes)),
        ),
        grid=before.grid,
        before=before.values,
        after=after.values,
        image=plain.input.pixels,
        changed_image=capture.input.pixels,
        query=query,
        classes=class_changes(plain, capture),
        cosines=token_cosines(plain, capture, token),
        token=token,
    )


class QueryOfMap(QueryControl):
    """Control for the token whose map is compared: a patch of the chosen block's grid; of the last for the rollout."""

    def grid(self, capture: CaptureProtocol, settings: Mapping[str, Any]) -> PatchGrid:
        """Return the grid of the block that the map shows."""
        last = capture.depth - 1
        return capture.grid(last if settings.get("map") == "rollout" else settings.get("attention_block", last))


def reading(result: BeforeAfterResult) -> Text:
    """Describe the change of the answer, of the token that is read, and of the map."""
    token = Text(
        "The cosine between the {token} of both runs is {cosine} after the last block",
        "在最后一块之后，两次运行的{token}之间的余弦为 {cosine}",
    ).format(token=query_text(result.token), cosine=measured(result.cosines[-1]))
    changed = np.abs(result.values)
    moved = (
        Text(", and the map changes most at {patch}.", "，图上变化最大的是{patch}。").format(patch=extreme(changed))
        if changed.any()
        else Text(", and the map does not change.", "，图没有变化。")
    )
    return Text("{answer}{token}{moved}", "{answer}{token}{moved}").format(
        answer=_answer(result), token=token, moved=moved
    )


def _answer(result: BeforeAfterResult) -> Text:
    if not result.classes:
        return same("")
    first = max(result.classes, key=lambda change: change.before)
    now = max(result.classes, key=lambda change: change.after)
    fields = {
        "first": answer_text(first),
        "before": value_text(first.before, first.unit),
        "after": value_text(first.after, first.unit),
        "now": answer_text(now),
        "share": value_text(now.after, now.unit),
    }
    if first.unit == OUTPUT:
        return Text(
            "Before the change {first} is {before}, after it {after}. ", "更改前{first}为 {before}，更改后为 {after}。"
        ).format(**fields)
    if first.index == now.index:
        return Text(
            "The answer stays {first}, {before} before and {after} after. ",
            "答案仍是{first}：更改前 {before}，更改后 {after}。",
        ).format(**fields)
    return Text(
        "The answer changes from {first} ({before}) to {now} ({share}). ",
        "答案从{first}（{before}）变为{now}（{share}）。",
    ).format(**fields)


VIEW = View(
    title=Text("Before and after", "更改前后"),
    question=Text("What did the change do?", "这项更改有什么影响？"),
    misleads=Text(
        "A change without effect does not prove that the changed part does nothing: the rest can make up for it.",
        "更改没有影响，并不证明被更改的部分毫无作用：其余部分可能弥补了它。",
    ),
    room="what_if",
    compute=compute,
    reads=("attention", "stream"),
    reading=reading,
    controls=(
        Choice("map", Text("Map", "图"), MAPS),
        BlockControl("attention_block", Text("Block of the attention", "注意力所在的块")),
        QueryOfMap(),
    ),
    refuses=refuse_if(
        lambda capture: capture.change is None,
        Text(
            "Nothing is changed in this run. Change something with vx.intervene, --change or in the room What if.",
            "这次运行没有任何更改。请用 vx.intervene、--change 或“假如改变”页面作出更改。",
        ),
    ),
)
