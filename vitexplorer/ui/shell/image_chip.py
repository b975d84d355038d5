"""The image in use, as a chip of the top bar; examples, files, the clipboard and the webcam stand in its sheet."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.image_store import examples, thumbnail
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.kit.static_responses import example_url
from vitexplorer.ui.kit.widget import Widget

_WORDS = (
    "image",
    "image_upload",
    "image_webcam",
    "image_take",
    "image_drop",
    "image_none",
    "image_lost",
    "paste_none",
    "webcam_none",
    "webcam_insecure",
    "webcam_refused",
)


class ExampleItem(BaseModel):
    """One example."""

    id: str
    title: str
    image: str
    """where it is, as of `thumb`"""


class ExampleGroup(BaseModel):
    """Examples of one kind."""

    title: str
    items: list[ExampleItem]


class ImageChipData(BaseModel):
    """The chip and the examples."""

    chosen: str = ""
    title: str = ""
    note: str = ""
    thumb: str = ""
    groups: list[ExampleGroup] = []
    takes_drops: bool = True
    """whether what is dropped or pasted anywhere on the page is for this chip"""
    words: dict[str, str] = {}


class ImageChip(Widget):
    """Fires `choose` with `image`: an example's id, or that of a picture that `/picture` has taken."""

    data_model = ImageChipData
    stem = "image_chip"
    sends = ("choose",)


def image_chip(image: str, language: Language) -> ImageChipData:
    """The chip for an image by its id; one that is no longer here has no thumbnail."""
    example = examples().get(image)
    return ImageChipData(
        chosen=image,
        title=example.title.in_(language) if example else word("image_own", language),
        note=word("image_change", language),
        thumb=example_url(example) if example else _thumb(image),
        groups=[
            ExampleGroup(
                title=word(title, language),
                items=[
                    ExampleItem(id=one.id, title=one.title.in_(language), image=example_url(one))
                    for one in examples().values()
                    if (one.kind != "photograph") == drawn
                ],
            )
            for title, drawn in (("examples_drawn", True), ("examples_photographs", False))
        ],
        words={key: word(key, language) for key in _WORDS},
    )


def _thumb(image: str) -> str:
    try:
        return image_file(thumbnail(image)).url
    except ExplainedError:
        return ""
