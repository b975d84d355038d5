"""Data of a control for the browser: its spec in one language."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from vitexplorer.controls import Spec
from vitexplorer.controls.spec import Board
from vitexplorer.core.text import ExplainedError, Language, in_language
from vitexplorer.models.examples import examples
from vitexplorer.service.image_store import UPLOAD, thumbnail
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.kit.static_responses import example_item


class Option(BaseModel):
    """One choice of a control."""

    value: str
    label: str


class Field(BaseModel):
    """One control, see `vitexplorer.controls.Spec`."""

    kind: str
    name: str
    label: str
    value: str
    options: list[Option] = []
    low: float | None = None
    high: float | None = None
    step: float | None = None
    board: Board | None = None
    words: dict[str, str] = {}
    more: dict[str, Any] = {}
    state: dict[str, Any] = {}


def field_of(spec: Spec, language: Language) -> Field:
    """Return a spec as data in one language, with the bundled examples where it may name one."""
    more = dict(spec.more)
    if spec.kind in ("target", "images"):
        more["images"] = [example_item(example, language) for example in examples().values()]
    return Field(
        kind=spec.kind,
        name=spec.name,
        label=spec.label.in_(language),
        value=spec.value,
        options=[Option(value=value, label=label.in_(language)) for value, label in spec.options],
        low=spec.low,
        high=spec.high,
        step=spec.step,
        board=spec.board,
        words=in_language(spec.words, language),
        more=more,
        state=dict(spec.state) | ({"thumbs": _thumbs(spec.value)} if spec.kind == "images" else {}),
    )


def _thumbs(value: str) -> dict[str, str]:
    """Return the addresses of thumbnails of the uploads that a value names; removed uploads are left out."""
    addresses = {}
    for image in filter(None, value.split(",")):
        if image.startswith(UPLOAD):
            with suppress(ExplainedError):
                addresses[image] = image_file(thumbnail(image)).url
    return addresses
