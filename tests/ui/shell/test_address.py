"""Addresses: valid fields are taken, defaults replace the rest."""

from __future__ import annotations

from dataclasses import replace

import gradio as gr
import pytest

from tests.helpers.page_pictures import SMALL
from vitexplorer.models.catalog import catalog
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import examples
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.shell.address import Address, Chosen, SelectedView
from vitexplorer.ui.shell.room_context import RoomContext


def test_an_address_takes_what_makes_sense_and_defaults_for_the_rest() -> None:
    address = Address.read(
        {"model": "vit_tiny_patch16_224", "image": "scene_ring", "block": "7", "head": "x; rm", "room": "../cellar"}
    )
    assert (address.model, address.image, address.block) == ("vit_tiny_patch16_224", "scene_ring", "7")
    assert (address.head, address.room) == ("", "attention")


@pytest.mark.parametrize(
    ("fields", "size", "python"),
    [
        ({"size": "96"}, "96", 'fit="crop", size=96)'),
        ({"size": "96x128", "fit": "squash"}, "96x128", 'fit="squash", size=(96, 128))'),
        ({"size": "96", "fit": "native"}, "", 'fit="native")'),
        ({"size": "96;"}, "", 'fit="crop")'),
    ],
)
def test_an_address_has_a_size_and_python_says_it(
    engine: Engine, fields: dict[str, str], size: str, python: str
) -> None:
    address = Address.read({"model": "vit_tiny_patch16_224", **fields})
    assert address.picture.size == size
    context = RoomContext(engine, Translations(), gr.State(address))
    assert python in context.python_lines(address, "attention_map")


@pytest.mark.parametrize("image", ["../../etc/passwd", "upload-zz", "<script>", ""])
def test_an_address_names_images_only(image: str) -> None:
    assert Address.read({"image": image}) == Address.read({})


def test_what_an_address_does_not_name_is_what_the_page_shows_first() -> None:
    first = Address.read({})
    assert (first.model, first.size, first.image) == ("scenes_dino_patch16_192", "384", "scene_gear")
    assert Address.read({"image": "scene_ring", "room": "flow"}) == replace(first, image="scene_ring", room="flow")
    assert Address.read({"model": SMALL.model}) == Address(model=SMALL.model, image=first.image)


def test_an_empty_address_is_a_bundled_model_on_a_bundled_image() -> None:
    address = Address.read({})
    assert next(entry for entry in catalog() if entry.name == address.model).bundled
    assert address.image in examples()


def test_a_link_with_a_room_s_former_name_opens_it() -> None:
    assert Address.read({"room": "survey"}).room == "folder"
    assert SelectedView.read('{"search": "?room=survey&v.survey=pets", "theme": "light"}').room == "folder"


def test_a_link_with_former_names_of_the_selection_opens_it() -> None:
    flow = {"room": "flow", "query": "cls", "source": "3,4"}
    assert Address.read(flow).query == "3,4"
    assert Address.read({**flow, "room": "attention"}).query == "cls"
    for room in ("compare", "what_if"):
        both = Address.read({"room": room, "both_block": "2", "both_head": "1", "both_query": "5,6", "query": "cls"})
        assert (both.block, both.head, both.query) == ("2", "1", "5,6")


@pytest.mark.parametrize("given", [{}, {"query": "cls", "head": "mean", "block": None}, {"query": 7, "target": "a\nb"}])
def test_defaults_count_as_not_chosen(given: dict) -> None:
    assert Chosen.of(given) == Chosen()
    chosen = Chosen("1,2", "0", "3", "gear")
    assert Chosen.of({"query": "1,2", "block": 0, "head": "3", "target": "gear"}) == chosen
