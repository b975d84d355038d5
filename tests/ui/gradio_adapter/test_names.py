"""Private names used by the adapter exist in the installed packages; a missing one is reported by name."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from importlib import import_module
from typing import Any

import gradio as gr
import pytest
from gradio.events import EventData
from gradio.queueing import Event, Queue
from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder
from starlette.applications import Starlette
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tests.helpers.private_names import ADAPTER, private_imports
from tests.helpers.waiting import now
from vitexplorer.ui.gradio_adapter.names import NAMES

Samples = dict[type, Any]


@pytest.fixture(scope="module")
def samples() -> Samples:
    """Samples of each class, for names that only instances have."""

    async def made() -> Samples:
        with gr.Blocks(analytics_enabled=False) as page:
            gr.Button().click(print)
        gr.mount_gradio_app(Starlette(), page, path="", ssr_mode=False)
        page.create_limiter()
        handler = page.fns[0]
        result = (
            *(page, page.app, page._queue, handler, Event("a", handler, None, None), EventData(None, {})),
            *(SessionState(page), StateHolder()),
            HttpToolsProtocol(Config(Starlette()), ServerState(), {}, asyncio.get_running_loop()),
        )
        return {type(one): one for one in result}

    return now(made())


def owner_of(path: str) -> Any:
    """Return the module or class of a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name) if name[0].isupper() else import_module(path)


def holder_of(path: str, samples: Samples) -> Any:
    """Return the module, class or sample that has the last name of a path; raise KeyError if none has."""
    above, _, last = path.rpartition(".")
    owner = owner_of(above)
    of_library = [one for one in getattr(owner, "__mro__", (owner,)) if _library(one) == path.partition(".")[0]]
    return next((one for one in of_library if last in vars(one)), None) or samples[owner]


def _library(owner: Any) -> str:
    return getattr(owner, "__module__", owner.__name__).partition(".")[0]


def trouble(name: str, samples: Samples) -> str | None:
    """Return the error of a name of the table, or None."""
    path, _, arguments = name.partition("(")
    try:
        thing = vars(holder_of(path, samples))[path.rpartition(".")[2]]
    except (AttributeError, KeyError, ImportError):
        return f"{path} is gone"
    if not arguments:
        return None
    if not callable(thing):
        return f"{path} is no function"
    expected = [one for one in arguments.rstrip(")").split(", ") if one]
    given = [one for one in inspect.signature(thing).parameters if one != "self"]
    return None if given[: len(expected)] == expected else f"{path} takes {', '.join(given)}"


def test_what_is_installed_has_every_name(samples: Samples) -> None:
    troubles = {name: trouble(name, samples) for name in NAMES}
    assert {name: (trouble, NAMES[name]) for name, trouble in troubles.items() if trouble} == {}


def test_a_missing_name_is_reported(samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (name.partition("(")[0] for name in NAMES):
        with monkeypatch.context() as missing:
            missing.delattr(holder_of(path, samples), path.rpartition(".")[2])
            assert trouble(path, samples) == f"{path} is gone"


def test_a_function_with_other_parameters_is_reported(samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = (one for one in NAMES if "preprocess_data(" in one)
    monkeypatch.setattr(gr.Blocks, "preprocess_data", lambda self, inputs, block_fn: None)
    assert trouble(name, samples) == "gradio.Blocks.preprocess_data takes inputs, block_fn"
    monkeypatch.setattr(gr.Blocks, "preprocess_data", 3)
    assert trouble(name, samples) == "gradio.Blocks.preprocess_data is no function"


def test_the_table_has_every_private_name_that_is_used() -> None:
    paths = {name.partition("(")[0] for name in NAMES}
    used = {name for file in ADAPTER for name in private_imports(ast.parse(file.read_text(encoding="utf-8")))}
    assert {name for name in used if not any(f"{path}.".startswith(f"{name}.") for path in paths)} == set()


def test_the_table_has_no_name_that_is_not_used() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in ADAPTER if file.name != "names.py")
    elsewhere = {"fn", "inputs", "targets", "blocks", "process_api"}  # asked of what the adapter hands on
    last = {name.partition("(")[0].rpartition(".")[2] for name in NAMES}
    assert {name for name in last - elsewhere if not re.search(rf"\b{name}\b", sources)} == set()


def test_samples_are_of_what_the_table_says(samples: Samples) -> None:
    assert set(samples) >= {gr.Blocks, App, Queue, Event, SessionState, StateHolder, HttpToolsProtocol}
