"""Mounting a page in another application."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.helpers.waiting import now
from vitexplorer.ui.gradio_adapter.mounting import ASSETS, mount
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors


def mounted(read: list[Any]) -> tuple[gr.Blocks, Starlette]:
    """Return a page with a button that takes a file."""

    async def built() -> tuple[gr.Blocks, Starlette]:
        with gr.Blocks(analytics_enabled=False) as page:
            file = gr.File()
            file.upload(read.append, file, queue=False)
        app = Starlette()
        mount(app, page, Visitors(page, 5), ssr_mode=False)
        return page, app

    return now(built())


@pytest.mark.parametrize("has_launched", [True, False])
def test_a_file_of_the_machine_is_none_that_was_sent(tmp_path: Path, monkeypatch, has_launched: bool) -> None:
    """The second case is gradio without our fix: it shows that the first tests the right place."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    monkeypatch.chdir(tmp_path)
    secret, read = tmp_path.parent / "secret.txt", []
    secret.write_text("secret")
    page, app = mounted(read)
    assert page.has_launched
    page.has_launched = has_launched
    file = {"path": str(secret), "meta": {"_type": "gradio.FileData"}}
    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.post("/gradio_api/run/predict", json={"data": [file], "fn_index": 0, "session_hash": "a"})
    assert (answer.status_code, len(read)) == ((500, 0) if has_launched else (200, 1))


def test_its_parts_are_those_of_the_mounted_application() -> None:
    page, app = mounted([])
    assert page.app is app.routes[-1].app
    assert isinstance(page.state_holder, Visitors)
    assert page.app.state_holder is page.state_holder


def test_gradios_scripts_are_where_they_are_looked_for() -> None:
    assert list(ASSETS.glob("index-*.js"))
