"""Component of the room Words: texts, the picture with a map of one text or the best text of each patch, methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from vitexplorer.core.text import Language, Text, in_language
from vitexplorer.figures.meanings import CATEGORIES
from vitexplorer.ui.canvas.files import input_file
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.words.offers import Offer, caption_offer
from vitexplorer.ui.rooms.words.suggested import example_texts
from vitexplorer.ui.rooms.words.text_maps import LONGEST, MOST, MethodMaps, methods_of, packed
from vitexplorer.ui.rooms.words.words import TEXT_WORDS
from vitexplorer.ui.shell.frame import FrameData, frame_words

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.core.text_results import TextScoresResult


class MethodItem(BaseModel):
    """One way from a text to the patches."""

    key: str
    title: str
    changes: str
    unit: str
    goes_back: bool
    """True if it takes gradients, so that its maps are computed only when they are asked for"""


class Reason(BaseModel):
    """A method that has no meaning for the model."""

    title: str
    why: str


class TextBoardData(FrameData):
    """Texts with their maps of one picture by all methods.

    Without `rows` the model has none, and `reading` says why. With `refused` nothing else changes.
    """

    filled: int = 0
    """Number of the value that replaces texts and choices of the browser, see `FILLINGS`; 0 for an answer"""
    asked: int = 0
    image: ServedFile | None = None
    """Lossless file of the pixels that the model saw"""
    rows: int = 0
    cols: int = 0
    cell: int = 0
    """Side of a patch in pixels of the image"""
    reads: bool = False
    """True if the model reads sentences"""
    texts: list[str] = []
    cosines: list[float] = []
    """Cosine of the image and each text"""
    shares: list[float | None] = []
    """Probability of each text as the model was trained; None where it says nothing"""
    how: str = ""
    """Sentence on the shares, or why there are none"""
    methods: list[MethodItem] = []
    senseless: list[Reason] = []
    numbers: ServedFile | None = None
    """Maps of all texts by the methods `counted`, see `packed`"""
    counted: list[str] = []
    hits: dict[str, list[bool | None]] = {}
    """True for each method and text if the highest patch lies on what the text means; None if unknown"""
    method: str = ""
    """Method of an opened link; empty for the first"""
    text: str = ""
    """Text of an opened link: its number from 1, or `all`; empty for the first"""
    examples: list[str] = []
    refused: dict[str, str] = {}
    """Reasons why texts are refused, by their place; -1 for a file"""
    notice: str = ""
    """Sentence on a file of which only some texts are used"""
    question_all: str = ""
    misleads_all: str = ""
    python_beside: str = ""
    """Lines of a method that takes away the mean of all texts"""
    python_all: str = ""
    """Lines of the best text of each patch; all lines have {text}, {texts}, {number} and {method} in their places"""
    is_away: bool = False
    """True where another component takes its place"""
    offers: list[Offer] = []
    """Models for what the present one does not do"""
    vectors: str = ""
    """Sentence on files of text vectors that fit the model; empty where none can"""
    colours: list[str] = list(CATEGORIES[:MOST])
    longest: int = LONGEST
    caption: list[str] = []
    saved_as: str = ""


class TextBoard(Widget):
    """Component of texts and their maps.

    Events: `ask` with `texts` (with `key`, "apart", the first one is taken apart), or with `files` of text vectors;
    `further` for the current texts. In both `what` is the
    method that must be in the answer; others are there if they are quick.
    """

    data_model = TextBoardData
    sends = ("ask", "further")


def picture_data(capture: Capture, language: Language) -> TextBoardData:
    """Return the picture, the methods and the examples of a capture, without texts."""
    grid = capture.grid(capture.depth - 1)
    methods, reasons = methods_of(capture)
    return TextBoardData(
        image=input_file(capture),
        rows=grid.rows,
        cols=grid.cols,
        cell=grid.patch_size,
        reads=capture.model.text is not None,
        methods=[
            MethodItem(
                key=key,
                title=method.title.in_(language),
                changes=method.changes.in_(language),
                unit=method.unit.in_(language),
                goes_back=method.scores is not None,
            )
            for key, method in methods.items()
        ],
        senseless=[Reason(title=title.in_(language), why=why.in_(language)) for title, why in reasons],
        examples=list(example_texts(capture, language)),
        offers=caption_offer(language),
        words=frame_words(language) | in_language(TEXT_WORDS, language),
    )


def answer_fields(scores: TextScoresResult, maps: Mapping[str, MethodMaps], language: Language) -> dict[str, object]:
    """Return the numbers of texts as fields of `TextBoardData`."""
    return {
        "texts": list(scores.texts),
        "cosines": scores.values.tolist(),
        "shares": [None if np.isnan(share) else share for share in scores.answers.tolist()],
        "how": scores.how.in_(language),
        "numbers": cached_file(packed(maps), "texts.bin"),
        "counted": list(maps),
    }


def refused_fields(refused: Mapping[int, Text], language: Language) -> dict[str, object]:
    """Return the reasons why texts are refused as a field of `TextBoardData`."""
    return {"refused": {str(at): reason.in_(language) for at, reason in refused.items()}}
