"""Results of a training, as a component: the leaderboard, the images that are read wrongly, the files to take home.

The figures beside it are those of `result_figures`. What is shown is read from the training's folder; no model is
loaded until somebody opens or downloads one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.finetune.job.images import images_root
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.models.catalog import is_convolutional
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.service.amounts import duration, memory, percentage, score
from vitexplorer.ui.kit.served_files import ServedFile, image_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say, words_with

MOST_WRONG = 24
SIDE = 96
"""pixels of a thumbnail's shorter side"""


class BoardRow(BaseModel):
    """One method."""

    run: str
    value: str
    trainable: str
    time: str
    file: str
    note: str = ""
    place: int = 0


class WrongImage(BaseModel):
    """One validation image."""

    index: int
    """among the validation images"""
    image: ServedFile
    label: str


class Takeaway(BaseModel):
    """One kind of file."""

    what: str
    label: str


class ResultsData(BaseModel):
    """The results of a training; empty before there are any."""

    training: str = ""
    metric: str = ""
    rows: list[BoardRow] = []
    baseline: str = ""
    constant: str = ""
    verdicts: list[str] = []
    chosen: str = ""
    """whose images and files are shown"""
    wrong_title: str = ""
    wrong: list[WrongImage] = []
    opens: bool = True
    """whether the other rooms can show the chosen model"""
    beside: dict[str, str] = {}
    """parameters of the address that put the base on the left and the chosen run on the right of the room Compare"""
    files: list[Takeaway] = []
    download: ServedFile | None = None
    """made ready because somebody asked; stands alone"""
    working: str = ""
    """stands alone"""
    refused: str = ""
    """why a file could not be made; stands alone"""
    words: dict[str, str] = {}


class ResultsView(Widget):
    """The results. Fires `choose` with `run`, `open` with `run` and maybe `index`, `changed` with
    `run`, `fetch` with `run` and `what`."""

    data_model = ResultsData
    stem = "results"
    sends = ("choose", "open", "changed", "fetch")


def no_results(language: Language) -> ResultsData:
    """Before anything is found."""
    return ResultsData(words=words_with("board_", language))


def results_data(comparison: Comparison, chosen: str, language: Language) -> ResultsData:
    """The results of a training with one run chosen; the best one where there is none of that name."""
    data = no_results(language)
    data.training = comparison.folder.name
    board = comparison.leaderboard
    if not board:
        return data
    metric, baseline = board[0].metric, comparison.baseline
    data.metric = TRAINING_WORDS[f"metric_{metric}"].in_(language)
    data.rows = [_row(result, place, language) for place, result in enumerate(board, 1)]
    if baseline is not None:
        data.baseline, data.constant = score(metric, baseline.value), score(metric, baseline.constant)
    data.verdicts = list(verdicts(comparison, language))
    result = next((one for one in board if one.run == chosen), board[0])
    data.chosen = result.run
    data.wrong_title, data.wrong = wrong_title(result, language), wrong_images(result, comparison.folder, language)
    data.opens = not is_convolutional(result.base[0])
    if data.opens and data.wrong:
        data.wrong_title += ("" if language == "zh" else " ") + say("board_press", language)
    data.files = [Takeaway(what=what, label=say(f"board_{what}", language)) for what in takeaways(result)]
    return data


def _row(result: FinetuneResult, place: int, language: Language) -> BoardRow:
    return BoardRow(
        run=result.run,
        value=score(result.metric, result.value),
        trainable=f"{result.trainable:,} ({percentage(result.trainable / result.total)})",
        time=duration(result.seconds, language),
        file=memory(result.file_bytes),
        note=say("board_early", language) if result.stopped else "",
        place=place,
    )


def verdicts(comparison: Comparison, language: Language) -> Iterable[str]:
    """Verdicts on whether the best run is really better than each of the others."""
    best, *others = comparison.leaderboard
    if not others:
        return [say("board_only_one", language)]
    return [comparison.bootstrap(best.run, other.run).verdict.in_(language) for other in others]


def wrong_title(result: FinetuneResult, language: Language) -> str:
    """Title of the images below."""
    if not result.classes:
        return say("board_worst", language)
    if not result.wrong:
        return say("board_all_right", language)
    return say("board_wrong", language, count=len(result.wrong), total=len(result.paths))


def wrong_images(result: FinetuneResult, folder: Path, language: Language) -> list[WrongImage]:
    """The worst validation images with what they are and what was said; those that are gone are left out."""
    found = []
    for index in result.wrong[:MOST_WRONG]:
        try:
            path = image_path(folder, result, index)
            shrunk = open_shrunk(path, SIDE, max_megapixels=settings().max_megapixels)
        except (ImageError, OSError):
            continue
        found.append(WrongImage(index=index, image=image_file(shrunk.pixels), label=said_of(result, index, language)))
    return found


def said_of(result: FinetuneResult, index: int, language: Language) -> str:
    """Sentence on an image: its class, and the one it was taken for."""
    if not result.classes:
        return say("board_off", language, true=f"{result.targets[index]:.4g}", said=f"{result.outputs[index]:.4g}")
    shares = result.outputs[index]
    said = int(shares.argmax())
    true = result.classes[int(result.targets[index])]
    return say("board_taken", language, true=true, said=result.classes[said], share=f"{100 * shares[said]:.0f} %")


def image_path(folder: Path, result: FinetuneResult, index: int) -> Path:
    """Path of a validation image: in the folder that the training was given, or in what it unpacked."""
    return images_root(read_config(folder), folder) / result.paths[index]


def takeaways(result: FinetuneResult) -> tuple[str, ...]:
    """Kinds of files that this result can be had as."""
    from vitexplorer.finetune.methods import METHODS

    method = METHODS[result.method]
    return ("tuned", *(("merged",) if method.merge else ()), *(("peft",) if method.exports else ()), "card")
