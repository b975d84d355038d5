"""`evaluate`: which of a model's maps deserve trust? Every method by every protocol, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vitexplorer.capturing.capture import capture
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.standings import YARDSTICKS
from vitexplorer.core.text import Progress, SettingError, Text, UnsupportedError
from vitexplorer.core.types import EvaluationResult
from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.creatures import creature_cases
from vitexplorer.evaluation.data import grid_cases, known_scenes, parted_cases, scene_cases
from vitexplorer.evaluation.intervals import mean_interval
from vitexplorer.evaluation.measuring import Scores, measure
from vitexplorer.evaluation.methods import is_slow, map_views, title_of, view_of
from vitexplorer.evaluation.parted import Parted
from vitexplorer.evaluation.protocol import Data
from vitexplorer.evaluation.protocols import PROTOCOLS
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes.creatures import CLASS_NAMES
from vitexplorer.scenes.shapes import LABEL_NAMES

TITLE = Text("Which maps deserve trust?", "哪些图值得信任？")
NO_DATA = Text(
    "{model} knows neither the classes of the drawn scenes nor those of the paper creatures, so that there is no truth "
    "to hold its maps against. Give `data`: a list of cases with images, classes and masks.",
    "{model} 既不认识绘制场景中的类别，也不认识剪纸生物的类别，因此没有可供对照的真实答案。"
    "请给出 `data`：含图像、类别和掩码的样例列表。",
)
NOT_DRAWN = Text(
    "{protocol} cannot be asked about the pictures that {model} knows. Give others as `data`.",
    "{protocol} 不适用于 {model} 所认识的图像。请用 `data` 给出其他图像。",
)
NOTHING_SUITS = Text("None of the cases holds what {protocol} needs.", "这些样例都不含{protocol}所需的信息。")
ONE_OUTPUT = Text(
    "{protocol} asks which class the model answers, and {model} answers with one number. Deletion and insertion follow "
    "the number itself.",
    "{protocol}要看模型答的是哪个类别，而 {model} 的回答是一个数值。删除与插入曲线所跟踪的正是这个数值本身。",
)
LEFT_OUT = Text(
    "{model} answers with one number. Deletion and insertion follow it, and their areas are in its unit; left out is "
    "what asks which class is the answer: {protocols}.",
    "{model} 的回答是一个数值。删除与插入曲线跟踪它，面积以它的单位计；未列入要比较类别的评估：{protocols}。",
)
FEWER = Text(
    "Methods that run the network many times for one map rest on fewer cases; the numbers stand in the table's counts.",
    "为得到一幅图而多次运行网络的方法只用较少的样例；样例数见表中计数。",
)


@dataclass(frozen=True)
class _Plan:
    """Which cases a protocol is asked about."""

    protocol: str
    cases: Sequence[Case]

    def count(self, method: str, most: int | None) -> int:
        """How many of them for one method."""
        protocol = PROTOCOLS[self.protocol]
        wanted = protocol.targets_of_slow if is_slow(method) else protocol.targets
        return min(len(self.cases), wanted, len(self.cases) if most is None else most)


def evaluate(
    model: LoadedModel,
    views: Iterable[str] | None = None,
    *,
    data: Sequence[Case] | Sequence[Parted] | None = None,
    protocols: Iterable[str] | None = None,
    targets: int | None = None,
    progress: Progress | None = None,
) -> EvaluationResult:
    """Hold the maps of a model against what is known to be true.

    Args:
        model: a classifier.
        views: keys of views that draw one map, settings behind them where they are not the defaults
            ("grad_cam:sign=both"); all that have a meaning for the model when None. A random map and the truth
            itself are always among the rows.
        data: cases, or pictures with parts; when None drawn scenes and grids of them, or paper creatures, for models
            trained on these.
        protocols: keys of protocols; all that the data suits when None.
        targets: the most cases for each number; what the protocol states when None.
        progress: told how many numbers are measured, of how many; what it raises stops the work.

    Raises:
        UnknownNameError: no such view, setting or protocol.
        SettingError: a setting that a view cannot take; data and protocols do not go together.
        UnsupportedError: a model without a classifier; a protocol that asks which class is the answer, of a model with
            one output. Where no protocols are named those are left out.
    """
    if not model.num_classes:
        raise UnsupportedError(
            Text("{model} has no classifier to explain.", "{model} 没有可供解释的分类器。").format(model=model.name)
        )
    plans = _plans(model, data, protocols, targets)
    methods = _methods(model, views, plans[0].cases[0])
    counts = {(plan.protocol, method): plan.count(method, targets) for plan in plans for method in methods}
    total, done = sum(counts.values()), 0

    def told(protocol: str, method: str, seconds: float) -> None:
        nonlocal done
        done += bool(protocol)
        if progress and protocol:
            progress(done, total)

    scores: Scores = {}
    of_model: dict = {}
    for cases in {id(plan.cases): plan.cases for plan in plans}.values():
        here = [plan.protocol for plan in plans if plan.cases is cases]
        edges = sorted({0, *(counts[protocol, method] for protocol in here for method in methods)})
        for start, end in pairwise(edges):
            wanted = {p: [method for method in methods if counts[p, method] > start] for p in here}
            found = measure(model, cases[start:end], wanted, first=start, of_model=of_model, told=told)
            for key, values in found.items():
                scores.setdefault(key, []).extend(values)
    return tabulate(model, methods, {plan.protocol: plan.cases for plan in plans}, scores)


def tabulate(
    model: LoadedModel, methods: Sequence[str], cases: Mapping[str, Sequence[Case]], scores: Scores
) -> EvaluationResult:
    """The table of what was measured: means with 95 % intervals.

    Args:
        model: whose maps they are.
        methods: the rows.
        cases: of each protocol, in the order of its scores.
        scores: for each protocol and method as many of the first cases as were measured; a pair that is not there was
            not asked.
    """
    columns = [(key, column) for key in cases for column in PROTOCOLS[key].columns]
    numbers = np.full((4, len(methods), len(columns)), np.nan)
    for row, method in enumerate(methods):
        of_protocol = {key: _chosen(key, scores[key, method]) for key in cases if (key, method) in scores}
        for col, (key, column) in enumerate(columns):
            at = PROTOCOLS[key].columns.index(column)
            if key not in of_protocol:
                numbers[3, row, col] = 0
                continue
            values = of_protocol[key][:, at]
            images = _images(cases[key][: len(values)])
            numbers[:, row, col] = *mean_interval(values, images), np.isfinite(values).sum()
    return EvaluationResult(
        view="evaluate",
        title=TITLE,
        values=numbers[0],
        axes=("methods", "protocols"),
        unit=Text("mean over the cases", "各样例的平均值"),
        formula=Text("mean, with its 95 % bootstrap interval", "平均值及其 95% 自助法区间"),
        provenance=model.provenance,
        notes=(
            *((FEWER,) if any(map(is_slow, methods)) else ()),
            *((_left_out(model),) if model.has_one_output else ()),
        ),
        methods=tuple(methods),
        titles=tuple(map(title_of, methods)),
        protocols=tuple(column.key for _, column in columns),
        names=tuple(column.name for _, column in columns),
        better=tuple(column.better for _, column in columns),
        low=numbers[1],
        high=numbers[2],
        counts=numbers[3].astype(int),
    )


def _left_out(model: LoadedModel) -> Text:
    titles = [protocol.title for protocol in PROTOCOLS.values() if protocol.compares_classes]
    listed = Text(", ".join(title.en for title in titles), "、".join(title.zh for title in titles))
    return LEFT_OUT.format(model=model.name, protocols=listed)


def _chosen(protocol: str, found: Sequence[np.ndarray]) -> np.ndarray:
    """(cases, columns): what was measured, at the threshold that counts where there are several."""
    values, choose = np.stack(found), PROTOCOLS[protocol].choose
    if choose is None:
        return values
    known = np.isfinite(values)
    means = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    return values[..., choose(np.where(known.any(0), means, np.nan))]


def _images(cases: Sequence[Case]) -> np.ndarray:
    """(cases,) int: which image each is of, in the order in which they come, so that intervals are drawn alike."""
    known: dict[int, int] = {}
    return np.array([known.setdefault(id(case.image), len(known)) for case in cases])


def _methods(model: LoadedModel, views: Iterable[str] | None, case: Case) -> tuple[str, ...]:
    """The rows: the views, then a random map and the truth."""
    known = map_views(capture(model, case.image, fit="squash"))
    wanted = known if views is None else tuple(views)
    for view in wanted:
        if view_of(view) not in known:
            raise unknown_name("view", view_of(view), known)
    return (*(view for view in wanted if view not in YARDSTICKS), *YARDSTICKS)


def _plans(
    model: LoadedModel,
    data: Sequence[Case] | Sequence[Parted] | None,
    protocols: Iterable[str] | None,
    targets: int | None,
) -> list[_Plan]:
    """The protocols with the cases that each is asked about; several may share one list."""
    if data is not None:
        cases = [one if isinstance(one, Case) else parted_cases([one])[0] for one in data]
        named = protocols is not None
        suited: dict[tuple[int, ...], list[Case]] = {}
        plans = []
        for key in tuple(protocols) if named else PROTOCOLS:
            if model.has_one_output and PROTOCOLS[key].compares_classes:
                if named:
                    raise UnsupportedError(ONE_OUTPUT.format(protocol=PROTOCOLS[key].title, model=model.name))
                continue
            own = tuple(at for at, case in enumerate(cases) if PROTOCOLS[key].suits(case))
            if own:
                plans.append(_Plan(key, suited.setdefault(own, [cases[at] for at in own])))
            elif named:
                raise SettingError(NOTHING_SUITS.format(protocol=PROTOCOLS[key].title))
        return plans
    kinds = drawn_kinds(model)
    keys = tuple(kinds) if protocols is None else tuple(protocols)
    most: dict[Data, int] = {}
    for key in keys:
        protocol = PROTOCOLS[key]
        if key not in kinds:
            raise SettingError(NOT_DRAWN.format(protocol=protocol.title, model=model.name))
        wanted = protocol.targets if targets is None else min(targets, protocol.targets)
        most[kinds[key]] = max(most.get(kinds[key], 0), wanted)
    drawn = {kind: drawn_cases(model, kind, count) for kind, count in most.items()}
    return [_Plan(key, drawn[kinds[key]]) for key in keys]


def drawn_kinds(model: LoadedModel) -> dict[str, Data]:
    """The protocols that drawn pictures suit, with the kind of these; SettingError for a model that knows none."""
    if _knows(model, LABEL_NAMES):
        return {key: protocol.data for key, protocol in PROTOCOLS.items() if protocol.data != "parted"}
    if _knows(model, CLASS_NAMES):
        creature = creature_cases(1, model.preprocessing.input_size[0])[0]
        return {key: "parted" for key, protocol in PROTOCOLS.items() if protocol.suits(creature)}
    raise SettingError(NO_DATA.format(model=model.name))


def _knows(model: LoadedModel, names: tuple[str, ...]) -> bool:
    """Whether a model answers with these classes; of random weights nobody knows any names, their number counts."""
    return model.num_classes == len(names) and tuple(model.class_names or names) == names


def drawn_cases(model: LoadedModel, kind: Data, count: int) -> list[Case]:
    """The first drawn cases of a kind for a model that knows their classes.

    Grids are made of scenes that the model names surely, as the paper has it; of any for a model that learned nothing.
    """
    size = model.preprocessing.input_size[0]
    if kind == "parted":
        return creature_cases(count, size)
    if kind == "scenes":
        return scene_cases(count, size)
    return grid_cases(count, size, known=None if model.provenance.is_random else known_scenes(model))
