"""Measured quality of a bundled model, in a sentence below each of its figures; the numbers are in config.json."""

from __future__ import annotations

from collections.abc import Mapping

from vitexplorer.core.format import percent
from vitexplorer.core.text import SEMICOLON, Text

LEARNED = 2.0
"""Least multiple of the untrained twin's accuracy at which a self-supervised model counts as having learned"""

_SHARES = {
    "accuracy": Text("accuracy {share}", "准确率 {share}"),
    "accuracy of the teacher": Text("its teacher's {share}", "其教师为 {share}"),
    "accuracy, one part taken away": Text("with one part taken away {share}", "去掉一个部件时为 {share}"),
    "classes found among several": Text("of several objects it finds {share}", "画面中有多个物体时找到其中的 {share}"),
    "shape named": Text("shape named in {share}", "说对形状 {share}"),
    "colour named": Text("colour named in {share}", "说对颜色 {share}"),
    "shape in the caption": Text("the caption names the shape in {share}", "描述中说对形状 {share}"),
    "colour in the caption": Text("the colour in {share}", "说对颜色 {share}"),
    "things in the caption, of several": Text("of several things {share}", "有多个物体时说对其中的 {share}"),
    "relation right between the right things": Text("the relation is right in {share}", "说对位置关系 {share}"),
    "relation told from its reverse": Text(
        "a relation told from its reverse in {share}, where chance is 50 %", "分清位置关系 {share}（随机为 50 %）"
    ),
    "negation told from its reverse": Text(
        "“no” understood in {share}, where chance is 50 %", "理解“没有” {share}（随机为 50 %）"
    ),
}
"""Sentences of figures in 0-1"""
_NEIGHBOURS = Text(
    "20-nearest-neighbour accuracy {accuracy} (untrained: {untrained})",
    "20 近邻准确率 {accuracy}（未训练：{untrained}）",
)
_OVERLAP = Text(
    "attention overlaps the object {ratio:.2f} times as much as that of an untrained copy",
    "注意力与物体的重叠度为未训练模型的 {ratio:.2f} 倍",
)
_RECONSTRUCTION = Text(
    "hidden patches are drawn with {share:.0f} % of the error that the mean colour of the visible ones has",
    "重建被遮图块的误差为用可见图块平均颜色填充时的 {share:.0f} %",
)
_MEASURED = Text("Measured on held-out pictures: {figures}.", "在留出图像上的测量结果：{figures}。")
_UNLEARNED = Text(
    "It has learned almost nothing: its maps do not show what this kind of training can achieve.",
    "它几乎没有学到东西：其结果不能代表这类训练方法的能力。",
)


def measured(figures: Mapping[str, float]) -> tuple[Text, ...]:
    """Write sentences for the figures of a model card, shares of 0-1; () if nothing was measured."""
    sentences = [text.format(share=percent(figures[name])) for name, text in _SHARES.items() if name in figures]
    unlearned = False
    if "reconstruction error, ratio" in figures:
        sentences.append(_RECONSTRUCTION.format(share=100 * figures["reconstruction error, ratio"]))
    if "20-nearest-neighbour accuracy" in figures:
        accuracy = figures["20-nearest-neighbour accuracy"]
        untrained = figures["20-nearest-neighbour accuracy, untrained"]
        sentences.append(_NEIGHBOURS.format(accuracy=percent(accuracy), untrained=percent(untrained)))
        unlearned = accuracy < LEARNED * untrained
    if "attention overlap, trained / untrained" in figures:
        sentences.append(_OVERLAP.format(ratio=figures["attention overlap, trained / untrained"]))
    if not sentences:
        return ()
    sentence = _MEASURED.format(figures=SEMICOLON.join(sentences))
    return (sentence, _UNLEARNED) if unlearned else (sentence,)
