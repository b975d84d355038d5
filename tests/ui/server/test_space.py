"""The page as a Hugging Face Space: front matter, ZeroGPU, and states."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType, SimpleNamespace

import gradio as gr
import pytest

from tests.helpers.documentation import front_matter
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Text
from vitexplorer.models import hub
from vitexplorer.models.catalog import catalog
from vitexplorer.service.engine import Engine
from vitexplorer.service.training_images import Chosen, Pick
from vitexplorer.ui.page import build_page
from vitexplorer.ui.panel.figure_panel import Question
from vitexplorer.ui.server.zero_gpu import join_zero_gpu
from vitexplorer.ui.shell.address import Address


def test_what_is_preloaded_is_what_timm_looks_for():
    addresses = {}
    for entry in catalog():
        address = None if entry.bundled else hub._address(entry.name)
        if address:
            addresses[address.repository] = address
    preloaded = [line.split() for line in front_matter()["preload_from_hub"]]
    assert len(preloaded) == 3
    for repository, file in preloaded:
        assert addresses[repository].files[0] == file
        assert addresses[repository].revision is None


def test_a_space_on_zero_gpu_says_that_it_is_there_and_stays_on_its_processors(monkeypatch: pytest.MonkeyPatch):
    done: list[object] = []
    parts = {
        "spaces": {"GPU": lambda function: done.append(function)},
        "spaces.zero": {
            "client": SimpleNamespace(startup_report=lambda: done.append("reported")),
            "torch": SimpleNamespace(unpatch=lambda: done.append("torch as it is")),
        },
    }
    for name, has in parts.items():
        module = ModuleType(name)
        vars(module).update(has)
        monkeypatch.setitem(sys.modules, name, module)
    join_zero_gpu()
    assert done == []  # another machine
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    join_zero_gpu()
    function, *then = done
    assert callable(function)
    assert then == ["reported", "torch as it is"]


LATER = [
    Address.read({"model": "scenes_vit_patch16_192", "size": "384", "change": "positions:how=off"}),
    Chosen("/runs/data-0/pets", Text("pets", "宠物"), Pick(), Text("less", "更少")),
    Question("learning_curves", {"run": "lora"}, "dark", 3),
    ("name", 1024, "running"),
    ("name", (("lora", 10, True),)),
]
"""Values that events put into states, besides words and numbers"""


async def test_the_states_of_a_visit_survive_a_journey_to_another_process():
    page, _ = build_page(Settings(), Engine(Settings()))
    states = [*(block.value for block in page.blocks.values() if isinstance(block, gr.State)), *LATER]
    assert pickle.loads(pickle.dumps(states)) == states
