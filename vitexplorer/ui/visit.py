"""What happens when a visitor arrives or picks another image, model, weights or fit.

Every event reads the address that is wanted and gives the next one; nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import gradio as gr
from gradio.blocks import Block

from vitexplorer.settings import settings
from vitexplorer.ui.address import Address
from vitexplorer.ui.desk import Updates
from vitexplorer.ui.language import language_of_request, word
from vitexplorer.ui.menu import model_choices, model_sentence
from vitexplorer.ui.parts.header import Header, header_data
from vitexplorer.ui.parts.status import StatusData, StatusLine
from vitexplorer.ui.parts.strip import ExampleStrip, StripData, strip_data
from vitexplorer.ui.parts.upload import ImageUpload
from vitexplorer.ui.pictures import examples, keep_upload
from vitexplorer.words import ExplainedError, Language


@dataclass(frozen=True)
class Visit:
    """The frame around the rooms, as one visitor has it."""

    language: gr.State
    wanted: gr.State
    """the Address that is asked for"""
    active: gr.State
    """key of the room that is looked at"""
    header: Header
    upload: ImageUpload
    strip: ExampleStrip
    model: gr.Dropdown
    sentence: gr.Markdown
    """what the catalogue says of the model"""
    weights: gr.Radio
    fit: gr.Radio
    status: StatusLine
    tabs: gr.Tabs

    @property
    def components(self) -> list[Block]:
        """All of them."""
        return [getattr(self, part.name) for part in fields(self)]

    def start(self, request: gr.Request) -> Updates:
        """The page as its URL asks for it; the rooms are filled by the event that follows."""
        language = language_of_request(request)
        address = Address.read(request.query_params)
        return {
            self.language: language,
            self.wanted: address,
            self.active: address.room,
            self.header: header_data(language),
            self.upload: picture(address),
            self.strip: strip(address, language),
            self.model: gr.Dropdown(choices=model_choices(language, settings()), value=address.model),
            self.sentence: model_sentence(address.model, language),
            self.weights: address.weights,
            self.fit: address.fit,
            self.status: StatusData(text=word("status_engine", language)),
            self.tabs: gr.Tabs(selected=address.room),
        }

    def choose_example(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """One of the examples."""
        if event.id not in examples():
            return gr.skip()
        address = replace(address, image=event.id, query="")
        return {self.wanted: address, self.upload: picture(address), self.strip: strip(address, language)}

    def choose_upload(self, path: str | None, address: Address, language: Language) -> Updates:
        """A file from the visitor. What cannot be read is answered with a sentence and changes nothing."""
        if path is None:
            return gr.skip()
        try:
            address = replace(address, image=keep_upload(path), query="")
        except ExplainedError as error:
            raise not_possible(error, language) from error
        return {self.wanted: address, self.strip: strip(address, language)}

    def choose_model(self, name: str | None, address: Address, language: Language) -> Updates:
        """Another model. Block, head, query and size start anew."""
        name = (name or "").strip()
        address = replace(address, model=name, size="", block="", head="", query="")
        return {self.wanted: address, self.sentence: model_sentence(name, language)}

    @property
    def of_choice(self) -> list[Block]:
        """Those that another choice of model and image writes to."""
        left = [self.wanted, self.upload, self.strip, self.model, self.sentence, self.weights]
        return [*left, self.tabs, self.active]

    def enter(self, address: Address, language: Language) -> Updates:
        """A room with a model, as an address has them; the picture in the image field stays what it is."""
        return {
            self.wanted: address,
            self.strip: strip(address, language),
            self.model: gr.Dropdown(value=address.model),
            self.sentence: model_sentence(address.model, language),
            self.weights: address.weights,
            self.tabs: gr.Tabs(selected=address.room),
            self.active: address.room,
        }


def not_possible(error: ExplainedError, language: Language) -> gr.Error:
    """Why a choice is not possible, as gradio says it."""
    return gr.Error(error.text.in_(language), title=word("not_possible", language), print_exception=False)


def picture(address: Address) -> str | None:
    """The file for the image field; an upload is not shown again."""
    example = examples().get(address.image)
    return str(example.path) if example else None


def strip(address: Address, language: Language) -> StripData:
    """The example strip with the image in use marked."""
    return strip_data(language, word("examples", language), address.image)


def choose_weights(weights: str, address: Address) -> Address:
    """Trained or random weights."""
    return replace(address, weights=weights)


def choose_fit(fit: str, address: Address) -> Address:
    """Another fit of the image to the model's input."""
    return replace(address, fit=fit, query="")
