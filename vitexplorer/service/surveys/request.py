"""A request of the room Folder: its visitor, language and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vitexplorer.core.text import Language, text_of
from vitexplorer.service.engine import Engine
from vitexplorer.service.surveys.choosing import conditions, counting
from vitexplorer.service.surveys.open_surveys import latest
from vitexplorer.service.surveys.store import StoredSurvey, survey_of
from vitexplorer.service.surveys.words import SURVEY_WORDS

if TYPE_CHECKING:
    import numpy as np

    from vitexplorer.survey.conditions import Where
    from vitexplorer.survey.opened import Survey


SENTENCE = "sentence"
"""Order of the gallery, and the parameter with its sentence"""


class SurveyRequest:
    """A request whose parameters are checked when they are read."""

    def __init__(self, engine: Engine, given: Mapping[str, str], language: Language, visitor: str):
        """Hold a request with parameters `given`; `visitor` is empty where the browser gives no name."""
        self.engine = engine
        self.places = engine.places
        self.given = given
        self.language = language
        self.visitor = visitor
        self.vector: np.ndarray | None = None
        """Vector of the sentence that images are ordered by, once `gallery.read_sentence` has run"""
        self._opened: dict[str, Survey] = {}

    def text(self, name: str) -> str:
        """Return a parameter; empty where it is missing."""
        return self.given.get(name, "")

    def number(self, name: str, most: int) -> int:
        """Return a parameter as a count of at most `most`; 0 where it is none."""
        return min(counting(self.text(name)), most)

    def say(self, key: str, **values: object) -> str:
        """Return a text of the room in the visitor's language."""
        return text_of(SURVEY_WORDS, key, self.language, **values)

    def joined(self, sentences: Iterable[str]) -> str:
        """Join sentences in the visitor's language."""
        return ("" if self.language == "zh" else " ").join(sentences)

    @property
    def survey(self) -> StoredSurvey:
        """The survey that is asked about; ExplainedError where there is none."""
        return survey_of(self.places, self.visitor, self.text("survey"))

    @property
    def beside(self) -> StoredSurvey:
        """The survey to compare with; ExplainedError where there is none."""
        return survey_of(self.places, self.visitor, self.text("beside"))

    @property
    def opened(self) -> Survey:
        """The opened survey, with all finished shards; ExplainedError where it cannot be read."""
        return self._open("survey")

    @property
    def opened_beside(self) -> Survey:
        """The opened survey to compare with."""
        return self._open("beside")

    @property
    def where(self) -> Where:
        """The conditions that select images; ExplainedError for invalid ones."""
        return conditions(self.opened, self.text("where"))

    def _open(self, name: str) -> Survey:
        """Open a survey once a request; `functools.cached_property` of Python 3.11 has one lock for all requests."""
        if name not in self._opened:
            self._opened[name] = latest(getattr(self, name))
        return self._opened[name]
