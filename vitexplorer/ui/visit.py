"""What happens when a visitor arrives or picks another image, model, weights or fit.

Every function reads the address that is wanted and gives the next one; nothing is computed here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gradio as gr

from vitexplorer.settings import settings
from vitexplorer.ui.address import Address
from vitexplorer.ui.language import language_of_request, word
from vitexplorer.ui.menu import model_choices, model_sentence
from vitexplorer.ui.parts.header import header_data
from vitexplorer.ui.parts.status import StatusData
from vitexplorer.ui.parts.strip import StripData, strip_data
from vitexplorer.ui.pictures import examples, keep_upload
from vitexplorer.words import ExplainedError, Language


def start(request: gr.Request) -> dict[str, Any]:
    """The page as its URL asks for it, by component; the rooms are filled by the event that follows."""
    language = language_of_request(request)
    address = Address.read(request.query_params)
    return {
        "language": language,
        "wanted": address,
        "active": address.room,
        "header": header_data(language),
        "upload": picture(address),
        "strip": strip(address, language),
        "model": gr.Dropdown(choices=model_choices(language, settings()), value=address.model),
        "sentence": model_sentence(address.model, language),
        "weights": address.weights,
        "fit": address.fit,
        "tabs": gr.Tabs(selected=address.room),
        "status": StatusData(text=word("status_engine", language)),
    }


def picture(address: Address) -> str | None:
    """The file for the image field; an upload is not shown again."""
    example = examples().get(address.image)
    return str(example.path) if example else None


def strip(address: Address, language: Language) -> StripData:
    """The example strip with the image in use marked."""
    return strip_data(language, word("examples", language), address.image)


def choose_example(event: gr.EventData, address: Address, language: Language) -> tuple[Any, Any, Any]:
    """One of the examples: address, picture in the image field, strip."""
    if event.id not in examples():
        return gr.skip(), gr.skip(), gr.skip()
    address = replace(address, image=event.id, query="")
    return address, str(examples()[event.id].path), strip(address, language)


def choose_upload(path: str | None, address: Address, language: Language) -> tuple[Any, Any]:
    """A file from the visitor: address, strip. What cannot be read is answered with a sentence and changes nothing."""
    if path is None:
        return gr.skip(), gr.skip()
    try:
        address = replace(address, image=keep_upload(path), query="")
    except ExplainedError as error:
        title = word("not_possible", language)
        raise gr.Error(error.text.in_(language), title=title, print_exception=False) from error
    return address, strip(address, language)


def choose_model(name: str | None, address: Address, language: Language) -> tuple[Address, str]:
    """Another model: address, its sentence. Block, head and query start anew."""
    name = (name or "").strip()
    return replace(address, model=name, block="", head="", query=""), model_sentence(name, language)


def choose_weights(weights: str, address: Address) -> Address:
    """Trained or random weights."""
    return replace(address, weights=weights)


def choose_fit(fit: str, address: Address) -> Address:
    """Another fit of the image to the model's input."""
    return replace(address, fit=fit, query="")
