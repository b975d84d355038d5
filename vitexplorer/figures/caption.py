"""Caption of a figure, made in one place from the result: as rows on the page, or as one line of text.

Model, weights, block, head, query, formula, unit, dropped mass, normalisation. A figure that leaves its page, in a
slide or a paper, still identifies itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import COMMA, Text, same
from vitexplorer.core.types import OUTPUT, Answer, PredictionChange, Result, Size, prefix_text, query_text


class Fact(NamedTuple):
    """Row of a caption."""

    label: Text
    value: Text


MODEL = Text("Model", "模型")
WEIGHTS = Text("Weights", "权重")
CHANGED = Text("Changed", "更改")
IMAGE = Text("Image", "图像")
BESIDE = Text("Right side", "右侧")
WHERE = Text("Where", "位置")
QUERY = Text("Query → keys", "查询 → 键")
FORMULA = Text("Formula", "公式")
UNIT = Text("Unit", "单位")
SETTINGS = Text("Settings", "设置")
DROPPED = Text("Not shown", "未显示")
SCALE = Text("Scale", "标度")
NOTE = Text("Note", "说明")
NUMBERED = Text("class {index}", "类别 {index}")

FITS = {
    "crop": Text("crop", "裁剪"),
    "squash": Text("squash", "拉伸"),
    "pad": Text("pad", "填充"),
    "native": Text("native size", "原始尺寸"),
}
FUSIONS = {
    "mean": Text("mean over heads", "各头取平均"),
    "max": Text("maximum over heads", "各头取最大值"),
    "min": Text("minimum over heads", "各头取最小值"),
}
IN_OTHER_ROWS = ("block", "head", "head_fusion", "query")


def head_text(head: int | str) -> Text:
    """Return one head, counted from 0, or the fusion in words."""
    if isinstance(head, str):
        return FUSIONS.get(head, same(head))
    return Text("head {head}", "头 {head}").format(head=head)


def class_name(answer: Answer | PredictionChange) -> Text:
    """Return the name of a class or an output; without a name the class's number, or "output"."""
    if answer.name.en:
        return answer.name
    return OUTPUT if answer.unit == OUTPUT else NUMBERED.format(index=answer.index)


def _where(result: Result) -> Iterator[Text]:
    if (block := result.settings.get("block")) is not None:
        yield Text("block {block} (counted from 0)", "块 {block}（从 0 开始编号）").format(block=block)
    head = result.settings.get("head", result.settings.get("head_fusion"))
    if head is not None:
        yield head_text(head)


def labelled(label: Text | str, value: Text | str) -> Text:
    """Return a value behind its label."""
    return Text("{label}: {value}", "{label}：{value}").format(label=label, value=value)


def size_text(size: Size) -> Text:
    """Return height and width with their unit."""
    height, width = size
    return Text("{height} × {width} px", "{height} × {width} 像素").format(height=height, width=width)


def _image(result: Result) -> Iterator[Text]:
    provenance = result.provenance
    if any(provenance.input_size):
        yield size_text(provenance.input_size)
    if provenance.fit:
        yield Text("fit: {fit}", "适配方式：{fit}").format(fit=FITS.get(provenance.fit, provenance.fit))
    if provenance.image_hash:
        yield same(provenance.image_hash[:8])


def _beside(result: Result) -> Iterator[Text]:
    """Yield the identity of a comparison's right side."""
    other = result.provenance.beside
    if other is None:
        return
    yield same(other.model)
    yield other.weights_text
    yield from other.changes
    yield from _image(replace(result, provenance=other))


def _settings(result: Result) -> Iterator[Text]:
    """Yield settings in the view's words, or with their API names for a result made by hand."""
    for name, value in result.settings.items():
        if name in IN_OTHER_ROWS:
            continue
        if name in result.settings_said:
            label, value_text = result.settings_said[name]
            yield labelled(label, value_text)
        else:
            yield same(f"{name} = {value}")


def _dropped(result: Result) -> Iterator[Text]:
    """Yield the mass that is not on patches; as a range over the heads if the result has several."""
    names, weights = getattr(result, "prefix_names", ()), getattr(result, "prefix_weights", np.zeros(0))
    for at, name in enumerate(names[: np.shape(weights)[-1]]):
        yield labelled(prefix_text(name), percent(weights[..., at]))
    if len(names) > 1 and np.shape(weights)[-1]:
        yield labelled(Text("all prefix tokens", "全部前缀标记"), percent(np.sum(weights, axis=-1)))
    padding = getattr(result, "padding_mass", 0.0)
    if np.any(padding):
        yield labelled(Text("padding of windows", "窗口填充"), percent(padding))


def facts(result: Result, normalisation: Text | None = None, remarks: tuple[Text, ...] = ()) -> tuple[Fact, ...]:
    """Return every row of the caption that applies to this result.

    `normalisation` relates the painted numbers to the values; `remarks` are the drawing's additions to the notes.
    """
    query, formula = getattr(result, "query", None), result.formula
    rows = [
        (MODEL, [same(result.provenance.model)]),
        (WEIGHTS, [result.provenance.weights_text]),
        (CHANGED, [*result.provenance.changes]),
        (IMAGE, [*_image(result)]),
        (BESIDE, [*_beside(result)]),
        (WHERE, [*_where(result)]),
        (QUERY, [Text("{query} → patches", "{query} → 图块").format(query=query_text(query))] if query else []),
        (FORMULA, [formula if isinstance(formula, Text) else same(formula)] if formula else []),
        (UNIT, [result.unit]),
        (SETTINGS, [*_settings(result)]),
        (DROPPED, [*_dropped(result)]),
        (SCALE, [normalisation] if normalisation else []),
        *((NOTE, [note]) for note in (*result.notes, *remarks)),
    ]
    return tuple(Fact(label, COMMA.join(parts)) for label, parts in rows if parts)


def caption(result: Result) -> Text:
    """Return the facts in one line, the title first."""
    fact_texts = [
        same("{label} {value}").format(label=fact.label, value=fact.value)
        if fact.label in (QUERY, DROPPED, MODEL, CHANGED, BESIDE)
        else fact.value
        for fact in facts(result)
    ]
    return same(" · ").join([result.title, *fact_texts])
