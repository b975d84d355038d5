"""Line beside a map on how far to trust it: its rank in tests with a known truth, and its rank on this image."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import EvaluationResult, Provenance

EVIDENCE = "trust"
"""View that shows the measurements"""
OF_MODEL = Text(
    "Rank {place} of {count} on this model by tests with a known truth; {finding}",
    "在该模型上，按真实答案已知的测试排第 {place} 位（共 {count} 种）；{finding}",
)
FINDINGS = {
    "grid_pointing": Text(
        "among several objects, it puts {share} of its relevance on the right one ({chance} by chance).",
        "画面中有多个物体时，{share} 的相关性落在正确的物体处（随机为 {chance}）。",
    ),
    "target_sensitivity": Text(
        "asked about other classes, it finds their parts in {share} of the cases ({chance} by chance).",
        "询问其他类别时，在 {share} 的样例中找到属于该类别的部件（随机为 {chance}）。",
    ),
}
OF_IMAGE = Text(
    "On this image: rank {place} of {count} by deletion and insertion.",
    "在本图上：按删除与插入测试排第 {place} 位（共 {count} 种）。",
)
NO_BETTER = Text(
    "On this image: rank {place} of {count} by deletion and insertion, no better than random order.",
    "在本图上：按删除与插入测试排第 {place} 位（共 {count} 种），不优于随机顺序。",
)


def standing(view: str, provenance: Provenance, measured: EvaluationResult | None, language: Language) -> str:
    """Return the evidence on a view's map in a line; empty where it was not measured.

    `measured` is the measurement of the methods on this image, or None.
    """
    return " ".join(filter(None, (_of_model(view, provenance, language), _of_image(view, measured, language))))


def _of_model(view: str, provenance: Provenance, language: Language) -> str:
    from vitexplorer.core.standings import RANDOM, standings

    table = standings(provenance)
    if table is None or view not in table.ranked:
        return ""
    share, chance = (percent(table.of(method, table.class_sensitive)) for method in (view, RANDOM))
    finding = FINDINGS[table.class_sensitive].format(share=share, chance=chance)
    place = list(table.ranked).index(view) + 1
    return OF_MODEL.format(place=place, count=len(table.ranked), finding=finding).in_(language)


def _of_image(view: str, measured: EvaluationResult | None, language: Language) -> str:
    from vitexplorer.core.standings import RANDOM
    from vitexplorer.views.trust import HERE

    if measured is None or view not in measured.methods or view == RANDOM:
        return ""
    gains = dict(zip(measured.methods, measured.values[:, measured.protocols.index(HERE)].tolist(), strict=True))
    others = [gain for method, gain in gains.items() if method != RANDOM and np.isfinite(gain)]
    sentence = OF_IMAGE if gains[view] > gains[RANDOM] else NO_BETTER
    place = 1 + sum(gain > gains[view] for gain in others)
    return sentence.format(place=place, count=len(others)).in_(language)
