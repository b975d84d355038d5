"""Endpoints for scripts: answers equal `vx.compute`, and errors are sentences."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Thread
from typing import Any

import gradio as gr
import pytest

import vitexplorer as vx
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.figures.tables import as_document
from vitexplorer.models.examples import examples
from vitexplorer.service import fetching
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.ui.page import build_page
from vitexplorer.ui.server.api.explaining import Explaining
from vitexplorer.ui.server.api.listing import Listing

MODEL = "scenes_vit_patch16_192"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(runs_folder=str(tmp_path_factory.mktemp("runs")), model=MODEL)


@pytest.fixture(scope="module")
def explaining(installation: Settings) -> Explaining:
    return Explaining(installation, Engine(installation))


@pytest.fixture(scope="module")
def listing(installation: Settings) -> Listing:
    return Listing(installation, Engine(installation))


def answer(endpoint: Any, **given: Any) -> Any:
    """Return the answer as a client gets it."""
    return json.loads(json.dumps(now(endpoint(**given)), allow_nan=False))


def sentence(endpoint: Any, **given: Any) -> str:
    with pytest.raises(gr.Error) as refused:
        now(endpoint(**given))
    assert not refused.value.print_exception  # no traceback in the log for what a caller can mend
    return refused.value.message


# ---------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("view", "settings"),
    [
        ("attention_map", {"block": 3, "head": "1", "query": [3, 4]}),
        ("attention_rollout", {}),
        ("generic_relevance", {"target": "fish"}),
        ("head_gallery", {"block": 1}),
    ],
)
def test_the_numbers_are_those_of_compute(explaining, view, settings):
    capture = vx.capture(vx.load_model(MODEL), examples()["scene_fish"].path)
    result = vx.compute(view, capture, **settings)
    document = answer(explaining.explain, image="scene_fish", view=view, settings=settings)
    assert document.pop("picture") is None
    assert document.pop("reading") == vx.reading(result)
    assert document == json.loads(json.dumps(as_document(result, "en")))


def test_of_another_size_weights_and_run(explaining):
    given = {"image": "scene_fish", "view": "attention_rollout", "size": "96", "weights": "random", "fit": "squash"}
    model = vx.load_model(MODEL, weights="random")
    capture = vx.capture(model, examples()["scene_fish"].path, fit="squash", size=96)
    changed = vx.intervene(capture, "positions:how=off")
    document = answer(explaining.explain, **given)
    assert document["values"] == vx.compute("attention_rollout", capture).values.tolist()
    document = answer(explaining.explain, **given, change="positions:how=off", language="zh")
    result = vx.compute("attention_rollout", changed)
    assert document["values"] == result.values.tolist()
    assert document["reading"] == vx.reading(result, "zh")


def test_a_changed_run_is_the_one_that_the_page_keeps(explaining, monkeypatch):
    now(explaining.engine.changed(Picture("scene_mug", MODEL), "positions:how=off"))
    monkeypatch.setattr(
        import_module("vitexplorer.interventions"), "intervene", lambda *_: pytest.fail("the network ran again")
    )
    assert answer(explaining.predict, image="scene_mug", change="positions:how=off")["classes"]


def test_classes_are_named_with_their_probabilities(explaining):
    capture = vx.capture(vx.load_model(MODEL), examples()["scene_fish"].path)
    document = answer(explaining.predict, image="scene_fish", top=2, language="zh")
    first, second = document["classes"]
    assert first["probability"] == capture.logits.double().softmax(-1).max().item() >= second["probability"]
    assert first["name"] == capture.model.class_names_zh[first["index"]]


def test_parameters_are_counted_without_an_image(explaining):
    document = answer(explaining.parameters)
    module = vx.load_model(MODEL).module
    assert document["total"] == sum(document["parts"].values()) == sum(one.numel() for one in module.parameters())


# ---------------------------------------------------------------------------------------------- lists


def test_the_lists_are_the_registries(listing):
    document = answer(listing.models)
    assert [one["name"] for one in document["models"]] == [entry.name for entry in vx.models()]
    assert list(document["examples"]) == list(examples())
    listed = answer(listing.views, language="zh")
    assert [one["name"] for one in listed] == list(vx.views())
    for one, view in zip(listed, vx.views().values(), strict=True):
        assert one["question"] == view.question.zh
        assert [setting["name"] for setting in one["settings"]] == [control.name for control in view.controls]


# ---------------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"view": "atention_map"}, "Did you mean 'attention_map'?"),
        ({"view": "atention_map", "language": "zh"}, "您是指“attention_map”吗？"),
        ({"model": "scenes_vit"}, "Unknown model 'scenes_vit'"),
        ({"model": "../../etc/passwd"}, "model='../../etc/passwd' is not possible."),
        ({"settings": {"block": 99}}, "There is no block 99"),
        ({"settings": {"blck": 1}}, "Unknown setting 'blck'"),
        ({"settings": [1]}, "settings=[1] is not possible"),
        ({"settings": {"query": {"row": [1]}}}, "query"),
        ({"image": "scene_fisch"}, "Unknown image 'scene_fisch'. Did you mean 'scene_fish'?"),
        ({"image": f"upload-{'0' * 64}"}, "no longer here"),
        ({"image": {"path": "/etc/passwd"}}, "This file was not uploaded here."),
        ({"image": {"path": "\0"}}, "This file was not uploaded here."),
        ({"image": "http://127.0.0.1/fish.png"}, "127.0.0.1 is not a public address"),
        ({"image": "https://[::ffff:127.0.0.1]/fish.png"}, "is not a public address"),
        ({"image": "http:///fish.png"}, "is not a web address"),
        ({"image": "http://localhost:1/gradio_api/file=/etc/passwd"}, "This file was not uploaded here."),
        ({"image": "data:image/png;base64,-"}, "is not a data:image/...;base64, address"),
        ({"image": "data:image/png;base64,"}, "empty"),
        ({"fit": "stretch"}, "fit='stretch' is not possible"),
        ({"fit": "native", "size": "96"}, 'fit "native" keeps'),
        ({"size": "97"}, "multiples of 16"),
        ({"change": "nosuch"}, "Unknown intervention 'nosuch'"),
        ({"view": "mae_reconstruction"}, "has no decoder"),
    ],
)
def test_what_cannot_be_is_a_sentence(explaining, given, message):
    assert message in sentence(explaining.explain, **{"image": "scene_fish", "view": "attention_map", **given})


def test_an_internal_error_is_reported_without_its_traceback(explaining, monkeypatch, caplog):
    monkeypatch.setattr(explaining, "_capture", lambda *_: 1 / 0)
    message = sentence(explaining.predict, image="scene_fish")
    assert message == "Something went wrong on our side. The details are in the server's log."
    assert "ZeroDivisionError" in caplog.text


# ---------------------------------------------------------------------------------------------- images from elsewhere


class Elsewhere(BaseHTTPRequestHandler):
    """Handler that serves a picture, and redirects to somewhere else."""

    def do_GET(self) -> None:
        onward = {"/on": "/fish.webp", "/round": "/round", "/inside": "http://127.0.0.1/fish.webp"}.get(self.path)
        known = self.path == "/fish.webp"
        self.send_response(302 if onward else 200 if known else 404)
        if onward:
            self.send_header("location", onward)
        self.end_headers()
        if known:
            self.wfile.write(examples()["scene_fish"].path.read_bytes())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Return its address, which counts as public here."""
    resolved = fetching._public_address

    async def outside(host: str) -> str:
        return "127.0.0.1" if host == "pictures.example" else await resolved(host)

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server, pytest.MonkeyPatch.context() as patched:
        patched.setattr(fetching, "_public_address", outside)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://pictures.example:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("path", ["/fish.webp", "/on"])
