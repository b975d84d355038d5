"""Image chip of the top bar; its sheet offers examples, files, the clipboard and the webcam."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.image_store import examples, thumbnail
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.kit.static_responses import example_item, example_url
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.address import Address

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


class ExampleGroup(BaseModel):
    """Examples of one kind."""

    title: str
    items: list[dict[str, str]]
    """See `example_item`"""


class ImageChipData(BaseModel):
    """The chip and the examples of its sheet."""

    chosen: str = ""
    title: str = ""
    note: str = ""
    thumb: str = ""
    groups: list[ExampleGroup] = []
    takes_drops: bool = True
    """True if the chip takes images that are dropped or pasted anywhere on the page"""
    words: dict[str, str] = {}


class ImageChip(Widget):
    """Component that fires `choose` with `image`: the id of an example, or of an image that `/picture` has stored."""

    data_model = ImageChipData
    sends = ("choose",)


def image_chip(address: Address) -> ImageChipData:
    """Return the chip of an address's image; an image that is no longer stored has no thumbnail."""
    image, language = address.image, address.language
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
                    example_item(item, language)
                    for item in examples().values()
                    if (item.kind != "photograph") == is_drawn
                ],
            )
            for title, is_drawn in (("examples_drawn", True), ("examples_photographs", False))
        ],
        words={key: word(key, language) for key in _WORDS},
    )


def _thumb(image: str) -> str:
    try:
        return image_file(thumbnail(image)).url
    except ExplainedError:
        return ""
