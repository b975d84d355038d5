"""Check of how pictures are fed: normalisation, scale, order of channels, turns.

Candidates come from the tensors (`feeds.possible_encodings`) and from what published models want. First the scaling is
chosen, then channels and axes, then, if these changed, the scaling again; each by the mean score over at most 64
pictures. A part of the best candidate becomes a finding if the score falls without it, over all pictures: by two
standard errors where the tensors themselves contradict what the model states, by 3.7 where only the answers speak.
"""

from __future__ import annotations

import numpy as np
from PIL import Image
from torch import Tensor

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.alternatives import Alternative, alternatives, run_with
from vitexplorer.diagnosis.answers import gain, judged_alone
from vitexplorer.diagnosis.examination import CLEAR, SUPPORTED, Examination, certainty_of
from vitexplorer.diagnosis.feeds import AS_FED, STATED, TURNS, Encoding, Feed, Scaling, possible_encodings
from vitexplorer.diagnosis.label_maps import best_map, is_above_chance, mapped_labels
from vitexplorer.diagnosis.sentences import MORE, NO_TIME, SAME
from vitexplorer.diagnosis.subject import UNKNOWN, Preprocess

SCALES = ("wrong_normalisation", "not_scaled", "scaled_twice")
AXES = ("axes_swapped", "rotated", "flipped")
CAUSES = (*SCALES, "channels_swapped", *AXES)

_SCALED = {
    "wrong_normalisation": Text(
        "The pictures are normalised with mean {mean} and standard deviation {std}, not {want_mean} and {want_std}",
        "图像归一化所用的均值 {mean}、标准差 {std} 应为 {want_mean} 与 {want_std}",
    ),
    "not_scaled": Text(
        "The pixels were not divided by 255; mean {want_mean} and standard deviation {want_std} go with that",
        "像素没有除以 255；其后应使用均值 {want_mean} 与标准差 {want_std}",
    ),
    "scaled_twice": Text(
        "The pixels were divided by 255 twice; mean {want_mean} and standard deviation {want_std} belong after one",
        "像素被除以 255 两次；只除一次，其后使用均值 {want_mean} 与标准差 {want_std}",
    ),
}
_SWAPPED = Text("The colours are in the order blue, green, red", "颜色通道的顺序为蓝、绿、红")
_TURNED = {
    "axes_swapped": Text("Rows and columns of the pictures are swapped", "图像的行与列互换"),
    "rotated": Text("The pictures are rotated by {turn} degrees", "图像被旋转了 {turn} 度"),
    "flipped": Text("The pictures are mirrored, {turn}", "图像被{turn_zh}镜像"),
    "channels last": Text(
        "The colour axis of the pictures comes last, but was read as the first",
        "图像的颜色轴在最后，却被当作第一个轴读取",
    ),
}
_TURN_ZH = {"left-right": "左右", "upside down": "上下"}
LAST_ROUND = 2
"""Candidates that go on to more pictures than those of the first trial"""
BROKEN = 0.9
"""Largest certainty of what the answers of a model say whose weights have a finding already"""
MAPPED = 5
"""Candidates, beside the pictures as fed, for which a permutation of the labels is sought: those whose answers tell the
pictures apart best"""


def check_feeding(exam: Examination) -> None:
    """Find what was done wrong to the pictures, and set the feed that the other checks use."""
    exam.did_check(CAUSES)
    model = exam.subject.model
    own = Scaling(tuple(model.preprocessing.mean), tuple(model.preprocessing.std))
    encodings = possible_encodings(exam.fed, own)
    targets = [own, *(scaling for scaling in STATED.values() if scaling.key != own.key)]
    scalings = [
        Feed(encoding.scaling, target)
        for encoding in encodings
        for target in targets
        if encoding.scaling.key != target.key
    ]
    choose_measure(exam, [AS_FED, *scalings, *(feed for turn in TURNS if _fits(exam, feed := Feed(turn=turn)))])
    best = _best_scaling(exam, scalings, own, AS_FED)
    turned = [best._replace(swap=True), *(best._replace(turn=turn) for turn in TURNS)]
    other = _best(exam, [best, *(feed for feed in turned if _fits(exam, feed))])
    if other != best:
        best = _best(exam, [other, other._replace(swap=not other.swap)])
        best = _best_scaling(exam, scalings, own, best)
    _conclude(exam, best, encodings, own)


