"""Evaluation of a model's maps: every method by every protocol, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from vitexplorer.capturing.capture import capture
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.standings import YARDSTICKS
from vitexplorer.core.text import ITEMS, Progress, SettingError, Text, UnsupportedError
from vitexplorer.core.types import EvaluationResult
from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.data import (
    creature_cases,
    grid_cases,
    known_scenes,
    parted_case,
    scene_cases,
    worded_cases,
    worded_grid_cases,
)
from vitexplorer.evaluation.intervals import mean_interval
from vitexplorer.evaluation.measuring import Scores, measure
from vitexplorer.evaluation.methods import OF_TEXT, is_slow, map_views, title_of, view_of
from vitexplorer.evaluation.parted import Parted
from vitexplorer.evaluation.protocol import PROTOCOLS, Data
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes.creatures import CLASS_NAMES
from vitexplorer.scenes.shapes import LABEL_NAMES

TITLE = Text("Which maps deserve trust?", "哪些图值得信任？")
NO_DATA = Text(
    "{model} knows neither the classes of the drawn scenes nor those of the paper creatures, so there is no truth to "
    "check its maps against. Give `data`: a list of cases with images, classes and masks.",
    "{model} 既不认识合成场景中的类别，也不认识剪纸生物的类别，因此没有可供对照的真实答案。"
    "请给出 `data`：含图像、类别和掩码的样例列表。",
)
NOT_DRAWN = Text(
    "{protocol} cannot be measured on the pictures that {model} knows. Give others as `data`.",
    "{protocol}不适用于 {model} 所认识的图像。请用 `data` 给出其他图像。",
)
NOTHING_SUITS = Text("None of the cases holds what {protocol} needs.", "这些样例都不含{protocol}所需的信息。")
ONE_OUTPUT = Text(
    "{protocol} asks which class the model answers, and {model} answers with one number. Deletion and insertion follow "
    "the number itself.",
    "{protocol}要看模型答的是哪个类别，而 {model} 的答案是一个数值。删除与插入曲线跟踪的是这个数值本身。",
)
NO_ANSWER = Text(
    "{protocol} asks which class the model answers, and {model} answers with a cosine for each text.",
    "{protocol}要看模型答的是哪个类别，而 {model} 对每条文字给出一个余弦。",
)
NO_ZERO = Text(
    "A map of cosines has no zero of its own: its shares inside an object or a cell say less than where its highest "
    "patch is.",
    "余弦图没有自身的零点：物体或格子内的占比不如最高图块的位置说明问题。",
)
LEFT_OUT = Text(
    "{model} answers with one number. Deletion and insertion follow it, and their areas are in its unit. Left out, "
    "because they ask which class is the answer: {protocols}.",
    "{model} 的答案是一个数值。删除与插入曲线跟踪它，面积以它的单位计。以下评估要看模型答的是哪个类别，因此未列入："
    "{protocols}。",
)
FEWER = Text(
    "Methods that run the network many times for one map use fewer cases; the table's counts say how many.",
    "有些方法为得到一幅图要多次运行网络，因此只用较少的样例；样例数见表中的计数。",
)


def evaluate(
    model: LoadedModel,
    views: Iterable[str] | None = None,
    *,
    data: Sequence[Case] | Sequence[Parted] | None = None,
    protocols: Iterable[str] | None = None,
    targets: int | None = None,
    progress: Progress | None = None,
) -> EvaluationResult:
    """Evaluate the maps of a model against a known truth.

    Args:
        model: a classifier, or a model that reads texts.
        views: keys of views that draw one map, with settings that differ from the defaults ("grad_cam:sign=both",
            "text_map:method=naclip"); None for all that apply to the model. A random map and the truth itself are
            always added.
        data: cases, or pictures with parts; None for drawn scenes and grids of them, worded ones for a model that reads
            texts, or paper creatures, whichever the model was trained on.
        protocols: keys of protocols; None for all that suit the data.
        targets: limit of cases for each number; None for the protocol's own.
        progress: called with the numbers measured and their total; an exception that it raises stops the work.

    Raises:
        UnknownNameError: there is no such view, setting or protocol.
        SettingError: a setting is invalid, or data and protocols do not match.
        UnsupportedError: the model has no classifier and reads no texts; or a named protocol compares classes or reads
            the answer, and the model has one output or is asked by texts. Without `protocols` these are left out.
    """
    if not model.num_classes and model.text is None:
        raise UnsupportedError(
            Text("{model} has no classifier to explain.", "{model} 没有可供解释的分类头。").format(model=model.title)
        )
    cases_of = _cases_of_protocols(model, data, protocols, targets)
    first_cases, *_ = cases_of.values()
    methods = _methods(model, views, first_cases[0])
    counts = {
        (protocol, method): _count(protocol, method, len(cases), targets)
        for protocol, cases in cases_of.items()
        for method in methods
    }
    total = sum(counts.values())
    done = 0

    def report(protocol: str, method: str, seconds: float) -> None:
        nonlocal done
        done += bool(protocol)
        if progress and protocol:
            progress(done, total)

    scores: Scores = {}
    of_model: dict = {}
    for cases in {id(cases): cases for cases in cases_of.values()}.values():
        here = [protocol for protocol in cases_of if cases_of[protocol] is cases]
        edges = sorted({0, *(counts[protocol, method] for protocol in here for method in methods)})
        for start, end in pairwise(edges):
            methods_of = {p: [method for method in methods if counts[p, method] > start] for p in here}
            measured = measure(model, cases[start:end], methods_of, first=start, of_model=of_model, report=report)
            for key, values in measured.items():
                scores.setdefault(key, []).extend(values)
    return tabulate(model, methods, cases_of, scores)


def tabulate(
    model: LoadedModel, methods: Sequence[str], cases: Mapping[str, Sequence[Case]], scores: Scores
) -> EvaluationResult:
    """Tabulate the measurements: means with 95 % intervals.

    Args:
        model: model of the maps.
        methods: methods, the rows of the table.
        cases: cases of each protocol, in the order of its scores.
        scores: scores of the first cases, for each (protocol, method); a missing pair was not measured.
    """
    columns = [(key, column) for key in cases for column in PROTOCOLS[key].columns]
    numbers = np.full((4, len(methods), len(columns)), np.nan)
    numbers[3] = 0
    for row, method in enumerate(methods):
        of_protocol = {key: _chosen(key, scores[key, method]) for key in cases if (key, method) in scores}
        for col, (key, column) in enumerate(columns):
            if key in of_protocol:
                values = of_protocol[key][:, PROTOCOLS[key].columns.index(column)]
                images = _images(cases[key][: len(values)])
                numbers[:, row, col] = *mean_interval(values, images), np.isfinite(values).sum()
    return EvaluationResult(
        view="evaluate",
        title=TITLE,
        values=numbers[0],
        axes=("methods", "protocols"),
        unit=Text("mean over the cases", "各样例的平均值"),
        formula=Text("mean, with its 95 % bootstrap interval", "平均值及其 95 % 自助法区间"),
        provenance=model.provenance,
        notes=(
            *((FEWER,) if any(map(is_slow, methods)) else ()),
            *((_left_out(model),) if model.has_one_output else ()),
            *((NO_ZERO,) if any(view_of(method) == OF_TEXT for method in methods) else ()),
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


def _count(protocol: str, method: str, there: int, most: int | None) -> int:
    """Return the number of cases, of those there, that a protocol measures for a method."""
    record = PROTOCOLS[protocol]
    return min(there, record.targets_of_slow if is_slow(method) else record.targets, there if most is None else most)


def _left_out(model: LoadedModel) -> Text:
    titles = [protocol.title for protocol in PROTOCOLS.values() if protocol.compares_classes]
    return LEFT_OUT.format(model=model.title, protocols=ITEMS.join(titles))


def _chosen(protocol: str, measured: Sequence[np.ndarray]) -> np.ndarray:
    """Return the scores (cases, columns), at the selected threshold if there are several."""
    values = np.stack(measured)
    choose = PROTOCOLS[protocol].choose
    if choose is None:
        return values
    known = np.isfinite(values)
    means = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    return values[..., choose(np.where(known.any(0), means, np.nan))]


def _images(cases: Sequence[Case]) -> np.ndarray:
    """Number the image of each case, int (cases,), by first appearance, so that the bootstrap draws are stable."""
    known: dict[int, int] = {}
    return np.array([known.setdefault(id(case.image), len(known)) for case in cases])


def _methods(model: LoadedModel, views: Iterable[str] | None, case: Case) -> tuple[str, ...]:
    """Return the rows of the table: the views, then a random map and the truth."""
    known = map_views(capture(model, case.image, fit="squash"))
    views = known if views is None else tuple(views)
    keys = tuple(dict.fromkeys(map(view_of, known)))
    for view in views:
        if view_of(view) not in keys:
            raise unknown_name("view", view_of(view), keys)
    return (*(view for view in views if view not in YARDSTICKS), *YARDSTICKS)


def _cases_of_protocols(
    model: LoadedModel,
    data: Sequence[Case] | Sequence[Parted] | None,
    protocols: Iterable[str] | None,
    targets: int | None,
) -> dict[str, Sequence[Case]]:
    """Return the cases of each protocol; several may share one list."""
    if data is not None:
        cases = [item if isinstance(item, Case) else parted_case(item) for item in data]
        named = protocols is not None
        suited: dict[tuple[int, ...], list[Case]] = {}
        cases_of: dict[str, Sequence[Case]] = {}
        for key in tuple(protocols) if named else PROTOCOLS:
            if (reason := _refused(model, key)) is not None:
                if named:
                    raise UnsupportedError(reason)
                continue
            own = tuple(at for at, case in enumerate(cases) if PROTOCOLS[key].suits(case))
            if own:
                cases_of[key] = suited.setdefault(own, [cases[at] for at in own])
            elif named:
                raise SettingError(NOTHING_SUITS.format(protocol=PROTOCOLS[key].title))
        return cases_of
    kinds = drawn_kinds(model)
    keys = tuple(kinds) if protocols is None else tuple(protocols)
    most: dict[Data, int] = {}
    for key in keys:
        protocol = PROTOCOLS[key]
        if (reason := _refused(model, key)) is not None:
            raise UnsupportedError(reason)
        if key not in kinds:
            raise SettingError(NOT_DRAWN.format(protocol=protocol.title, model=model.title))
        count = protocol.targets if targets is None else min(targets, protocol.targets)
        most[kinds[key]] = max(most.get(kinds[key], 0), count)
    drawn = {kind: drawn_cases(model, kind, count) for kind, count in most.items()}
    return {key: drawn[kinds[key]] for key in keys}


def drawn_kinds(model: LoadedModel) -> dict[str, Data]:
    """Return the protocols for drawn pictures, each with its kind of picture.

    Raises SettingError if the model does not know the classes of any drawn pictures.
    """
    if model.text is not None and model.provenance.weights == "bundled":
        of_scenes = {key: protocol for key, protocol in PROTOCOLS.items() if protocol.data != "parted"}
        return {key: protocol.data for key, protocol in of_scenes.items() if not protocol.reads_answer}
    if _knows(model, LABEL_NAMES):
        return {key: protocol.data for key, protocol in PROTOCOLS.items() if protocol.data != "parted"}
    if _knows(model, CLASS_NAMES):
        creature = creature_cases(1, model.preprocessing.input_size[0])[0]
        return {key: "parted" for key, protocol in PROTOCOLS.items() if protocol.suits(creature)}
    raise SettingError(NO_DATA.format(model=model.title))


def _refused(model: LoadedModel, protocol: str) -> Text | None:
    """Return the reason why a protocol has no meaning for a model."""
    record, named = PROTOCOLS[protocol], {"protocol": PROTOCOLS[protocol].title, "model": model.title}
    if model.has_one_output and record.compares_classes:
        return ONE_OUTPUT.format(**named)
    return NO_ANSWER.format(**named) if not model.num_classes and record.reads_answer else None


def _knows(model: LoadedModel, names: tuple[str, ...]) -> bool:
    """Return True if the model has these classes; without class names (random weights) their number decides."""
    return model.num_classes == len(names) and tuple(model.class_names or names) == names


def drawn_cases(model: LoadedModel, kind: Data, count: int) -> list[Case]:
    """Draw the first cases of a kind for a model that knows their classes, or their words.

    Grids consist of scenes that the model classifies surely, as in the paper; for random weights, of any scenes.
    """
    size = model.preprocessing.input_size[0]
    if model.text is not None:
        return (worded_cases if kind == "scenes" else worded_grid_cases)(count, size)
    if kind == "parted":
        return creature_cases(count, size)
    if kind == "scenes":
        return scene_cases(count, size)
    return grid_cases(count, size, known=None if model.provenance.is_random else known_scenes(model))
