"""Component of a training's results: the verdict, the leaderboard, wrongly predicted images, downloads.

The figures beside it come from `result_figures`. Results are read from the training's folder; a model is loaded only
when it is opened or downloaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, in_language
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.finetune.job.images import images_root
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.finetune.verdict import verdict
from vitexplorer.models.catalog import is_convolutional
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.service.amounts import duration, memory, percentage, score
from vitexplorer.ui.kit.served_files import ServedFile, image_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

MOST_WRONG = 24
SIDE = 96
"""Shorter side of a thumbnail in pixels"""


class BoardRow(BaseModel):
    """Method in the leaderboard."""

    run: str
    title: str
    value: str
    interval: str
    """Interval of the value, "77.0 % to 96.0 %"; empty where there is none"""
    at: float
    low: float
    high: float
    """Places of the value and of the ends of its interval on the axis, 0-1"""
    trainable: str
    time: str
    file: str
    note: str = ""
    place: int = 0


class WrongImage(BaseModel):
    """Wrongly predicted validation image."""

    index: int
    """Index among the validation images"""
    image: ServedFile
    label: str


class ResultsData(BaseModel):
    """Results of a training; empty before there are any."""

    metric: str = ""
    question: str = ""
    verdict: str = ""
    """Conclusion in one sentence"""
    axis: list[str] = []
    """Labels of the ends of the axis on which the rows lie"""
    bars_says: str = ""
    """Legend of the rows' dots and bars"""
    rows: list[BoardRow] = []
    baseline: str = ""
    baseline_at: float | None = None
    """Place of the baseline on the axis; None where there is none"""
    constant: str = ""
    at_chance: bool = False
    """True where no method is clearly better than an answer without the image"""
    verdicts: list[str] = []
    chosen: str = ""
    """Run whose images and files are shown"""
    chosen_title: str = ""
    wrong_title: str = ""
    wrong: list[WrongImage] = []
    opens: bool = True
    """True where the other rooms can show the chosen model"""
    beside: dict[str, str] = {}
    """Address parameters of the room Compare with the base on the left and the chosen run on the right"""
    files: list[dict[str, str]] = []
    """Kinds of files to download: `what` and `label`"""
    download: ServedFile | None = None
    """Requested file; the other fields are then empty"""
    working: str = ""
    """Progress of a file; the other fields are then empty"""
    refused: str = ""
    """Reason why a file could not be made; the other fields are then empty"""
    words: dict[str, str] = {}


class ResultsView(Widget):
    """Component of the results.

    Events: `choose` with `run`, `open` with `run` and maybe `index`, `changed` with `run`, `fetch` with `run` and
    `what`, `predict` with `files`, a zip or images.
    """

    data_model = ResultsData
    sends = ("choose", "open", "changed", "fetch", "predict")


def no_results(language: Language) -> ResultsData:
    """Return the data before there are results."""
    return ResultsData(words=in_language(TRAINING_WORDS, language, "board_"))


def results_data(comparison: Comparison, chosen: str, language: Language) -> ResultsData:
    """Return the results of a training with one run chosen; an unknown run becomes the best one."""
    data = no_results(language)
    board = comparison.leaderboard
    if not board:
        return data
    metric = board[0].metric
    baseline = comparison.baseline
    data.metric = TRAINING_WORDS[f"metric_{metric}"].in_(language)
    data.question = say("board_question" if len(board) > 1 else "board_question_one", language)
    data.verdict = verdict(comparison).in_(language)
    ends = axis_of(comparison)
    data.axis = [score(metric, end) for end in ends]
    data.rows = [_row(result, place, ends, language) for place, result in enumerate(board, 1)]
    sentences = [say("board_bars", language, metric=data.metric)]
    if len(board) > 1:
        sentences.append(say("board_paired", language))
    if baseline is not None:
        data.baseline = score(metric, baseline.value)
        sentences.append(say("board_dashed", language, name=TRAINING_WORDS["run_baseline"], value=data.baseline))
        data.baseline_at = place_on(ends, baseline.value)
        data.constant = score(metric, baseline.constant)
        data.at_chance = metric == "accuracy" and all(result.interval[0] <= baseline.constant for result in board)
    data.bars_says = ("" if language == "zh" else " ").join(sentences)
    data.verdicts = list(verdicts(comparison, language))
    result = next((result for result in board if result.run == chosen), board[0])
    data.chosen = result.run
    data.chosen_title = run_title(result.run).in_(language)
    data.wrong_title = wrong_title(result, language)
    data.wrong = wrong_images(result, comparison.folder, language)
    data.opens = not is_convolutional(result.base[0])
    if data.opens and data.wrong:
        data.wrong_title += ("" if language == "zh" else " ") + say("board_press", language)
    data.files = [{"what": what, "label": say(f"board_{what}", language)} for what in download_kinds(result)]
    return data