def test_a_public_picture_is_explained(explaining, elsewhere, path):
    here = answer(explaining.predict, image="scene_fish")
    assert answer(explaining.predict, image=elsewhere + path) == here
    assert (
        answer(explaining.predict, image={"path": elsewhere + path}) == here
    )  # as gradio_client's handle_file says it


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/inside", "127.0.0.1 is not a public address"),
        ("/round", "only redirects"),
        ("/nothing", "could not be fetched from pictures.example: HTTP 404."),
    ],
)
def test_no_way_leads_inside(explaining, elsewhere, path, message):
    assert message in sentence(explaining.predict, image=elsewhere + path)


def test_a_picture_that_is_too_large_is_left_there(elsewhere, tmp_path):
    with pytest.raises(ExplainedError, match="larger than 0 MB"):
        now(fetching.fetched(f"{elsewhere}/fish.webp", tmp_path / "picture", most=1000))


def test_a_picture_can_stand_in_its_address(explaining):
    content = base64.b64encode(examples()["scene_fish"].path.read_bytes()).decode()
    here = answer(explaining.predict, image="scene_fish")
    assert answer(explaining.predict, image=f"data:image/webp;base64,{content}") == here


# ---------------------------------------------------------------------------------------------- the endpoint


async def test_nothing_else_has_a_name(installation):
    page, _ = build_page(installation, Engine(installation))
    named = page.get_api_info()["named_endpoints"]
    assert list(named) == ["/models", "/views", "/explain", "/predict", "/parameters", "/diagnose"]
    public = [event for event in page.fns.values() if event.api_visibility != "private"]
    assert [f"/{event.api_name}" for event in public] == list(named)
    assert all(end["description"] and all(one["type"] for one in end["parameters"]) for end in named.values())
    sent = page.get_config_file()["page"][""]  # to a browser
    assert not {event._id for event in public} & set(sent["dependencies"])
