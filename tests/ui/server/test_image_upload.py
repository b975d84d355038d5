"""Upload endpoint for pictures: an id for what can be opened, a sentence for what cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.helpers.image_folders import encoded
from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service import image_store as pictures
from vitexplorer.service.image_store import open_image, thumbnail
from vitexplorer.ui.server import image_upload as intake
from vitexplorer.ui.server.image_upload import PICTURE

BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(routes=[PICTURE])) as client:
        yield client


def test_a_picture_is_taken_as_it_is(client: TestClient) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (150, 300, 3), dtype=np.uint8)
    image = client.post("/picture", content=encoded(pixels), headers=BYTES).json()["image"]
    np.testing.assert_array_equal(open_image(image).pixels, pixels)
    assert thumbnail(image).shape == (48, 96, 3)


def test_a_picture_is_found_again_when_others_needed_the_memory(
    client: TestClient, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    pixels = np.random.default_rng(1).integers(0, 255, (50, 60, 3), dtype=np.uint8)
    image = client.post("/picture", content=encoded(pixels), headers=BYTES).json()["image"]
    monkeypatch.setattr(pictures, "uploads", BytesCache(1, lambda _: 1))
    np.testing.assert_array_equal(open_image(image).pixels, pixels)
    monkeypatch.setattr(pictures, "uploads", BytesCache(1, lambda _: 1))
    [file] = (tmp_path / "files-pictures").iterdir()
    for content in (encoded(255 - pixels), b"no picture"):
        file.write_bytes(content)
        with pytest.raises(ExplainedError, match="no longer here"):
            open_image(image)
    with pytest.raises(ExplainedError, match="no longer here"):
        open_image(f"upload-../files-pictures/{file.name}")


def test_what_is_no_picture_is_answered_in_the_visitors_language(client: TestClient) -> None:
    answers = [client.post(f"/picture?lang={lang}", content=b"no picture", headers=BYTES) for lang in ("en", "zh")]
    english, chinese = (answer.json()["refused"] for answer in answers)
    assert {answer.status_code for answer in answers} == {422}
    assert "known format" in english
    assert "known" not in chinese
    assert "/" not in english, "where it was kept is nobody's business"


def test_a_file_that_is_too_large_is_not_stored(client: TestClient, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(intake, "settings", lambda: Settings(max_upload_megabytes=1))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    answer = client.post("/picture", content=bytes(1_000_001), headers=BYTES)
    assert (answer.status_code, "larger than 1 MB" in answer.json()["refused"]) == (413, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "image/png"])
def test_a_form_of_another_page_is_not_taken(client: TestClient, kind: str) -> None:
    """Refuse types that a browser sends to other origins without a preflight request."""
    assert client.post("/picture", content=b"", headers={"content-type": kind}).status_code == 415