def choose_measure(exam: Examination, feeds: list[Feed]) -> None:
    """Judge by labels only where some candidate answers them better than chance; else by the answers alone.

    Labels that are a permutation of the classes are mapped for the comparison. Where another reading of the weights
    answers them, the weights are at fault, and answers alone would tell nothing.
    """
    if exam.subject.labels is None or exam.has_no_classes:
        return
    if any(_answers_labels(exam, feed, exam.fewest) for feed in feeds):
        return
    usual, *others = feeds
    feeds = [usual, *sorted(others, key=lambda feed: -_information(exam, feed))[:MAPPED]]
    if any(_answers_labels(exam, feed, exam.few) for feed in feeds):
        return
    labels = exam.subject.labels[exam.few]
    maps = [best_map(exam.logits(feed, exam.few).argmax(1), labels, exam.subject.model.num_classes) for feed in feeds]
    mapping = max(maps, key=lambda each: each.accuracy)
    if mapping.is_sure:
        exam.labels = mapped_labels(exam.subject.labels, mapping.classes)
    elif not any(exam.has_time(0.4) and _is_right(exam, each) for each in alternatives(exam.subject.model)):
        exam.labels = None


def _information(exam: Examination, feed: Feed) -> float:
    """Compute how well the answers to a few pictures tell them apart."""
    logits = exam.logits(feed, exam.fewest)
    return judged_alone(logits, logits).value


def _answers_labels(exam: Examination, feed: Feed, rows: np.ndarray) -> bool:
    """Return True if more answers are right than by chance."""
    assert exam.subject.labels is not None
    labels = exam.subject.labels[rows]
    known = labels != UNKNOWN
    right = exam.logits(feed, rows).argmax(1)[known] == labels[known]
    return bool(known.any()) and is_above_chance(float(right.mean()), labels[known])


def _is_right(exam: Examination, alternative: Alternative) -> bool:
    """Return True if another reading of the weights answers the labels better than chance."""
    value = exam.judged(rows=exam.fewest, run=run_with(exam.subject.model.module, alternative)).value
    labels = exam.subject.labels[exam.fewest]
    return is_above_chance(value, labels[labels != UNKNOWN])


def _fits(exam: Examination, feed: Feed) -> bool:
    """Return True if the turned picture keeps its size."""
    height, width = exam.fed.shape[2:]
    return height == width or feed.turn in ("", "180", "left-right", "upside down")


def _best_scaling(exam: Examination, scalings: list[Feed], own: Scaling, axes: Feed) -> Feed:
    """Return the best scaling, with channels and axes of `axes`; one not stated must be far better."""
    turned = [feed._replace(swap=axes.swap, turn=axes.turn) for feed in scalings]
    stated = _best(exam, [axes, *(feed for feed in turned if feed.give_as == own)])
    other = _best(exam, [stated, *(feed for feed in turned if feed.give_as != own)])
    return other if gain(exam.judged(stated, exam.few), exam.judged(other, exam.few)) >= CLEAR else stated


def _best(exam: Examination, feeds: list[Feed]) -> Feed:
    """Return the candidate of the highest mean score, the first where they tie; few pictures sort out most."""
    first, *others = feeds
    means = [(_mean(exam, feed, exam.fewest), feed) for feed in others if exam.has_time(0.5)]
    if len(means) < len(others):
        exam.cannot_tell(CAUSES, NO_TIME)
    promising = [feed for _, feed in sorted(means, key=lambda pair: -pair[0])[:LAST_ROUND]]
    return max([first, *promising], key=lambda feed: _mean(exam, feed, exam.few))


def _mean(exam: Examination, feed: Feed, rows: np.ndarray) -> float:
    return float(exam.judged(feed, rows).scores.mean())


