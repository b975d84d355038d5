"""The menu of models."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.helpers.page_pictures import SMALL
from vitexplorer.core.settings import Settings
from vitexplorer.models.catalog import catalog
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.chips.model_chip import model_chip


def test_the_menu_lists_every_model_with_its_state() -> None:
    chip = model_chip(Address(model=SMALL.model, language="zh"), Settings(downloads=False))
    states = {item.name: item.state for item in chip.models}
    assert set(states) == {entry.name for entry in catalog()}
    assert all(re.search("内置|已在本机|无法获取", state) for state in states.values())
    assert chip.title == SMALL.model, "of a model that is not listed its name is all there is"


def test_the_chip_says_what_a_bundled_model_is_for() -> None:
    dino = Address(model="scenes_dino_patch16_192")
    assert model_chip(dino, Settings()).note == "finds objects by itself"
    assert model_chip(replace(dino, weights="random"), Settings()).note == "random weights"
    assert all(entry.purpose.en and entry.purpose.zh for entry in catalog() if entry.bundled)
