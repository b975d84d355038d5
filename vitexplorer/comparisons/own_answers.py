"""Which patches support the answer of each of the two? A relevance map of each for its own top class.

For models with different classes, above all a model and its fine-tuned version. The view of the method computes each
map for its own model and answer, with all other settings at their defaults.
Misleading: the two maps may explain different classes; a difference may come from the class, not the model.
"""

from __future__ import annotations

from dataclasses import replace

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.maps import alike
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.relevance import METHODS, no_classifier
from vitexplorer.comparisons.sides import LARGE, pair_of
from vitexplorer.controls import Choice
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PairResult
from vitexplorer.quantities.on_the_map import extreme
from vitexplorer.quantities.read_out import answer_text

_FOR = Text("{side}, for {name}", "{side}，解释{name}")


def compute(left: Capture, right: Capture, method: str, large: str) -> PairResult:
    """Compute both maps, (sides, rows, cols) on the left grid, not rescaled; `large` is for their figure."""
    from vitexplorer.views import compute as compute_view

    maps = compute_view(method, left), compute_view(method, right)
    result = pair_of((left, right), maps)
    names = tuple(
        _FOR.format(side=side, name=answer_text(map_.target)) for side, map_ in zip(result.names, maps, strict=True)
    )
    return replace(result, target=None, names=names)


def reading(result: PairResult) -> Text:
    """Name the patch that counts most for the answer on each side."""
    left, right = result.values
    return Text(
        "{left}: {one} counts most. {right}: resampled to the left grid, {other}{more}",
        "{left}：最重要的是{one}。{right}：重采样到左侧网格后，最重要的是{other}{more}",
    ).format(
        left=result.names[0], right=result.names[1], one=extreme(left), other=extreme(right), more=alike(left, right)
    )


COMPARISON = Comparison(
    title=Text("Relevance of each one's answer", "各自答案的相关性"),
    question=Text("Which patches support the answer of each side?", "两侧各有哪些图块支持自己的答案？"),
    misleads=Text(
        "If the two answers are different classes, the two maps explain different questions.",
        "如果两者给出的类别不同，两幅图解释的就是不同的问题。",
    ),
    compute=compute,
    reading=reading,
    refuses=no_classifier,
    runs="once",
    controls=(Choice("method", Text("Method", "方法"), METHODS), LARGE),
    paper=Paper("Chefer et al. 2021", "https://arxiv.org/abs/2103.15679"),
)