def _conclude(exam: Examination, best: Feed, encodings: list[Encoding], own: Scaling) -> None:
    """Keep the parts of the best candidate that the answers to all pictures speak for."""
    mended = best
    proofs: list[tuple[str, float, Feed]] = []
    after = exam.judged(best)
    for part in ({"turn": ""}, {"swap": False}, {"read_as": None, "give_as": None}):
        without = best._replace(**part)
        if without == best:
            continue
        before = exam.judged(without)
        rise = gain(before, after)
        cause = _cause_of(best, without, encodings)
        if rise >= _needed(exam, best, without, encodings, own) and after.value >= before.value:
            proofs.append((cause, rise, without))
        else:
            mended = mended._replace(**part)
            exam.cannot_tell(cause, MORE.format(rise=f"{rise:.1f}") if rise > SUPPORTED else SAME)
    exam.feed = mended
    _note_undecided(exam, proofs, encodings, own)
    if not proofs:
        return
    before, after = exam.judged(AS_FED), exam.judged(mended)
    most = BROKEN if exam.findings else 1.0  # those of the weights came first
    for cause, rise, without in proofs:
        exam.add_repair(
            cause,
            _what(cause, mended),
            before.value,
            after.value,
            certainty=min(certainty_of(rise), most),
            repaired=mended if exam.subject.preprocess is None else _Repaired(exam.subject.preprocess, mended),
            evidence={
                "standard_errors": rise,
                "pictures": len(exam.fed),
                "without": exam.judged(without).value,
                "read_as": mended.read_as,
                "give_as": mended.give_as,
                "turn": mended.turn,
            },
        )


class _Repaired:
    """The caller's preprocessing, followed by what was missing."""

    def __init__(self, preprocess: Preprocess, feed: Feed):
        self.preprocess = preprocess
        self.feed = feed

    def __call__(self, image: Image.Image) -> Tensor:
        """Return the tensor (3, height, width) that the model should get."""
        return self.feed(self.preprocess(image)[None])[0]


def _contradicts(encodings: list[Encoding], own: Scaling) -> bool:
    """Return True if the tensors cannot have the scaling that the model states."""
    return all(encoding.scaling.key != own.key for encoding in encodings)


def _needed(exam: Examination, best: Feed, without: Feed, encodings: list[Encoding], own: Scaling) -> float:
    is_scaling = best.read_as != without.read_as
    speaks = is_scaling and _contradicts(encodings, own) and best.give_as is not None and best.give_as.key == own.key
    least = SUPPORTED if speaks else CLEAR
    return least if exam.labels is not None else least + 1


def _cause_of(best: Feed, without: Feed, encodings: list[Encoding]) -> str:
    if best.turn != without.turn:
        return TURNS[best.turn][0]
    if best.swap != without.swap:
        return "channels_swapped"
    return next(encoding.cause for encoding in encodings if encoding.scaling == best.read_as)


def _what(cause: str, feed: Feed) -> Text:
    if cause in _SCALED and feed.read_as is not None and feed.give_as is not None:
        return _SCALED[cause].format(
            mean=_three(feed.read_as.mean),
            std=_three(feed.read_as.std),
            want_mean=_three(feed.give_as.mean),
            want_std=_three(feed.give_as.std),
        )
    if cause == "channels_swapped":
        return _SWAPPED
    return _TURNED.get(feed.turn, _TURNED[cause]).format(turn=feed.turn, turn_zh=_TURN_ZH.get(feed.turn, ""))


def _three(numbers: tuple[float, ...]) -> str:
    texts = [f"{number:.3g}" for number in numbers]
    return texts[0] if len(set(texts)) == 1 else f"({', '.join(texts)})"


def _note_undecided(exam: Examination, proofs: list, encodings: list[Encoding], own: Scaling) -> None:
    found = {cause for cause, _, _ in proofs}
    rows = exam.few
    if _contradicts(encodings, own) and not found & set(SCALES):
        exam.cannot_tell(encodings[0].cause if encodings else "wrong_normalisation", SAME)
    usual = exam.judged(exam.feed, rows)
    swapped = exam.judged(exam.feed._replace(swap=not exam.feed.swap), rows)
    if "channels_swapped" not in found and abs(gain(usual, swapped)) < SUPPORTED:
        exam.cannot_tell("channels_swapped", SAME)
    mirrored = exam.judged(exam.feed._replace(turn="left-right"), rows)
    if "flipped" not in found and not exam.feed.turn and abs(gain(usual, mirrored)) < SUPPORTED:
        exam.cannot_tell("flipped", SAME)
