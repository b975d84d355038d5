"""Targets of explanations, most often a class, and the sentences on their maps.

A map for a target has one number for each patch, of any sign and size. Nothing is divided by its maximum: a map can be
exactly zero, and then a note says so.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl
from vitexplorer.controls.explained import PatchAlike, Region, Similarity, Target
from vitexplorer.core.capture_protocol import has_one_output
from vitexplorer.core.format import counted, percent, signed
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import OUTPUT, Answer, MapResult, Output, PatchGrid, Query, Result, query_text
from vitexplorer.quantities.on_the_map import extreme, is_constant, tenth
from vitexplorer.quantities.read_out import answer_of, answer_text, displayed_values
from vitexplorer.quantities.rollout import query_shares
from vitexplorer.quantities.scores import score_of

ALL_ZERO = Text(
    "The map is exactly zero: by this method, no patch supports the target or counts against it.",
    "该图处处恰为零：按此方法，没有任何图块支持或反对该目标。",
)
LOGIT, COSINE = same("logit"), Text("cosine", "余弦")
PROBABILITY = Text("probability of the class", "该类别的概率")
IN_NUMBERS = {
    LOGIT: LOGIT._replace(en="logits"),
    COSINE: COSINE._replace(en="of cosine"),
    OUTPUT: OUTPUT._replace(en="in the output"),
}
"""Units as written after a number"""
ROW_NOTE = Text("Shown is the row of the {query}.", "显示的是{query}对应的行。")

ROWS_NOTE = Text(
    "The map is the mean of the rows of the region's {count:patch}.", "显示的是该区域 {count} 个图块各行的均值。"
)


def explained(capture: Capture, target: int) -> Answer:
    """Return the class with its name if known, its logit and its probability; or the one output."""
    return answer_of(capture.logits, displayed_values(capture.logits), capture.model.class_texts, target)


def class_text(target: Answer) -> Text:
    """State in a sentence the class, or the output, that is explained."""
    if isinstance(target, Output):
        return Text("Explained: {output}, {value}.", "所解释的是{output}：{value}。").format(
            output=answer_text(target), value=target.display_value
        )
    return Text(
        "Explained: class {target}{name}, logit {logit:.3f}, probability {probability:.3f}.",
        "所解释的类别：{target}{name}，logit {logit:.3f}，概率 {probability:.3f}。",
    ).format(
        target=target.index,
        name=Text(" ({name})", "（{name}）").format(name=target.name) if target.name.en else same(""),
        logit=target.logit,
        probability=target.probability,
    )


def target_note(capture: Capture, target: Target) -> Text:
    """State in a sentence the target and its value for this image."""
    if isinstance(target, int):
        return class_text(explained(capture, target))
    return Text("Explained: {said}; it is {score}.", "所解释的：{said}；其值为 {score}。").format(
        said=AnyTargetControl().say(target, capture), score=f"{float(score_of(capture, target)):.3f}"
    )


def unit_of(capture: Capture, target: Target) -> Text:
    """Return the unit of a score."""
    if isinstance(target, Similarity):
        return COSINE
    return OUTPUT if has_one_output(capture) else LOGIT


def unit_of_value(capture: Capture, target: Target) -> Text:
    """Return the unit of a target's value as it is shown: the probability of a class, or that of its score."""
    if isinstance(target, int) and not has_one_output(capture):
        return PROBABILITY
    return unit_of(capture, target)


def answer_explained(capture: Capture, target: Target) -> Answer | None:
    """Return the class or the one output that is explained; None for any other target."""
    return explained(capture, target) if isinstance(target, int) else None


def score_word(capture: Capture, target: Target) -> Text:
    """Return the unit of a score as a word within a sentence."""
    unit = unit_of(capture, target)
    return unit._replace(zh="logit ") if unit == LOGIT else unit


def read_query(capture: Capture, target: Target) -> Query | None:
    """Return the query whose row the classifier reads: "cls", "mean" for pooled patches, or the explained patch.

    None for a region: it is the mean of several rows.

    A class token that the classifier does not read (BEiT, models with average pooling) has no gradient to show.
    """
    if isinstance(target, Region):
        return None
    if isinstance(target, PatchAlike):
        return target.patch
    family, module = capture.model.family, capture.model.module
    return "mean" if "cls" not in capture.prefix_tokens or family.own_reading(module) == "mean" else "cls"


def read_shares(capture: Capture, target: Target) -> Float[Tensor, " tokens"]:
    """Return the shares to push through the blocks: all for the read token, or even shares of a region's patches."""
    if isinstance(target, Region):
        return torch.stack([query_shares(capture, patch) for patch in target.patches]).mean(0)
    return query_shares(capture, read_query(capture, target))


