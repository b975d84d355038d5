"""Warnings for images unlike a bundled model's training data: photographs, and drawn pictures of another kind.

An image whose hash is that of an example is of a known kind; for any other image the kind is unknown, and the warning
says so. Nothing here imports torch or timm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance
from vitexplorer.models.catalog import CatalogEntry, find, knows
from vitexplorer.models.examples import Example, examples

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

PICTURES = {"scene": Text("drawn scenes", "合成场景"), "creature": Text("drawn paper creatures", "合成的剪纸生物")}
_KIND_SENTENCES = {
    "photograph": Text("This is a photograph", "这是照片"),
    "scene": Text("This is a scene of other things", "这是画有其他物体的场景"),
    "creature": Text("This is a paper creature", "这是剪纸生物"),
}
_UNLIKE = Text(
    "{this}, but the model was trained only on {pictures}: its maps and its answer mean nothing here.",
    "{this}，而该模型只用{pictures}训练过：它的图和答案在此没有意义。",
)
_UNKNOWN = Text(
    "The model was trained only on {pictures}: for any other image, its maps and its answer mean nothing.",
    "该模型只用{pictures}训练过：除非此图像也是{pictures}，否则它的图和答案没有意义。",
)
_HINT = Text(
    "This model knows {pictures} only. {title}, {megabytes:.0f} MB, knows photographs.",
    "该模型只认识{pictures}。{title}（{megabytes:.0f} MB）认识照片。",
)
_KNOWS_THIS = Text(
    "This model knows {pictures} only. {title}: that one knows this picture.",
    "该模型只认识{pictures}。“{title}”认识这幅图像。",
)
_MODEL_FOR_KIND = {"scene": "scenes_vit_patch16_192", "creature": "creatures_vit_patch16_192"}
"""Bundled model for each kind of drawn pictures"""


@dataclass(frozen=True)
class PhotoHint:
    """Suggestion of a model that suits an image better."""

    model: str
    """Name in the catalog"""
    title: Text
    megabytes: float
    """Size of the download, 10^6 bytes"""
    available: bool
    """True if it is bundled, or if this installation downloads weights"""
    sentence: Text


def naming_model(image_hash: str) -> CatalogEntry | None:
    """Return the bundled model trained to name pictures of an example's kind; None for any other image."""
    example = _examples().get(image_hash)
    name = _MODEL_FOR_KIND.get(example.kind) if example else None
    return find(name) if name else None


def bundled_model(image_hash: str) -> CatalogEntry:
    """Return `naming_model`, and for an image that no bundled model names, the one for scenes."""
    return naming_model(image_hash) or find(_MODEL_FOR_KIND["scene"])


def photo_notes(provenance: Provenance, image_hash: str) -> tuple[Text, ...]:
    """Return the warnings for a figure of these weights on this image; () for weights trained on photographs."""
    if provenance.weights != "bundled":
        return ()
    known = knows(provenance.model)
    example = _examples().get(image_hash)
    if example is None:
        return (_UNKNOWN.format(pictures=PICTURES[known]),)
    if example.kind == known:
        return ()
    return (_UNLIKE.format(this=_KIND_SENTENCES[example.kind], pictures=PICTURES[known]),)


def photo_hint(model: LoadedModel, image_hash: str) -> PhotoHint | None:
    """Suggest a catalog model trained on images of this kind; None if `model` itself suits the image."""
    if not photo_notes(model.provenance, image_hash):
        return None
    pictures = PICTURES[knows(model.name)]
    if entry := naming_model(image_hash):
        sentence = _KNOWS_THIS.format(pictures=pictures, title=entry.title)
        return PhotoHint(entry.name, entry.title, entry.megabytes, True, sentence)
    entry = find(find(model.name).for_photographs)
    sentence = _HINT.format(pictures=pictures, title=entry.title, megabytes=entry.megabytes)
    return PhotoHint(entry.name, entry.title, entry.megabytes, settings().downloads, sentence)


@cache
def _examples() -> dict[str, Example]:
    return {example.hash: example for example in examples().values()}
