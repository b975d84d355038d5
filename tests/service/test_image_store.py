"""Uploaded images: kept by content, opened and hashed once."""

from __future__ import annotations

import numpy as np
import PIL.Image
import pytest

from tests.helpers.page_pictures import SMALL
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.models import images
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.image_store import keep_upload, open_image


def test_an_upload_is_stored_by_its_content(tmp_path) -> None:
    path = tmp_path / "a.png"
    pixels = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    PIL.Image.fromarray(pixels).save(path)
    image = keep_upload(str(path))
    np.testing.assert_array_equal(open_image(image).pixels, pixels)
    with pytest.raises(ExplainedError, match="no longer here"):
        open_image("upload-" + 64 * "0")


def test_an_upload_is_opened_and_hashed_once(tmp_path, monkeypatch) -> None:
    path, read, hashed = tmp_path / "a.png", [], []
    PIL.Image.effect_noise((40, 30), 50).convert("RGB").save(path)
    for name, asked in (("open_image", read), ("image_hash", hashed)):
        real = getattr(images, name)
        monkeypatch.setattr(images, name, lambda it, real=real, asked=asked, **to: asked.append(it) or real(it, **to))
    engine = Engine(Settings())
    image = keep_upload(str(path))
    captures = [now(engine.explore(Picture(image, SMALL.model, "random", fit))).capture for fit in ("crop", "squash")]
    assert (read, len(hashed)) == ([str(path)], 1)
    assert {"upload-" + capture.provenance.image_hash for capture in captures} == {image}
