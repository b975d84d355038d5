"""Verdict on a comparison in one sentence: is the best method ahead of the others, or may it be chance?

Each pair is judged by itself (`results/bootstrap.py`). Of many methods the first one is partly first by luck, so its
lead over the next is too large on average: read a lead that is barely clear with care.
"""

from __future__ import annotations

import math

from vitexplorer.core.text import Text
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.results.bootstrap import INTERVAL, ON, Bootstrap
from vitexplorer.finetune.results.metrics import metric_text
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.finetune.run_titles import run_title

MOST_NAMES = 3
METRICS = {
    "accuracy": Text("an accuracy of {value}", "准确率 {value}"),
    "rmse": Text("an RMSE of {value}", "均方根误差 {value}"),
}
ALONE = Text("{run} reaches {value} {on} ({interval}).", "{on}，“{run}”达到{value}（{interval}）。")
NO_INTERVAL = Text("no interval: too few images or no finite number", "没有区间：图像太少，或数值并非有限")
AHEAD_OF_ALL = Text(
    "{best} is ahead of each of the {count} other methods {on}, of the next one, {next}, by {lead} ({interval}).",
    "{on}，“{best}”领先其他 {count} 种方法，比第二名“{next}”领先 {lead}（{interval}）。",
)
AHEAD_OF_NONE = Text(
    "{best} comes first {on}, but none of the other {count} methods can be told apart from it (the next one, {next}: "
    "{why}).",
    "{on}，“{best}”排名第一，但其他 {count} 种方法都无法与它区分（第二名“{next}”：{why}）。",
)
AHEAD_OF_SOME = Text(
    "{best} is ahead of {behind} {on}, but cannot be told apart from {alike} ({why}).",
    "{on}，“{best}”领先{behind}，但与{alike}无法区分（{why}）。",
)
OF_NEXT = Text("{next}: {why}", "“{next}”：{why}")
MORE = Text("{names} and {count} more", "{names}和另外 {count} 种方法")


def verdict(comparison: Comparison) -> Text | None:
    """Return the sentence; None before there are results."""
    if not comparison.results:
        return None
    best, *others = comparison.leaderboard
    if not others:
        return _alone(best)
    pairs = [comparison.bootstrap(best.run, other.run) for other in others]
    if len(pairs) == 1:
        return pairs[0].verdict
    behind, alike = [pair for pair in pairs if pair.is_clear], [pair for pair in pairs if not pair.is_clear]
    first = {"best": run_title(best.run), "on": ON.format(images=pairs[0].images), "count": len(pairs)}
    if not alike:
        return AHEAD_OF_ALL.format(**first, next=run_title(pairs[0].b), lead=pairs[0].lead, interval=pairs[0].interval)
    doubt = {"next": run_title(alike[0].b), "why": alike[0].doubt}
    if not behind:
        return AHEAD_OF_NONE.format(**first, **doubt)
    why = OF_NEXT.format(**doubt) if len(alike) > 1 else alike[0].doubt
    return AHEAD_OF_SOME.format(**first, why=why, behind=_names(behind), alike=_names(alike))


def _alone(result: FinetuneResult) -> Text:
    low, high = (metric_text(result.metric, end) for end in result.interval)
    is_known = not math.isnan(result.interval[0])
    return ALONE.format(
        run=run_title(result.run),
        value=METRICS[result.metric].format(value=metric_text(result.metric, result.value)),
        on=ON.format(images=len(result.paths)),
        interval=INTERVAL.format(low=low, high=high) if is_known else NO_INTERVAL,
    )


def _names(pairs: list[Bootstrap]) -> Text:
    """List the other runs of pairs, at most `MOST_NAMES` by name."""
    names = [run_title(pair.b) for pair in pairs]
    titles = [Text(name.en, f"“{name.zh}”") for name in names]
    first_titles, more = titles[:MOST_NAMES], len(titles) - MOST_NAMES
    chinese = "、".join(title.zh for title in first_titles)
    if more > 0:
        return MORE.format(names=Text(", ".join(title.en for title in first_titles), chinese), count=more)
    *front, last = (title.en for title in first_titles)
    return Text(f"{', '.join(front)} and {last}" if front else last, chinese)
