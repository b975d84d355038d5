"""Routes of the teaching page: addresses of their own, for an answer to a camera waits for no queue.

Each names the visitor in a header, which no page of a stranger may send here without asking first, and finds that
visitor's boxes alone. A picture that is asked about is gone when it is answered.
"""

from __future__ import annotations

import asyncio
import base64
import io
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language
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
from vitexplorer.ui.kit.language import language_of
from vitexplorer.ui.server.image_upload import answer_picture
from vitexplorer.ui.shell.address import Address

THUMBNAIL = 72
"""pixels of the longer side"""


class Asking:
    """One request: whose, and what of it."""

    def __init__(self, teaching: Teaching, request: Request):
        """Raises ExplainedError for a visitor or a model that no browser of ours would name."""
        asked = request.query_params
        self.teaching, self.request = teaching, request
        self.language: Language = language_of(request.url.query, request.headers.get("accept-language", ""))
        self.visitor = valid_visitor(request.headers.get("x-visitor", ""))
        self.places = teaching.engine.places
        self.boxes = Boxes(self.places.taught(self.visitor))
        self.key, self.picture = asked.get("box", ""), asked.get("picture", "")
        address = Address.exactly(model=asked.get("model", ""), weights=asked.get("weights", ""))
        self.model = Picture("", address.model, address.weights)

    def say(self, key: str, **values: object) -> str:
        """A word of this part."""
        text = TEACH_WORDS[key]
        return (text.format(**values) if values else text).in_(self.language)

    def title(self, box: Box) -> str:
        """Display name of a class, also without a name."""
        return box.title(self.language)

    async def taught(self) -> Taught:
        """The boxes as they are now."""
        return Taught(await asyncio.to_thread(self.boxes.read), self.model)

    # -------------------------------------------------------------------------------------- boxes

    def state(self, **more: Any) -> dict[str, Any]:
        """All boxes with small pictures."""
        boxes = [
            {"key": box.key, "name": box.name, "pictures": [_small(path) for path in box.pictures]}
            for box in self.boxes.read()
        ]
        return {"boxes": boxes, "most": {"boxes": MOST_BOXES, "pictures": MOST_PICTURES}, **more}

    def changed(self, what: str) -> dict[str, Any]:
        """The boxes after a change. Raises ExplainedError for one that is not possible."""
        if what == "more":
            self.boxes.more()
        elif what == "rename":
            self.boxes.rename(self.key, self.request.query_params.get("name", ""))
        elif what == "remove":
            self.boxes.remove(self.key)
        elif what == "drop":
            self.boxes.drop(self.key, self.picture)
        elif what == "forget":
            self.boxes.forget()
        return self.state()

    def fill(self) -> dict[str, Any]:
        """Drawn scenes of three classes in place of what was there, and some more to ask about."""
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

    async def check_room(self) -> None:
        """Raises ExplainedError where the visitor keeps as much as one may."""
        await asyncio.to_thread(check_room, self.places, self.visitor)

    async def add(self, path: Path) -> dict[str, Any]:
        """A picture in a box."""
        from vitexplorer.models.images import OpenedImage

        def put() -> dict[str, Any]:
            opened = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
            return {"box": self.key, "picture": _small(self.boxes.add(self.key, opened.pixels))}

        return await asyncio.to_thread(put)

    def open(self) -> dict[str, str]:
        """A picture of a box for the other rooms."""
        return {"image": keep_upload(str(self.boxes.picture(self.key, self.picture)))}

    def save(self) -> Response:
        """All boxes as a zip with a folder for each class."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            for path, name in class_files(self.boxes.read(), self.language):
                packed.write(path, name)
        return Response(file.getvalue(), media_type="application/zip", headers={"cache-control": "no-store"})

    # -------------------------------------------------------------------------------------- answers

    async def learn(self) -> dict[str, Any]:
        """Look at examples for a moment: how far it is."""
        taught = await self.taught()
        left = await self.teaching.learn(self.visitor, taught)
        total = len(taught.examples)
        return {"left": left, "doing": self.say("teach_learning", done=total - left, total=total) if left else ""}

    async def ask(self, path: Path) -> dict[str, Any]:
        """Answer of the probe on a picture, with the map of where the model looks."""
        taught = await self.taught()
        while await self.teaching.learn(self.visitor, taught):
            pass
        seen = await self.teaching.see(self.visitor, self.model, path)
        return await asyncio.to_thread(self._answer, taught, seen)

    def _answer(self, taught: Taught, seen: Seen) -> dict[str, Any]:
        said: dict[str, Any] = {
            "image": _address(as_jpeg(seen.pixels, max(seen.pixels.shape), 90)),
            "reading": self.say("teach_looks", reading=seen.reading.in_(self.language)),
            **self._map(seen),
        }
        if len(taught.filled) < 2:
            return {**said, "shares": [], "missing": self.say("teach_two")}
        from vitexplorer.finetune.probe import shares

        found = shares(self.teaching.probe(taught), seen.feature[None])[0]
        named_shares = [
            {"box": box.key, "name": self.title(box), "share": float(share)}
            for box, share in zip(taught.filled, found, strict=True)
        ]
        best = max(named_shares, key=lambda one: one["share"])
        label = self.say("teach_answered", said=best["name"], share=percentage(best["share"]))
        return {**said, "shares": named_shares, "said": label, "came": self.say("teach_came", label=label)}

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
        """Count the examples that are right when each is left out in turn, and name those that are not."""
        taught = await self.taught()
        if len(taught.filled) < 2 or min(len(box.pictures) for box in taught.filled) < 2:
            return {"score": self.say("teach_need"), "wrong": []}
        while await self.teaching.learn(self.visitor, taught):
            pass
        wrong = wrong_ones(taught, (await self.teaching.left_out(self.visitor, taught)).tolist())
        total = len(taught.examples)
        return {
            "score": self.say("teach_score", right=total - len(wrong), total=total),
            "wrong": [self._wrong(*one) for one in wrong],
        }

    def _wrong(self, true: Box, path: Path, said: Box) -> dict[str, Any]:
        label = self.say("teach_taken", true=self.title(true), said=self.title(said))
        came = self.say("teach_came", label=label)
        return {"box": true.key, **_small(path), "label": label, "came": came}


def teach_routes(engine: Engine) -> list[Route]:
    """`POST /teach/{what}`."""
    teaching = Teaching(engine)

    async def answer(request: Request) -> Response:
        language = language_of(request.url.query, request.headers.get("accept-language", ""))
        try:
            return await _answered(Asking(teaching, request), request.path_params["what"])
        except ExplainedError as error:
            return JSONResponse({"refused": error.text.in_(language)}, status_of(error))
        except StoppedError:
            return JSONResponse({"stopped": True}, 409)

    return [Route("/teach/{what}", answer, methods=["POST"])]


async def _answered(asking: Asking, what: str) -> Response:
    pictures: dict[str, Callable[[Path], Awaitable[dict[str, Any]]]] = {"add": asking.add, "ask": asking.ask}
    waiting: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {"learn": asking.learn, "score": asking.score}
    made = {"fill": asking.fill, "open": asking.open, "boxes": asking.state}
    if what in pictures:
        return await answer_picture(asking.request, pictures[what], asking.check_room if what == "add" else None)
    if what in waiting:
        return JSONResponse(await waiting[what]())
    if what == "save":
        return await asyncio.to_thread(asking.save)
    if what in made:
        return JSONResponse(await asyncio.to_thread(made[what]))
    if what in ("more", "rename", "remove", "drop", "forget"):
        return JSONResponse(await asyncio.to_thread(asking.changed, what))
    return JSONResponse({"refused": ""}, 404)


def _small(path: Path) -> dict[str, str]:
    from vitexplorer.models.images import open_shrunk

    small = as_jpeg(open_shrunk(path, THUMBNAIL).pixels, THUMBNAIL, 80)
    return {"id": path.stem, "thumb": _address(small)}


def _address(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
