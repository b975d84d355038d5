"""The Check-up room: a model and pictures, checks that tick one after the other, and the verdict with its proof."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.catalog import title_of
from vitexplorer.service.check_ups import checked_up
from vitexplorer.service.engine import TimedCapture
from vitexplorer.service.jobs import Done, Report, StoppedError, Waiting, following
from vitexplorer.service.scheduler import Scheduler
from vitexplorer.service.training_images import point_at
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.rooms.check_up.check_up import CheckUp, begin_data, done_data, refused_data, working_data
from vitexplorer.ui.rooms.check_up.words import say
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, RoomContext, Updates, UpdateStream
from vitexplorer.ui.shell.room_sign import WHY, next_button

if TYPE_CHECKING:
    from vitexplorer.diagnosis import Diagnosis
    from vitexplorer.diagnosis.examples import Example
    from vitexplorer.models.loading import LoadedModel

_log = logging.getLogger(__name__)
CHECK_UP = "check-up"
"""Purpose of a visitor's wait; another check-up or the stop button ends it"""
_EXAMPLE = """import vitexplorer as vx
from vitexplorer.diagnosis.examples import EXAMPLES

report = vx.diagnose(*EXAMPLES["{key}"].make())
print(report)"""


class CheckUpRoom(Room):
    """The reason a model fails on your pictures, and a repair that was tried."""

    key = "check_up"
    title = Text("Check-up", "体检")
    invitation = Text("Find out why a model fails", "找出模型出错的原因")
    icon = "M5 3v6a5 5 0 0 0 10 0V3 M10 14v2a5 5 0 0 0 10 0v-3 M20 13a2 2 0 1 0 0-4a2 2 0 0 0 0 4"
    group = WHY

    def __init__(self, context: RoomContext):
        super().__init__(context)
        self._reading = Scheduler("unpacking")  # unpacking images must not wait for the model

    def build(self) -> list[Block]:
        """Build the component, and bind the beginning and the end of a check-up."""
        visitor = self.context.visitor if self.context.visitor is not None else gr.State("")
        self.view = CheckUp(elem_id="vx-check-up")
        self.view.check(self.check, [self.context.address, visitor], self.view, **WAITING)
        self.view.stop(self.stop, None, None, **QUICK)
        return [self.view]

    def fill(self, timed_capture: TimedCapture, address: Address) -> Updates:
        """Tell the component the model on the screen."""
        title = title_of(self.context.engine.places.title_of(address.model))  # of a visitor's file its own
        local = not (settings().hosted or self.context.engine.places.hosted)
        following_room = next_button(self.context.rooms, self.key, address.language)
        return {self.view: begin_data(title.in_(address.language), local, address.language, following_room)}

    # -------------------------------------------------------------------------------------- events

    async def check(self, event: gr.EventData, address: Address, visitor: str, request: gr.Request) -> UpdateStream:
        """Check an example, or the model on the screen on a zip, on a folder of this machine or by itself."""
        asked = fields_of(event)
        if asked.get("what") == "weights":
            work, python = partial(self._on_folder, address, None), self._python(address, "")
        elif text := asked.get("text"):
            work, python = partial(self._on_path, address, str(text)), self._python(address, str(text).strip())
        elif files := asked.get("files"):
            work, python = partial(self._on_zip, address, visitor, Path(files[0])), self._python(address, "pictures")
        elif (example := example_named(asked.get("key"))) is not None:
            work, python = partial(self._on_example, example), _EXAMPLE.format(key=asked["key"])
        else:
            yield {self.view: refused_data(say("nothing", address.language))}
            return
        async for updates in self._follow(work, python, address, request):
            yield updates

    def stop(self, request: gr.Request) -> None:
        """Stop the check-up."""
        self.context.engine.leave(session_of(request), CHECK_UP)
        self._reading.leave(session_of(request), CHECK_UP)

    # -------------------------------------------------------------------------------------- work

    async def _on_example(self, example: Example) -> Diagnosis:
        def work(report: Report) -> Diagnosis:
            self.context.engine.warm()
            return checked_up(report, *example.make())

        return await self.context.engine.long.run(object(), work)

    async def _on_zip(self, address: Address, visitor: str, file: Path) -> Diagnosis:
        from vitexplorer.service.surveys.sources import sent

        places = self.context.engine.places
        unpack = partial(sent, places, visitor, file, file.stem)
        images = await self._reading.run(object(), lambda report: unpack(progress=report))
        return await self._on_folder(address, str(images.path))

    async def _on_path(self, address: Address, path: str) -> Diagnosis:
        return await self._on_folder(address, point_at(self.context.engine.places, path).folder)

    async def _on_folder(self, address: Address, folder: str | None) -> Diagnosis:
        def work(model: LoadedModel, report: Report) -> Diagnosis:
            return checked_up(report, model, folder)

        return await self.context.engine.with_model((CHECK_UP, object()), address.picture, work, is_long=True)

    async def _follow(
        self, checking: Callable[[], Coroutine[Any, Any, Diagnosis]], python: str, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Yield the progress of a check-up and its verdict; another check-up of the visitor ends it."""
        self.stop(request)
        language = address.language
        try:
            async with aclosing(following(Waiting(session_of(request), CHECK_UP), checking())) as steps:
                async for step in steps:
                    if isinstance(step, Done):
                        yield {self.view: done_data(step.result, python, language)}
                    else:
                        yield {self.view: working_data(step, language)}
        except StoppedError:
            yield {self.view: refused_data(say("stopped", language))}
        except ExplainedError as error:
            yield {self.view: refused_data(error.text.in_(language))}
        except Exception:
            _log.exception("Check-up of %s", address.model)
            yield {self.view: refused_data(word("unexpected", language))}

    def _python(self, address: Address, folder: str) -> str:
        data = f", {folder!r}" if folder else ""
        return (
            f"import vitexplorer as vx\n\nmodel = vx.{self.context.loading(address)}\n"
            f"report = vx.diagnose(model{data})\nprint(report)"
        )


def example_named(key: object) -> Example | None:
    """Return an example by its key; None where a browser sends anything else."""
    from vitexplorer.diagnosis.examples import EXAMPLES

    return EXAMPLES.get(key) if isinstance(key, str) else None
