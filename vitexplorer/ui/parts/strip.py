"""The strip of example images: one click or key press instead of a file dialogue."""

from __future__ import annotations

from gradio.data_classes import FileData, GradioModel

from vitexplorer.ui.parts.widget import Widget
from vitexplorer.ui.pictures import examples
from vitexplorer.words import Language


class StripItem(GradioModel):
    """One thumbnail."""

    id: str
    title: str
    image: FileData


class StripData(GradioModel):
    """The thumbnails and which of them is in use."""

    label: str = ""
    items: list[StripItem] = []
    chosen: str = ""


class ExampleStrip(Widget):
    """Thumbnails as a row of buttons; fires `pick` with the id of the one that was chosen."""

    data_model = StripData
    stem = "strip"
    sends = ("pick",)


def strip_data(language: Language, label: str, chosen: str) -> StripData:
    """All examples of the repository, `chosen` marked."""
    return StripData(
        label=label,
        chosen=chosen,
        items=[
            StripItem(id=example.id, title=example.title.in_(language), image=FileData(path=str(example.path)))
            for example in examples().values()
        ],
    )
