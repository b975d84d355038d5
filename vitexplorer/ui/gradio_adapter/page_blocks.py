"""Blocks subclass that sends values unchanged, turns errors into messages, and stops work for clients that left."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import anyio
import gradio as gr
from gradio.context import LocalContext
from gradio.state_holder import SessionState
from gradio.utils import is_prop_update
from starlette.requests import Request

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.answer_threads import THREADS
from vitexplorer.service.jobs import CrowdedError, Step, StoppedError, Waiting, waiting
from vitexplorer.ui.gradio_adapter.types import Block, BlockFunction
from vitexplorer.ui.kit.language import language_of_request, word
from vitexplorer.ui.kit.requests import answer_with, has_hung_up
from vitexplorer.ui.kit.widget import Widget


class Sentence(gr.Error):
    """Raised to show a message to the visitor; `status` is the HTTP status where only the message is answered."""

    def __init__(self, sentence: str, status: int, title: str = "Error"):
        super().__init__(sentence, title=title, print_exception=False)
        self.status = status


def not_possible(error: ExplainedError, language: Language) -> Sentence:
    """Make a Sentence of an ExplainedError."""
    return Sentence(error.text.in_(language), status_of(error), word("not_possible", language))


def status_of(error: ExplainedError) -> int:
    """Return the HTTP status: 429 Too Many Requests, or 422 Unprocessable Content."""
    return 429 if isinstance(error, CrowdedError) else 422


async def stop_if_hung_up(request: gr.Request | None, step: Step) -> None:
    """Raise StoppedError if the client has hung up; a callback for `Waiting.tell`."""
    if request and await has_hung_up(request.request):
        raise StoppedError


class PageBlocks(gr.Blocks):
    """Page with asynchronous handlers whose values are sent unchanged."""

    def create_limiter(self) -> None:
        """Give answers threads of their own, apart from those that serve files."""
        self.limiter = anyio.CapacityLimiter(THREADS)

    async def preprocess_data(self, block_fn: BlockFunction, inputs: list[Any], *more: Any, **named: Any) -> list[Any]:
        """Leave the arguments of API calls unchanged, since the endpoint validates them and their files."""
        if block_fn.api_visibility != "private":
            return inputs
        return await super().preprocess_data(block_fn, inputs, *more, **named)

    async def postprocess_data(
        self, block_fn: BlockFunction, predictions: Any, state: SessionState | None
    ) -> list[Any]:
        """Send the values of widgets unchanged, and skip outputs without a value.

        gradio searches every value for files, each on a thread, and makes a new component for a missing value.
        """
        if not (isinstance(predictions, dict) and all(isinstance(component, Block) for component in predictions)):
            return await super().postprocess_data(block_fn, predictions, state)
        values = {
            block: block.postprocess(value) for block, value in predictions.items() if _is_of_widget(block, value)
        }
        if others := {block: value for block, value in predictions.items() if block not in values}:
            of_others = copy(block_fn)
            of_others.outputs = list(others)
            inputs = list(others.values())
            answers = await super().postprocess_data(of_others, inputs if len(inputs) > 1 else inputs[0], state)
            values |= dict(zip(others, answers, strict=True))
        return [values.get(block, gr.skip()) for block in block_fn.outputs]

    def handle_streaming_diffs(self, block_fn: BlockFunction, data: list, *more: Any, **named: Any) -> list:
        """Skip the final message of a stream, which repeats the last value."""
        values = super().handle_streaming_diffs(block_fn, data, *more, **named)
        if named["final"] and block_fn.api_visibility == "private":
            return [gr.skip() for _ in values]
        return values

    async def call_function(
        self,
        block_fn: BlockFunction,
        processed_input: list[Any],
        iterator: Any = None,
        requests: gr.Request | Request | None = None,
        *more: Any,
    ) -> dict[str, Any]:
        """Answer nothing to a client that left, and raise a Sentence for an ExplainedError."""
        if isinstance(requests, Request):  # from an agent
            requests = gr.Request(requests)
        waiting.set(Waiting(session_of(requests), tell=partial(stop_if_hung_up, requests)))
        try:
            try:
                return await super().call_function(block_fn, processed_input, iterator, requests, *more)
            except ExplainedError as error:
                raise not_possible(error, language_of_request(requests and requests.request)) from error
        except StoppedError:
            LocalContext.in_event_listener.set(False)  # gradio leaves it set after an error
            return {"prediction": gr.skip(), "duration": 0.0, "is_generating": False, "iterator": None}
        except Sentence as error:
            if requests:
                answer_with(requests.request.scope, error.status)
            raise


def _is_of_widget(block: Block, value: Any) -> bool:
    return isinstance(block, Widget) and not is_prop_update(value)


def session_of(request: gr.Request | None) -> str:
    """Return gradio's id of an open page, or an empty string."""
    return (request and request.session_hash) or ""