def axis_of(comparison: Comparison) -> tuple[float, float]:
    """Return the ends of an axis on which all values, their intervals and the baseline lie.

    An accuracy's ends are multiples of 10 %; an error's axis begins at zero.
    """
    baseline = [comparison.baseline.value] if comparison.baseline else []
    values = [number for result in comparison.results for number in (result.value, *result.interval)]
    known = [number for number in (*values, *baseline) if math.isfinite(number)]
    if comparison.results[0].metric == "accuracy":
        return math.floor(10 * min(known, default=0)) / 10, max(1, math.ceil(10 * max(known, default=1))) / 10
    return 0.0, max(known, default=1.0) or 1.0


def place_on(axis: tuple[float, float], value: float) -> float:
    """Return the place of a value on an axis, 0-1; 0 for a value that is not finite."""
    low, high = axis
    return min(1.0, max(0.0, (value - low) / (high - low))) if math.isfinite(value) and high > low else 0.0


def _row(result: FinetuneResult, place: int, axis: tuple[float, float], language: Language) -> BoardRow:
    is_known = math.isfinite(result.interval[0])
    low, high = result.interval if is_known else (result.value, result.value)
    ends = {"low": score(result.metric, low), "high": score(result.metric, high)}
    return BoardRow(
        run=result.run,
        title=run_title(result.run).in_(language),
        value=score(result.metric, result.value),
        interval=say("board_interval", language, **ends) if is_known else "",
        at=place_on(axis, result.value),
        low=place_on(axis, low),
        high=place_on(axis, high),
        trainable=f"{result.trainable:,} ({percentage(result.trainable / result.total)})",
        time=duration(result.seconds, language),
        file=memory(result.file_bytes),
        note=say("board_early", language) if result.stopped else "",
        place=place,
    )


def verdicts(comparison: Comparison, language: Language) -> Iterable[str]:
    """Return for each other run a sentence on whether the best run is really better."""
    best, *others = comparison.leaderboard
    if not others:
        return [say("board_only_one", language)]
    return [comparison.bootstrap(best.run, other.run).verdict.in_(language) for other in others]


def wrong_title(result: FinetuneResult, language: Language) -> str:
    """Return the title of the wrong images."""
    if not result.classes:
        return say("board_worst", language)
    if not result.wrong:
        return say("board_all_right", language)
    return say("board_wrong", language, count=len(result.wrong), total=len(result.paths))


def wrong_images(result: FinetuneResult, folder: Path, language: Language) -> list[WrongImage]:
    """Return the worst validation images with target and prediction; deleted images are left out."""
    images = []
    for index in result.wrong[:MOST_WRONG]:
        try:
            path = image_path(folder, result, index)
            shrunk = open_shrunk(path, SIDE, max_megapixels=settings().max_megapixels)
        except (ImageError, OSError):
            continue
        label = prediction_label(result, index, language)
        images.append(WrongImage(index=index, image=image_file(shrunk.pixels), label=label))
    return images


def prediction_label(result: FinetuneResult, index: int, language: Language) -> str:
    """Return the sentence on an image with its target and its prediction."""
    if not result.classes:
        return say("board_off", language, true=f"{result.targets[index]:.4g}", said=f"{result.outputs[index]:.4g}")
    shares = result.outputs[index]
    best = int(shares.argmax())
    true = result.classes[int(result.targets[index])]
    return say("board_taken", language, true=true, said=result.classes[best], share=f"{100 * shares[best]:.0f} %")


def image_path(folder: Path, result: FinetuneResult, index: int) -> Path:
    """Return the path of a validation image, in the given folder or in the unpacked zip of the training."""
    return images_root(read_config(folder), folder) / result.paths[index]


def download_kinds(result: FinetuneResult) -> tuple[str, ...]:
    """Return the kinds of files in which a result can be downloaded."""
    from vitexplorer.finetune.methods import METHODS

    method = METHODS[result.method]
    return ("tuned", *(("merged",) if method.merge else ()), *(("peft",) if method.exports else ()), "card")
