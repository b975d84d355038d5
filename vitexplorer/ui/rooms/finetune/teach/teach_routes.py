"""HTTP routes of the teaching part, outside gradio, so that answers to a camera wait in no queue.

Each request names the visitor in a header, which another site's page may not send here without a CORS preflight, and
reaches only that visitor's boxes. A test picture is deleted once it is answered.
"""

from __future__ import annotations

import asyncio
import base64
import io
import zipfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language, text_of
from vitexplorer.core.types import query_text
from vitexplorer.service.amounts import percentage
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.image_store import keep_upload
from vitexplorer.service.jobs import StoppedError
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.teaching.boxes import MOST_BOXES, MOST_PICTURES, Box, Boxes, as_jpeg, class_files
from vitexplorer.service.teaching.drawn_examples import ASK, drawn_examples
from vitexplorer.service.teaching.teaching import Seen, Taught, Teaching, wrong_ones
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.service.visitor_names import valid_visitor
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of_request
from vitexplorer.ui.server.image_upload import answer_picture, refused
from vitexplorer.ui.shell.address import Address

THUMBNAIL = 72
"""Longer side of a thumbnail in pixels"""


class TeachRequest:
    """Request with its visitor, boxes and model."""

    def __init__(self, teaching: Teaching, request: Request):
        """Read a request.

        Raises:
            ExplainedError: for a visitor or a model that the page would not name.
        """
        parameters = request.query_params
        self.teaching = teaching
        self.request = request
        self.language: Language = language_of_request(request)
        self.visitor = valid_visitor(request.headers.get("x-visitor", ""))
        self.places = teaching.engine.places
        self.boxes = Boxes(self.places.taught(self.visitor))
        self.key = parameters.get("box", "")
        self.picture = parameters.get("picture", "")
        address = Address.exactly(model=parameters.get("model", ""), weights=parameters.get("weights", ""))
        self.model = Picture("", address.model, address.weights)

    def say(self, key: str, **values: object) -> str:
        """Return a text of this part."""
        return text_of(TEACH_WORDS, key, self.language, **values)

    async def taught(self) -> Taught:
        """Read the present content of the boxes."""
        return Taught(await asyncio.to_thread(self.boxes.read), self.model)

    # -------------------------------------------------------------------------------------- boxes

    def state(self, **more: Any) -> dict[str, Any]:
        """Return all boxes with small pictures, and the fields `more`."""
        boxes = [
            {"key": box.key, "name": box.name, "pictures": [_small(path) for path in box.pictures]}
            for box in self.boxes.read()
        ]
        return {"boxes": boxes, "most": {"boxes": MOST_BOXES, "pictures": MOST_PICTURES}, **more}

    @property
    def changes(self) -> dict[str, Callable[[], object]]:
        """Changes of the boxes by name; each raises ExplainedError where it is impossible."""
        return {
            "more": self.boxes.more,
            "rename": partial(self.boxes.rename, self.key, self.request.query_params.get("name", "")),
            "remove": partial(self.boxes.remove, self.key),
            "drop": partial(self.boxes.drop, self.key, self.picture),
            "forget": self.boxes.forget,
        }

    def fill(self) -> dict[str, Any]:
        """Replace the boxes by drawn scenes of three classes, and return more scenes to test."""
        check_room(self.places, self.visitor)
        self.boxes.forget()
        others = []
        for number, (name, scenes) in enumerate(drawn_examples(), 1):
            key = str(number)
            if number > len(self.boxes.read()):
                self.boxes.more()
            self.boxes.rename(key, name.in_(self.language))
            for scene in scenes[:-ASK]:
                self.boxes.add(key, scene)
            others += [
                {"name": name.in_(self.language), "image": _address(as_jpeg(scene, max(scene.shape), 95))}
                for scene in scenes[-ASK:]
            ]
        return self.state(others=others)

    async def add(self, path: Path) -> dict[str, Any]:
        """Add a picture to a box."""
        from vitexplorer.models.images import OpenedImage

        def put() -> dict[str, Any]:
            opened = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
            return {"box": self.key, "picture": _small(self.boxes.add(self.key, opened.pixels))}

        return await asyncio.to_thread(put)

    def open(self) -> dict[str, str]:
        """Copy a picture of a box to the uploads, for the other rooms."""
        return {"image": keep_upload(str(self.boxes.picture(self.key, self.picture)))}

    def save(self) -> Response:
        """Return all boxes as a zip with a folder for each class."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            for path, name in class_files(self.boxes.read(), self.language):
                packed.write(path, name)
        return Response(file.getvalue(), media_type="application/zip", headers={"cache-control": "no-store"})

    # -------------------------------------------------------------------------------------- answers

    async def learn(self) -> dict[str, Any]:
        """Run the model on examples for a moment, and return the progress."""
        taught = await self.taught()
        left = await self.teaching.learn(self.visitor, taught)
        total = len(taught.examples)
        return {"left": left, "doing": self.say("teach_learning", done=total - left, total=total) if left else ""}

    async def ask(self, path: Path) -> dict[str, Any]:
        """Return the probe's answer for a picture, with a map of the model's attention."""
        taught = await self.taught()
        while await self.teaching.learn(self.visitor, taught):
            pass
        seen = await self.teaching.see(self.visitor, self.model, path)
        return await asyncio.to_thread(self._answer, taught, seen)

    def _answer(self, taught: Taught, seen: Seen) -> dict[str, Any]:
        base: dict[str, Any] = {
            "image": _address(as_jpeg(seen.pixels, max(seen.pixels.shape), 90)),
            "reading": self.say("teach_looks", reading=seen.reading.in_(self.language)),
            **self._map(seen),
        }
        if len(taught.filled) < 2:
            return {**base, "shares": [], "missing": self.say("teach_two")}
        from vitexplorer.finetune.probe import shares

        values = shares(self.teaching.probe(taught), seen.feature[None])[0]
        named_shares = [
            {"box": box.key, "name": box.title(self.language), "share": float(share)}
            for box, share in zip(taught.filled, values, strict=True)
        ]
        best = max(named_shares, key=lambda entry: entry["share"])
        label = self.say("teach_answered", said=best["name"], share=percentage(best["share"]))
        return {**base, "shares": named_shares, "said": label, "came": self.say("teach_came", label=label)}

    def _map(self, seen: Seen) -> dict[str, Any]:
        attention = seen.attention
        if attention is None:
            return {"map": None, "about": ""}
        rows, cols = attention.values.shape
        about = self.say(
            "teach_about",
            query=query_text(attention.query).in_(self.language),
            block=attention.settings["block"],
            model=seen.model.in_(self.language),
            rows=rows,
            cols=cols,
        )
        values = [round(float(value), 6) for value in attention.values.ravel()]
        return {"map": {"rows": rows, "cols": cols, "values": values}, "about": about}

    async def score(self) -> dict[str, Any]:
        """Score the probe by leave-one-out over the examples, and list the wrong ones."""
        taught = await self.taught()
        if len(taught.filled) < 2 or min(len(box.pictures) for box in taught.filled) < 2:
            return {"score": self.say("teach_need"), "wrong": []}
        while await self.teaching.learn(self.visitor, taught):
            pass
        wrong = wrong_ones(taught, (await self.teaching.left_out(self.visitor, taught)).tolist())
        total = len(taught.examples)
        return {
            "score": self.say("teach_score", right=total - len(wrong), total=total),
            "wrong": [self._wrong(true, path, predicted) for true, path, predicted in wrong],
        }

    def _wrong(self, true: Box, path: Path, predicted: Box) -> dict[str, Any]:
        label = self.say("teach_taken", true=true.title(self.language), said=predicted.title(self.language))
        came = self.say("teach_came", label=label)
        return {"box": true.key, **_small(path), "label": label, "came": came}


def teach_routes(engine: Engine) -> list[Route]:
    """Return the route `POST /teach/{what}`."""
    teaching = Teaching(engine)

    async def answer(request: Request) -> Response:
        try:
            return await _answered(TeachRequest(teaching, request), request.path_params["what"])
        except ExplainedError as error:
            return refused(request, error.text, status_of(error))
        except StoppedError:  # a newer question of the same page replaced it: no error there
            return JSONResponse({"stopped": True})

    return [Route("/teach/{what}", answer, methods=["POST"])]


async def _answered(request: TeachRequest, what: str) -> Response:
    pictures: dict[str, Callable[[Path], Awaitable[dict[str, Any]]]] = {"add": request.add, "ask": request.ask}
    waiting: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {"learn": request.learn, "score": request.score}
    made = {"fill": request.fill, "open": request.open, "boxes": request.state}
    if what in pictures:
        has_room = partial(asyncio.to_thread, check_room, request.places, request.visitor)
        return await answer_picture(request.request, pictures[what], has_room if what == "add" else None)
    if what in waiting:
        return JSONResponse(await waiting[what]())
    if what == "save":
        return await asyncio.to_thread(request.save)
    if what in made:
        return JSONResponse(await asyncio.to_thread(made[what]))
    if what in request.changes:
        await asyncio.to_thread(request.changes[what])
        return JSONResponse(await asyncio.to_thread(request.state))
    return JSONResponse({"refused": ""}, 404)


def _small(path: Path) -> dict[str, str]:
    from vitexplorer.models.images import open_shrunk

    small = as_jpeg(open_shrunk(path, THUMBNAIL).pixels, THUMBNAIL, 80)
    return {"id": path.stem, "thumb": _address(small)}


def _address(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
