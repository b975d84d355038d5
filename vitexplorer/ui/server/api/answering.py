"""Call of an endpoint: its arguments are validated, and every failure becomes one message."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from pydantic import ConfigDict, ValidationError, validate_call

from vitexplorer.core.text import ExplainedError, Text, normalise_language
from vitexplorer.service.jobs import Step, StoppedError, Waiting, waiting
from vitexplorer.ui.gradio_adapter.events import current_request, is_unheard
from vitexplorer.ui.gradio_adapter.page_blocks import Sentence, status_of, stop_if_hung_up
from vitexplorer.ui.kit.words import UI_WORDS

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Refused(Sentence):
    """Raised to refuse a call; its text has no quotes, unlike gradio's Error, since agents read it."""

    def __str__(self) -> str:
        return self.message


def answering(endpoint: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Wrap an endpoint: validate its arguments, and raise Refused with a message in the call's `language`."""
    checked = validate_call(endpoint, config=ConfigDict(arbitrary_types_allowed=True))
    signature = inspect.signature(endpoint)

    @functools.wraps(endpoint)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        request = current_request()
        client = request.client.host if request and request.client else ""
        waiting.set(Waiting(f"call from {client}", tell=_still_there))  # calls of one client share turns
        try:
            return await checked(*args, **kwargs)
        except ValidationError as error:
            message = _message(error, list(signature.parameters))
            status = 422
        except ExplainedError as error:
            message = error.text
            status = status_of(error)
        except StoppedError:  # the client has gone
            raise
        except Exception:
            _log.exception("%s could not answer", endpoint.__name__)
            message = UI_WORDS["unexpected"]
            status = 500
        language = signature.bind(*args, **kwargs).arguments.get("language", "en")
        raise Refused(message.in_(normalise_language(str(language))), status)

    return answer


async def _still_there(step: Step) -> None:
    """Raise StoppedError if the client has hung up, or no longer follows the stream of gradio's queue."""
    if is_unheard():
        raise StoppedError
    await stop_if_hung_up(current_request(), step)


def _message(error: ValidationError, names: list[str]) -> Text:
    """Return a message for the first validation error, with the name of its argument."""
    first = error.errors()[0]
    place = first["loc"][0]
    return Text("{name}={value} is not possible: {rule}.", "{name}={value} 无效：{rule}。").format(
        name=names[place] if isinstance(place, int) else place, value=repr(first["input"])[:100], rule=first["msg"]
    )
