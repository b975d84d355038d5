"""Checks of the targets: too few, too small or unequal classes, constant numbers."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.findings import Finding, finding

FEW_IMAGES_OF_A_CLASS = 10
FEW_IMAGES_FOR_REGRESSION = 50
UNEQUAL = 10
"""Ratio of the largest to the smallest class from which classes count as unequal"""


def balance(dataset: Dataset) -> list[Finding]:
    """Return findings about the targets of the usable images."""
    if not len(dataset):
        return [finding("nothing", "stops", _NOTHING)]
    return _of_numbers(dataset) if dataset.task == "regression" else _of_classes(dataset)


_NOTHING = Text("Not one image can be used.", "没有一幅可用的图像。")
_ONE_CLASS = Text(
    "All images are of one class ({names}); there is nothing to tell apart. Add a folder for a second class.",
    "所有图像都属于同一类别（{names}），无从区分。请为第二个类别添加文件夹。",
)
_ONE_EACH = Text(
    "Every class has one image, so none is left to check with. Add images: {least} or more of each class.",
    "每个类别只有一幅图像，没有图像可供验证。请添加图像：每类至少 {least} 幅。",
)
_SINGLE = Text(
    "Classes with one image are trained but cannot be checked: {count} ({names}).",
    "只有一幅图像的类别可参与训练，但无法验证：{count} 个（{names}）。",
)
_FEW = Text(
    "Classes with fewer than {least} images: {count} ({names}). Their accuracy will be a rough guess.",
    "图像少于 {least} 幅的类别：{count} 个（{names}）。其准确率只能粗略估计。",
)
_UNEQUAL = Text(
    "The classes are unequal: {names} has {ratio} times the images of the smallest. Switch class weights on.",
    "类别不均衡：{names} 的图像数是最小类别的 {ratio} 倍。请启用类别权重。",
)
_GONE = Text(
    "Classes of which no image can be used: {count} ({names}). Mend their images or remove them.",
    "没有可用图像的类别：{count} 个（{names}）。请修复其图像或删除该类别。",
)
_CONSTANT = Text(
    'Every image has the same value of "{target}"; there is nothing to learn. Pick another column.',
    "所有图像的“{target}”值都相同，没有可学习的内容。请选择其他列。",
)
_FEW_NUMBERS = Text(
    "There {images:~is/are} {images:image}; fewer than {least} are rarely enough to learn a number from.",
    "共有 {images} 幅图像；少于 {least} 幅时很难学会预测数值。",
)


def _of_classes(dataset: Dataset) -> list[Finding]:
    counts = dataset.counts
    present = np.flatnonzero(counts)

    def names(is_named: np.ndarray) -> list[str]:
        return [dataset.classes[i] for i in np.flatnonzero(is_named)]

    findings = []
    if len(present) < len(counts):
        findings.append(finding("gone_classes", "warning", _GONE, names(counts == 0)))
    if len(present) == 1:
        return [*findings, finding("one_class", "stops", _ONE_CLASS, names(counts > 0))]
    if counts.max() == 1:
        return [*findings, finding("one_each", "stops", _ONE_EACH, least=FEW_IMAGES_OF_A_CLASS)]
    if (counts == 1).any():
        findings.append(finding("single_images", "warning", _SINGLE, names(counts == 1)))
    few = (counts > 0) & (counts < FEW_IMAGES_OF_A_CLASS)
    if few.any():
        findings.append(finding("few_images", "warning", _FEW, names(few), least=FEW_IMAGES_OF_A_CLASS))
    ratio = counts.max() / counts[present].min()
    if ratio >= UNEQUAL:
        findings.append(
            finding("imbalance", "warning", _UNEQUAL, [dataset.classes[counts.argmax()]], ratio=round(ratio))
        )
    return findings


def _of_numbers(dataset: Dataset) -> list[Finding]:
    if len(np.unique(dataset.targets)) == 1:
        return [finding("constant_target", "stops", _CONSTANT, target=dataset.target_name)]
    if len(dataset) < FEW_IMAGES_FOR_REGRESSION:
        return [finding("few_images", "warning", _FEW_NUMBERS, images=len(dataset), least=FEW_IMAGES_FOR_REGRESSION)]
    return []
