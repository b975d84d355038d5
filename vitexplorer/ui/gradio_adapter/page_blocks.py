"""Answers to browsers: what finds that something is not there yet is asked again once it is.

Nobody waits on a thread. A few threads make answers of what is in memory; pages and files are not served by them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import aclosing
from copy import copy
from typing import Any, TypeVar

import anyio
import gradio as gr
from gradio.context import LocalContext
from gradio.state_holder import SessionState
from gradio.utils import is_prop_update
from starlette.requests import Request

from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.scheduler import NotYetError, wrong
from vitexplorer.service.work import CrowdedError, Done, Step, StoppedError, Waiter, result
from vitexplorer.ui.gradio_adapter.statuses import answer_with, has_hung_up
from vitexplorer.ui.gradio_adapter.types import Block, BlockFunction
from vitexplorer.ui.kit.language import language_of_request, word
from vitexplorer.ui.kit.widget import Widget

T = TypeVar("T")

THREADS = 4
"""answers that are made at once; they hardly ever wait, so that more would only share the same processors"""


class Sentence(gr.Error):
    """A sentence for whoever asked, as gradio says it, and the status of an answer over HTTP that is only that."""

    def __init__(self, sentence: str, status: int, title: str = "Error"):
        super().__init__(sentence, title=title, print_exception=False)
        self.status = status


def not_possible(error: ExplainedError, language: Language) -> Sentence:
    """Why something is not possible."""
    return Sentence(error.text.in_(language), status_of(error), word("not_possible", language))


def status_of(error: ExplainedError) -> int:
    """Too Many Requests, or Unprocessable Content."""
    return 429 if isinstance(error, CrowdedError) else 422


async def answered(waiter: Waiter, answer: Callable[[], T]) -> AsyncGenerator[Step | Done[T], None]:
    """How far all that `answer` needs is, then what it returned: on a thread, from its beginning each time.

    What goes wrong is raised where `answer` asks for it. Raises what `answer` does, StoppedError for who let go.
    """
    went_wrong: dict[Hashable, Exception] = {}
    while True:
        try:
            found = Done(await asyncio.to_thread(_for_page, answer, went_wrong))
        except NotYetError as error:
            missing = error
        else:
            yield found
            return
        async with aclosing(_made(missing, waiter, went_wrong)) as steps:
            async for step in steps:
                yield step


async def _made(
    missing: NotYetError, waiter: Waiter, went_wrong: dict[Hashable, Exception]
) -> AsyncGenerator[Step, None]:
    try:
        async with aclosing(missing.steps(waiter)) as steps:
            async for step in steps:
                yield step
    except StoppedError:
        raise
    except Exception as error:
        went_wrong[missing.turns, missing.key] = error


async def answer(waiter: Waiter, make: Callable[[], T]) -> T:
    """The same without saying how far it is."""
    return await result(answered(waiter, make))


def _for_page(answer: Callable[[], T], went_wrong: dict[Hashable, Exception]) -> T:
    wrong.set(went_wrong)  # in the thread's own copy
    with explain_full_memory():
        return answer()


class PatientBlocks(gr.Blocks):
    """A page whose functions are called again when what they need is there."""

    def create_limiter(self) -> None:
        """Threads for answers, apart from those that gradio serves files with."""
        self.limiter = anyio.CapacityLimiter(THREADS)

    async def preprocess_data(self, block_fn: BlockFunction, inputs: list[Any], *more: Any, **named: Any) -> list[Any]:
        """As gradio's; but what a script asks stays as it came, for its endpoint reads it, and the files in it too."""
        if block_fn.api_visibility != "private":
            return inputs
        return await super().preprocess_data(block_fn, inputs, *more, **named)

    async def postprocess_data(
        self, block_fn: BlockFunction, predictions: Any, state: SessionState | None
    ) -> list[Any]:
        """As gradio's; but what is said to a widget is sent as it is, and of whom nothing is said nothing is done.

        Gradio looks through every value for files, each on a thread, and makes a component anew for "nothing".
        """
        if not (isinstance(predictions, dict) and all(isinstance(component, Block) for component in predictions)):
            return await super().postprocess_data(block_fn, predictions, state)
        said = {block: block.postprocess(value) for block, value in predictions.items() if _is_of_widget(block, value)}
        if others := {block: value for block, value in predictions.items() if block not in said}:
            of_others = copy(block_fn)
            of_others.outputs = list(others)
            values = list(others.values())
            answers = await super().postprocess_data(of_others, values if len(values) > 1 else values[0], state)
            said |= dict(zip(others, answers, strict=True))
        return [said.get(block, gr.skip()) for block in block_fn.outputs]

    def handle_streaming_diffs(self, block_fn: BlockFunction, data: list, *more: Any, **named: Any) -> list:
        """As gradio's; but the page is not told at the end what it was told before, and need not show it twice."""
        said = super().handle_streaming_diffs(block_fn, data, *more, **named)
        if named["final"] and block_fn.api_visibility == "private":
            return [gr.skip() for _ in said]
        return said

    async def call_function(
        self,
        block_fn: BlockFunction,
        processed_input: list[Any],
        iterator: Any = None,
        requests: gr.Request | Request | None = None,
        *more: Any,
    ) -> dict[str, Any]:
        """As gradio's; whoever let go meanwhile is told nothing, and what a person can mend is a sentence."""
        if isinstance(requests, Request):  # of an agent, which gradio hands on as it came
            requests = gr.Request(requests)
        try:
            return await self._call_again(block_fn, processed_input, iterator, requests, *more)
        except Sentence as error:
            if requests:
                answer_with(requests.request.scope, error.status)
            raise

    async def _call_again(
        self,
        block_fn: BlockFunction,
        processed_input: list[Any],
        iterator: Any,
        requests: gr.Request | None,
        *more: Any,
    ) -> dict[str, Any]:
        """Whenever something that was missing is there."""
        wrong.set(went_wrong := {})
        while True:
            try:
                try:
                    return await super().call_function(block_fn, list(processed_input), iterator, requests, *more)
                except NotYetError as error:
                    missing = error
                async with aclosing(_made(missing, Waiter(session_of(requests)), went_wrong)) as steps:
                    async for _ in steps:
                        if requests and await has_hung_up(requests.request):
                            raise StoppedError
            except StoppedError:
                LocalContext.in_event_listener.set(False)  # which gradio leaves undone behind an error
                return {"prediction": gr.skip(), "duration": 0.0, "is_generating": False, "iterator": None}
            except ExplainedError as error:
                raise not_possible(error, language_of_request(requests)) from error


def _is_of_widget(block: Block, value: Any) -> bool:
    return isinstance(block, Widget) and not is_prop_update(value)


def session_of(request: gr.Request | None) -> str:
    """What gradio calls a page that is open."""
    return (request and request.session_hash) or ""
