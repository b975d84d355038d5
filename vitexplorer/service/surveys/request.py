"""One request of the room Folder: whose it is, and what it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from vitexplorer.core.text import Language
from vitexplorer.service.engine import Engine
from vitexplorer.service.surveys.open_surveys import latest
from vitexplorer.service.surveys.store import StoredSurvey, survey_of
from vitexplorer.service.surveys.words import say

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey


def counting(text: str, otherwise: int = 0) -> int:
    """The number that counts which a text is, or `otherwise` where it is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else otherwise


class SurveyRequest:
    """What one request names, checked when it is asked for."""

    def __init__(self, engine: Engine, given: Mapping[str, str], language: Language, visitor: str):
        """Keep what a request names.

        Args:
            engine: the page's own.
            given: parameters of the request.
            language: of every word of the answer.
            visitor: who asks; empty where the browser gives no name.
        """
        self.engine, self.places = engine, engine.places
        self.given, self.language, self.visitor = given, language, visitor
        self._opened: dict[str, Survey] = {}

    def text(self, name: str) -> str:
        """A parameter; empty where it is not there."""
        return self.given.get(name, "")

    def number(self, name: str, most: int) -> int:
        """A parameter that counts: from 0 to `most`, 0 where it is none."""
        return min(counting(self.text(name)), most)

    def say(self, key: str, **values: object) -> str:
        """A word of the room."""
        return say(key, self.language, **values)

    @property
    def survey(self) -> StoredSurvey:
        """The one that it is about. Raises ExplainedError where it is not there."""
        return survey_of(self.places, self.visitor, self.text("survey"))

    @property
    def beside(self) -> StoredSurvey:
        """The one that it is compared with. Raises ExplainedError where it is not there."""
        return survey_of(self.places, self.visitor, self.text("beside"))

    @property
    def opened(self) -> Survey:
        """The survey with the shards that are finished now. Raises ExplainedError where it cannot be read."""
        return self._once("survey", lambda: latest(self.survey))

    @property
    def opened_beside(self) -> Survey:
        """The same, of the one that it is compared with."""
        return self._once("beside", lambda: latest(self.beside))

    def _once(self, name: str, made: Callable[[], Survey]) -> Survey:
        """Found once for a request; `functools.cached_property` would let all requests wait for one another."""
        if name not in self._opened:
            self._opened[name] = made()
        return self._opened[name]
