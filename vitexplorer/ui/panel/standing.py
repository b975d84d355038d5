"""Trust in a map, in a line beside it: its rank by tests with a known truth, and on this image."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import EvaluationResult, Provenance

EVIDENCE = "trust"
"""the view that holds the numbers"""
OF_MODEL = Text(
    "Rank {place} of {count} on this model by tests with a known truth; {told}",
    "在该模型上，按有真实答案的测试排第 {place} 位（共 {count} 种）；{told}",
)
TOLD = {
    "grid_pointing": Text(
        "of several objects it puts {share} of its relevance on the right one ({chance} by chance).",
        "画面中有多个物体时，{share} 的相关性落在正确的物体处（随机为 {chance}）。",
    ),
    "target_sensitivity": Text(
        "asked about other classes it finds the parts that are theirs in {share} of the cases ({chance} by chance).",
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


def standing(view: str, provenance: Provenance, here: EvaluationResult | None, language: Language) -> str:
    """Evidence on a view's map; empty where nobody measured it.

    Args:
        view: its key.
        provenance: what it is a map of.
        here: the methods on this image, where they were measured.
        language: of the line.
    """
    return " ".join(filter(None, (_of_model(view, provenance, language), _of_image(view, here, language))))


def _of_model(view: str, provenance: Provenance, language: Language) -> str:
    from vitexplorer.core.standings import RANDOM, standings

    table = standings(provenance)
    if table is None or view not in table.ranked:
        return ""
    share, chance = (percent(table.of(method, table.class_sensitive)) for method in (view, RANDOM))
    told = TOLD[table.class_sensitive].format(share=share, chance=chance)
    place = list(table.ranked).index(view) + 1
    return OF_MODEL.format(place=place, count=len(table.ranked), told=told).in_(language)


def _of_image(view: str, here: EvaluationResult | None, language: Language) -> str:
    from vitexplorer.core.standings import RANDOM
    from vitexplorer.views.trust import HERE

    if here is None or view not in here.methods or view == RANDOM:
        return ""
    gains = dict(zip(here.methods, here.values[:, here.protocols.index(HERE)].tolist(), strict=True))
    others = [gain for method, gain in gains.items() if method != RANDOM and np.isfinite(gain)]
    said = {"place": 1 + sum(gain > gains[view] for gain in others), "count": len(others)}
    return (OF_IMAGE if gains[view] > gains[RANDOM] else NO_BETTER).format(**said).in_(language)
