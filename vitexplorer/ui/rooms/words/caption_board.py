"""Component of the room Words for a model that writes captions: the sentence, and the patches of each of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.text import Language, in_language
from vitexplorer.ui.canvas.canvas import FILLINGS
from vitexplorer.ui.canvas.files import input_file
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.words.offers import Offer, texts_offer
from vitexplorer.ui.rooms.words.words import CAPTION_WORDS
from vitexplorer.ui.shell.frame import FrameData, frame_words

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.core.text_results import CaptionResult


class CaptionWord(BaseModel):
    """A word of the sentence."""

    text: str
    share: float
    """Probability of the word after those before it"""
    has_place: bool
    """True if it names something in the picture"""


class ReadingItem(BaseModel):
    """One way from a word to the patches."""

    title: str
    unit: str
    says: str
    """Sentence on what it reads"""


class LanguageItem(BaseModel):
    """A language that captions can be written in."""

    key: str
    title: str


class CaptionBoardData(FrameData):
    """Caption of one picture. Without `numbers` the model writes none, and nothing is on the screen."""

    filled: int = 0
    """Number of the value, see `FILLINGS`"""
    image: ServedFile | None = None
    """Lossless file of the pixels that the model saw"""
    rows: int = 0
    cols: int = 0
    cell: int = 0
    """Side of a patch in pixels of the image"""
    caption_words: list[CaptionWord] = []
    readings: list[ReadingItem] = []
    numbers: ServedFile | None = None
    """Little-endian float32 (readings, words, patches)"""
    language: str = "en"
    """Language of the caption"""
    languages: list[LanguageItem] = []
    offers: list[Offer] = []
    saved_as: str = ""


class CaptionBoard(Widget):
    """Component of a caption. Event: `ask` with `what`, the language to write it in."""

    data_model = CaptionBoardData
    sends = ("ask",)


def caption_data(capture: Capture, result: CaptionResult, language: Language) -> CaptionBoardData:
    """Return a caption with its readings; `language` is the page's."""
    from vitexplorer.figures.identity import run_of
    from vitexplorer.views import reading
    from vitexplorer.views.caption import LANGUAGES

    provenance = capture.provenance
    words = zip(result.words, result.probabilities.tolist(), result.has_place.tolist(), strict=True)
    return CaptionBoardData(
        filled=next(FILLINGS),
        image=input_file(capture),
        rows=result.grid.rows,
        cols=result.grid.cols,
        cell=result.grid.patch_size,
        caption_words=[CaptionWord(text=text, share=share, has_place=placed) for text, share, placed in words],
        readings=[
            ReadingItem(title=title.in_(language), unit=unit.in_(language), says=says.in_(language))
            for title, unit, says in zip(result.titles, result.units, result.says, strict=True)
        ],
        numbers=cached_file(result.values.astype("<f4").tobytes(), "caption.bin"),
        language=str(result.settings["written_in"]),
        languages=[LanguageItem(key=key, title=title.in_(language)) for key, title in LANGUAGES.items()],
        offers=texts_offer(language),
        saved_as=f"caption_{provenance.model}_{run_of(provenance)}",
        words=frame_words(language) | in_language(CAPTION_WORDS, language),
        reading=reading(result, language),
    )