def row_text(capture: Capture, target: Target) -> Text:
    """Name the token whose row a map shows."""
    if isinstance(target, Region):
        return ROWS_NOTE.format(count=counted(len(target.patches)))
    return ROW_NOTE.format(query=query_text(read_query(capture, target)))


def class_map(
    capture: Capture,
    target: Target,
    *,
    values: Tensor,
    grid: PatchGrid,
    unit: Text | None = None,
    notes: tuple[Text, ...] = (),
    **more: object,
) -> MapResult:
    """Make a map for a target of values (patches,) on `grid`, by default in the unit of its score.

    `more` are further fields of the result.
    """
    all_notes = (target_note(capture, target), *notes)
    return MapResult(
        values=values.reshape(grid.rows, grid.cols).cpu().numpy(),
        axes=("rows", "cols"),
        unit=unit or unit_of(capture, target),
        notes=all_notes if values.any() else (*all_notes, ALL_ZERO),
        target=answer_explained(capture, target),
        grid=grid,
        image=capture.input.pixels,
        **more,
    )


# ---------------------------------------------------------------------------------------------- what is read off


def target_text(result: Result) -> Text:
    """Name the target of a map: a class by number and name, the one output, or a similarity."""
    setting = result.settings_said.get("target")
    target = result.settings["target"]
    named = setting[1] if setting else same(str(target))
    if isinstance(result.target, Output):
        return answer_text(result.target)
    if isinstance(target, Similarity):
        return Text("the {named}", "目标“{named}”").format(named=named)
    return Text("class {named}", "类别“{named}”").format(named=named)


def _unit_of(result: MapResult) -> Text:
    if isinstance(result.settings["target"], Similarity):
        return COSINE
    return OUTPUT if isinstance(result.target, Output) else LOGIT


def for_class(result: MapResult) -> Text:
    """Describe a map with evidence for the class alone: how narrow it is, and where."""
    named, values = target_text(result), result.values
    if not values.any():
        return Text(
            "By this method, no patch supports {named}: the map is zero everywhere.",
            "按此方法，没有图块支持{named}：整幅图处处为零。",
        ).format(named=named)
    if is_constant(values):
        return Text("All patches support {named} equally.", "所有图块对{named}的支持完全相同。").format(named=named)
    share, where = tenth(values)
    return Text(
        "The top tenth of the patches holds {share} of the evidence for {named}{where}; most comes from {patch}.",
        "在对{named}的全部支持中，最高的十分之一图块占 {share}{where}；贡献最大的是{patch}。",
    ).format(named=named, share=percent(share / np.nansum(values)), where=where, patch=extreme(values))


def for_and_against(result: MapResult, unit: Text | None = None) -> Text:
    """Describe a map with signs: numbers of patches for and against the class, and the strongest of each.

    `unit` is the unit of the values if they are not in that of the score.
    """
    named, values = target_text(result), result.values
    if not values.any():
        return Text(
            "No patch changes {named}: the map is zero everywhere.", "没有图块影响{named}：整幅图处处为零。"
        ).format(named=named)
    best, worst = np.nanmax(values), np.nanmin(values)
    counts = {
        "named": named,
        "n": counted(int((values > 0).sum())),
        "total": counted(values.size),
        "patch": extreme(values),
        "most": signed(best),
        "other": extreme(values, -1),
        "least": signed(worst),
        "unit": unit or IN_NUMBERS[_unit_of(result)],
    }
    if best <= 0:
        return Text(
            "Not one of the {total:patch} supports {named}; strongest against it: {other} ({least} {unit}).",
            "{total} 个图块中没有一个支持{named}；反对最强的是{other}（{least} {unit}）。",
        ).format(**counts)
    if worst >= 0:
        return Text(
            "{n} of {total:patch} {n:~supports/support} {named} and none counts against it; the strongest is "
            "{patch} ({most} {unit}).",
            "{total} 个图块中有 {n} 个支持{named}，没有反对的；支持最强的是{patch}（{most} {unit}）。",
        ).format(**counts)
    return Text(
        "{n} of {total:patch} {n:~supports/support} {named}, most of all {patch} ({most} {unit}); strongest against "
        "it: {other} ({least} {unit}).",
        "{total} 个图块中有 {n} 个支持{named}，最强的是{patch}（{most} {unit}）；反对最强的是{other}"
        "（{least} {unit}）。",
    ).format(**counts)
