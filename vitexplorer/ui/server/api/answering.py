"""How an endpoint is called: with values of the types it names, and answered with a sentence where it cannot be."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from pydantic import ConfigDict, ValidationError, validate_call

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.jobs import Step, StoppedError, Waiting, waiting
from vitexplorer.ui.gradio_adapter.events import current_request, is_unheard
from vitexplorer.ui.gradio_adapter.page_blocks import Sentence, status_of, stop_if_hung_up
from vitexplorer.ui.kit.words import UI_WORDS

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Refused(Sentence):
    """A sentence for whoever called; gradio's own would stand in quotes where agents read it."""

    def __str__(self) -> str:
        return self.message


def answering(endpoint: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The endpoint with its arguments checked; whatever goes wrong is one sentence in the `language` asked for."""
    checked = validate_call(endpoint, config=ConfigDict(arbitrary_types_allowed=True))
    signature = inspect.signature(endpoint)

    @functools.wraps(endpoint)
    async def answer(*given: P.args, **named: P.kwargs) -> T:
        request = current_request()
        client = request.client.host if request and request.client else ""
        waiting.set(Waiting(f"call from {client}", tell=_still_there))  # calls of one client share turns
        try:
            return await checked(*given, **named)
        except ValidationError as error:
            said, status = _wrong(error, list(signature.parameters)), 422
        except ExplainedError as error:
            said, status = error.text, status_of(error)
        except StoppedError:  # nobody is there to be told
            raise
        except Exception:
            _log.exception("%s could not answer", endpoint.__name__)
            said, status = UI_WORDS["unexpected"], 500
        language = signature.bind(*given, **named).arguments.get("language", "en")
        raise Refused(said.in_(language), status)

    return answer


async def _still_there(step: Step) -> None:
    """Raise StoppedError where the client has hung up, or no longer follows the stream of gradio's queue."""
    if is_unheard():
        raise StoppedError
    await stop_if_hung_up(current_request(), step)


def _wrong(error: ValidationError, names: list[str]) -> Text:
    """The first thing that pydantic found, by the name of the argument."""
    first = error.errors()[0]
    place = first["loc"][0]
    return Text("{name}={value} is not possible: {rule}.", "{name}={value} 无效：{rule}。").format(
        name=names[place] if isinstance(place, int) else place, value=repr(first["input"])[:100], rule=first["msg"]
    )
