"""Films: their frames, counted by other readers, the last one equal to the still figure, refusals in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageSequence
from playwright.sync_api import Browser

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from tests.helpers.thorough import always, later, quick
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError
from vitexplorer.figures.files import SaveError
from vitexplorer.learn import film as film_module
from vitexplorer.learn.film import between

WIDTH = 320


def frames_of(path: Path) -> list[np.ndarray]:
    """Read all frames of a film as RGB."""
    if path.suffix == ".mp4":
        video, frames = cv2.VideoCapture(str(path)), []
        while (read := video.read())[0]:
            frames.append(read[1][..., ::-1])
        return frames
    with Image.open(path) as film:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The figure that the film ends with, at its size."""
    result = vx.compute("network", capture_small("vit"))
    path = vx.save(result, tmp_path_factory.mktemp("still") / "still.png", theme="dark", scale=WIDTH / 1280)
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


@pytest.mark.parametrize(("suffix", "loss"), [always("mp4", 6), later("gif", 12), later("webp", 6)])
def test_a_film_of_the_pass_has_its_frames_and_ends_with_the_still(
    still: np.ndarray, tmp_path: Path, suffix: str, loss: float
) -> None:
    steps: list[tuple[int, int]] = []
    path = vx.film(
        capture_small("vit"),
        tmp_path / f"pass.{suffix}",
        seconds=1.5,
        fps=20,
        width=WIDTH,
        progress=lambda *done: steps.append(done),
    )
    frames = frames_of(path)
    assert len(frames) == 30
    height = min(len(frames[-1]), len(still))
    difference = np.abs(frames[-1][:height].astype(float) - still[:height])
    assert difference.mean() < loss
    assert np.abs(frames[0].astype(float) - frames[-1]).mean() > 2 * difference.mean()  # it begins with the image alone
    assert steps == [(n, 6) for n in range(1, 7)]  # the image, the tokens, three blocks, the answer


@pytest.mark.parametrize("kind", quick(["heads", "sizes"], keep=["heads"]))
def test_other_films_have_their_frames(tmp_path: Path, kind: str) -> None:
    path = vx.film(capture_small("vit"), tmp_path / "film.gif", kind, seconds=0.5, fps=10, width=160)
    assert len(frames_of(path)) == 5


def test_larger_inputs_show_the_same_part_of_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A preprocessing that crops does not crop the cropped image again."""
    captured = capture_small("vit")
    model = replace(captured.model, preprocessing=replace(captured.model.preprocessing, crop_pct=0.5))
    drawn: list[np.ndarray] = []
    compute_plainly = film_module.compute
    monkeypatch.setattr(
        film_module,
        "compute",
        lambda view, seen, **more: drawn.append(seen.input.pixels) or compute_plainly(view, seen, **more),
    )
    vx.film(replace(captured, model=model), tmp_path / "film.gif", "sizes", seconds=0.2, fps=10, width=160)
    for pixels in drawn:
        small = cv2.resize(pixels, captured.input.pixels.shape[1::-1], interpolation=cv2.INTER_AREA)
        assert np.abs(small.astype(float) - captured.input.pixels).mean() < 12


def test_an_animation_too_large_for_memory_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(film_module, "MOST_BYTES", 1000)
    with pytest.raises(SettingError, match=r"choose \.mp4"):
        vx.film(capture_small("vit"), tmp_path / "film.gif", "heads", seconds=0.2, fps=10, width=160)


def test_one_figure_fades_into_the_next() -> None:
    stills: Sequence[np.ndarray] = [np.full((2, 2, 3), value, np.uint8) for value in (0, 100, 50)]
    assert [int(frame[0, 0, 0]) for frame in between(stills, 9)] == [0, 25, 50, 75, 100, 88, 75, 62, 50]
    assert [int(frame[0, 0, 0]) for frame in between(stills[:1], 3)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"seconds": 0}, SettingError, "not 0 s of 25"),
        ({"fps": 61}, SettingError, "1 to 60 frames"),
        ({"seconds": 1e9}, SettingError, "2 to 3000 frames"),
        ({"seconds": float("nan")}, SettingError, "not nan s"),
        ({"width": 20}, SettingError, "160 to 3840 pixels"),
        ({"kind": "blocks"}, UnknownNameError, "Unknown kind 'blocks'"),
        ({"query": (9, 9)}, SettingError, "There is no patch"),
        ({"path": "film.avi"}, SaveError, ".mp4, .gif, .webp"),
    ],
)
def test_what_cannot_be_filmed_is_a_sentence(
    tmp_path: Path, options: dict, error: type, sentence: str, unchecked: None
) -> None:
    path = tmp_path / options.pop("path", "film.gif")
    with pytest.raises(error, match=sentence):
        vx.film(capture_small("vit"), path, **options)
    assert not path.exists()


@pytest.mark.browser
def test_a_figure_is_saved_as_a_page_that_needs_no_network(chromium: Browser, tmp_path: Path) -> None:
    path = vx.save(vx.compute("network", capture_small("vit")), tmp_path / "slide.html")
    with chromium.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".main-svg .imagelayer image").first.wait_for(state="attached")
        assert page.title() == "The whole network"
        assert page.locator(".main-svg .annotation-text", has_text="block 2").count() == 1
