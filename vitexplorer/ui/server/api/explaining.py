"""Endpoints that run a model on an image: the results of `vx.compute`, from the page's own engine."""

# Annotations are read by gradio as they stand here: no `from __future__ import annotations`.
import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from gradio import FileData
from pydantic import Field

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language, SettingError, UnsupportedError
from vitexplorer.core.types import Fit, Result
from vitexplorer.models.examples import examples
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.served_files import cached_file
from vitexplorer.ui.server.api.answering import answering
from vitexplorer.ui.server.api.images import image_id
from vitexplorer.ui.shell.address import Address

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

Trained = Literal["trained", "random"]
Drawn = Literal["none", "png", "svg"]
KINDS = {"png": "image/png", "svg": "image/svg+xml"}


@dataclass(eq=False)
class Explaining:
    """The endpoints that run a model."""

    settings: Settings
    engine: Engine

    @answering
    async def explain(
        self,
        image: FileData | str,
        view: str,
        model: str = "",
        settings: dict[str, Any] | None = None,
        weights: Trained = "trained",
        fit: Fit = "crop",
        size: str = "",
        change: str = "",
        picture: Drawn = "none",
        language: Language = "en",
    ) -> dict[str, Any]:
        """Answer one view's question about an image: numbers with their axes and unit, a caption, and a sentence.

        Args:
            image: an example's name, an http(s) or data: address, an uploaded file, or an id that /picture answered
            view: a name from `views`, such as attention_rollout
            model: a name from `models`; the installation's own where none is given
            settings: the view's settings by name, such as {"block": 5, "query": "3,4"}; others take their defaults
            weights: trained or random
            fit: how the image becomes the model's size: crop, squash, pad or native
            size: another input size in pixels, 384 or 384x512
            change: what is changed before the network runs, such as positions:how=off
            picture: png or svg to get the figure as a file too
            language: of what is said, en or zh

        Returns:
            values (rows by rows, null where there is no number), axes, unit, caption, reading, provenance, picture
        """
        image_key = await image_id(image, self.settings)
        address = Address.exactly(image=image_key, model=model, weights=weights, fit=fit, size=size, change=change)
        result = await self._result(address, view, settings or {})
        drawn = None if picture == "none" else await asyncio.to_thread(_drawn, result, picture, language)
        return {**await in_thread(_document, result, language), "picture": drawn}

    @answering
    async def predict(
        self,
        image: FileData | str,
        model: str = "",
        top: Annotated[int, Field(ge=1, le=1000)] = 5,
        fit: Fit = "crop",
        size: str = "",
        change: str = "",
        language: Language = "en",
    ) -> dict[str, Any]:
        """Name the likeliest classes of an image with their probabilities, or the value of a model with one output.

        Args:
            image: an example's name, an http(s) or data: address, an uploaded file, or an id that /picture answered
            model: a name from `models` that has a classifier; the installation's own where none is given
            top: how many classes
            fit: how the image becomes the model's size: crop, squash, pad or native
            size: another input size in pixels, 384 or 384x512
            change: what is changed before the network runs, such as positions:how=off
            language: of the names, en or zh

        Returns:
            classes with index, name, probability and logit, likeliest first; of a model with one output that alone,
            with index, name and output
        """
        image_key = await image_id(image, self.settings)
        address = Address.exactly(image=image_key, model=model, fit=fit, size=size, change=change)
        capture = await self._capture(address)
        return {"model": address.model, "classes": await in_thread(_classes, capture, top, language)}

    @answering
    async def parameters(self, model: str = "", language: Language = "en") -> dict[str, Any]:
        """Count the parameters of a model, part by part, beside the closed formula where there is one.

        Args:
            model: a name from `models`; the installation's own where none is given
            language: of what is said, en or zh

        Returns:
            total, count of each part, formula, and a sentence
        """
        address = Address.exactly(image=next(iter(examples())), model=model)
        result = await self._result(address, "parameters", {})
        document = await in_thread(_document, result, language)
        return {
            "model": address.model,
            "total": document["total"],
            "parts": dict(zip(document["parts"], document["values"], strict=True)),
            **{name: document[name] for name in ("formula", "terms", "reading")},
        }

    async def _result(self, address: Address, view: str, settings: dict[str, Any]) -> Result:
        await in_thread(_check_view, view)  # report a mistyped name before a model is loaded
        run = (address.picture, address.change) if address.change else address.picture
        return await self.engine.compute(run, await self._capture(address), view, settings)

    async def _capture(self, address: Address) -> "Capture":
        if address.fit == "native" and address.size:
            from vitexplorer.capturing.capture import TWO_SIZES

            raise SettingError(TWO_SIZES)
        return await self.engine.changed(address.picture, address.change)


def _check_view(view: str) -> None:
    from vitexplorer.views import VIEWS  # loads torch: not on the event loop's thread

    VIEWS[view]


def _document(result: Result, language: Language) -> dict[str, Any]:
    from vitexplorer.figures.tables import as_document
    from vitexplorer.views import reading

    return {**as_document(result, language), "reading": reading(result, language)}


def _drawn(result: Result, form: str, language: Language) -> dict[str, Any]:
    """Return the figure as a gradio file; PictureError if the server has no browser to draw it."""
    from vitexplorer.figures.browser import picture
    from vitexplorer.figures.identity import file_stem
    from vitexplorer.figures.rendering import render

    content = picture(render(result, language=language), form, 2 if form == "png" else 1)
    file = cached_file(content, f"{file_stem(result)}.{form}")
    data = FileData(path=str(file.path), orig_name=file.name, mime_type=KINDS[form], size=len(content))
    return data.model_dump()


def _classes(capture: "Capture", top: int, language: Language) -> list[dict[str, Any]]:
    from vitexplorer.core.capture_protocol import without_classifier
    from vitexplorer.quantities.read_out import top_classes

    reason = without_classifier(capture)
    if reason is not None:
        raise UnsupportedError(reason)
    best = top_classes(capture.logits, capture.model.class_texts, top)
    return [{**vars(row), "name": row.name.in_(language)} for row in best]
