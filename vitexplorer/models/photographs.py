"""What the bundled models do not know: photographs, and drawn pictures of another kind. They answer all the same.

A picture is known as a drawn one by its hash, that of an example; of any other nobody knows, so the sentence is
careful. Nothing here imports torch or timm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance
from vitexplorer.models.catalog import find, knows
from vitexplorer.models.examples import Example, examples

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

PICTURES = {"scene": Text("drawn scenes", "绘制场景"), "creature": Text("drawn paper creatures", "绘制的剪纸生物")}
_ELSEWHERE = {
    "photograph": Text("This is a photograph", "这是照片"),
    "scene": Text("This is a scene of other things", "这是画有其他物体的场景"),
    "creature": Text("This is a paper creature", "这是剪纸生物"),
}
_OTHER = Text(
    "{this}, and the model was trained on {pictures} alone: its maps and its answer mean nothing here.",
    "{this}，而该模型只用{pictures}训练过：它的图和回答在此没有意义。",
)
_UNKNOWN = Text(
    "The model was trained on {pictures} alone: unless this image is one, its maps and its answer mean nothing.",
    "该模型只用{pictures}训练过：除非此图像也是{pictures}，否则它的图和回答没有意义。",
)
_HINT = Text(
    "This model knows {pictures} only. {title}, {megabytes:.0f} MB, knows photographs.",
    "该模型只认识{pictures}。{title}（{megabytes:.0f} MB）认识照片。",
)
_KNOWS_THIS = Text(
    "This model knows {pictures} only. {title}: that one knows this picture.",
    "该模型只认识{pictures}。“{title}”认识这幅图像。",
)
_KNOWING = {"scene": "scenes_vit_patch16_192", "creature": "creatures_vit_patch16_192"}
"""a bundled model for each kind of drawn pictures"""


@dataclass(frozen=True)
class PhotoHint:
    """Which model to try on this picture instead."""

    model: str
    """its name in the catalogue"""
    title: Text
    megabytes: float
    """to download"""
    available: bool
    """whether it is bundled, or this installation fetches weights"""
    sentence: Text


def photo_notes(provenance: Provenance, image_hash: str) -> tuple[Text, ...]:
    """What a figure of these weights on this image has to say; empty for weights that saw photographs."""
    if provenance.weights != "bundled":
        return ()
    known, example = knows(provenance.model), _examples().get(image_hash)
    if example is None:
        return (_UNKNOWN.format(pictures=PICTURES[known]),)
    return () if example.kind == known else (_OTHER.format(this=_ELSEWHERE[example.kind], pictures=PICTURES[known]),)


def photo_hint(model: LoadedModel, image_hash: str) -> PhotoHint | None:
    """A model of the catalogue that knows what is seen, where this one may not; None otherwise."""
    if not photo_notes(model.provenance, image_hash):
        return None
    pictures = PICTURES[knows(model.name)]
    example = _examples().get(image_hash)
    if example is not None and example.kind in _KNOWING:
        entry = find(_KNOWING[example.kind])
        sentence = _KNOWS_THIS.format(pictures=pictures, title=entry.title)
        return PhotoHint(entry.name, entry.title, entry.megabytes, True, sentence)
    entry = find(find(model.name).for_photographs)
    sentence = _HINT.format(pictures=pictures, title=entry.title, megabytes=entry.megabytes)
    return PhotoHint(entry.name, entry.title, entry.megabytes, settings().downloads, sentence)


@cache
def _examples() -> dict[str, Example]:
    return {example.hash: example for example in examples().values()}
