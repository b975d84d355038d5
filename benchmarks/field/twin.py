"""Minimal gradio page for comparison: the same maps of the same captures, drawn by the server as images.

    python -m benchmarks.field.twin

It has sliders for block and head, lists of models and sizes, and a click on the map for a patch; every gesture is a
gradio event that returns a `gr.Image`, waits in gradio's own queue and shows progress. Captures are cached, so only
a new picture, model or size runs the model: the comparison is about the delivery of the map, not its computation.
"""

from __future__ import annotations

import hashlib
import sys
import time
from functools import cache, lru_cache

import cv2
import gradio as gr
import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

import vitexplorer as vx
from tests.helpers.app import served
from vitexplorer.capturing.capture import Capture
from vitexplorer.models.examples import examples
from vitexplorer.models.loading import LoadedModel

MODELS = ("vit_base_patch16_224.augreg_in21k_ft_in1k", "vit_small_patch16_224.augreg_in21k_ft_in1k")
SIZES = ("224", "336")
SIDE = 448
"""Pixels of the map's side"""
CACHED = 8
"""Number of cached captures"""


@cache
def _model(name: str, size: str) -> LoadedModel:
    return vx.load_model(name, weights="random", size=int(size))


_captures: dict[tuple[str, str, str], tuple[Capture, float]] = {}


def seen(image: UInt8[ndarray, "height width 3"], model: str, size: str) -> tuple[Capture, float]:
    """Return the capture of an image, cached, and the milliseconds of its pass."""
    key = (hashlib.sha256(image.tobytes()).hexdigest(), model, size)
    if key not in _captures:
        loaded, start = _model(model, size), time.perf_counter()
        capture = vx.capture(loaded, image)
        _captures[key] = capture, 1000 * (time.perf_counter() - start)
        while len(_captures) > CACHED:
            del _captures[next(iter(_captures))]
    return _captures[key]


@lru_cache(CACHED)
def _colours() -> UInt8[ndarray, "256 1 3"]:
    return cv2.applyColorMap(np.arange(256, dtype=np.uint8)[:, None], cv2.COLORMAP_INFERNO)[..., ::-1]


def drawn(
    image: UInt8[ndarray, "height width 3"], model: str, size: str, block: int, head: int, patch: tuple[int, int] | None
) -> tuple[UInt8[ndarray, "side side 3"], float]:
    """Return the attention of a head from a patch or the class token, over the image; and the pass in ms."""
    capture, milliseconds = seen(image, model, size)
    grid = capture.grid(block)
    heads = capture.attention_from(patch or "cls", block)[0]
    row = heads[min(head, len(heads) - 1)].reshape(grid.rows, grid.cols).numpy()
    levels = (255 * row / row.max()).astype(np.uint8)
    colours = cv2.resize(_colours()[levels, 0], (SIDE, SIDE), interpolation=cv2.INTER_NEAREST)
    return cv2.addWeighted(colours, 0.8, cv2.resize(capture.input.pixels, (SIDE, SIDE)), 0.2, 0), milliseconds


def picked(
    image: UInt8[ndarray, "height width 3"], model: str, size: str, block: int, head: int, event: gr.SelectData
) -> tuple[UInt8[ndarray, "side side 3"], tuple[int, int]]:
    """Return the map of the clicked patch, and the patch."""
    grid = seen(image, model, size)[0].grid(block)
    x, y = event.index
    patch = (y * grid.rows // SIDE, x * grid.cols // SIDE)
    return drawn(image, model, size, block, head, patch)[0], patch


def twin() -> gr.Blocks:
    """Lay out the page."""
    first = next(iter(examples().values())).path
    with gr.Blocks(title="Attention", analytics_enabled=False) as page:
        patch = gr.State(None)
        with gr.Row():
            with gr.Column():
                image = gr.Image(str(first), label="Image", elem_id="image")
                model = gr.Dropdown(list(MODELS), value=MODELS[0], label="Model", elem_id="model")
                size = gr.Dropdown(list(SIZES), value=SIZES[0], label="Size", elem_id="size")
                block = gr.Slider(0, 11, 11, step=1, label="Block", elem_id="block")
                head = gr.Slider(0, 11, 0, step=1, label="Head", elem_id="head")
                milliseconds = gr.Number(label="Pass, ms", elem_id="pass")
            map_ = gr.Image(label="Attention", interactive=False, elem_id="map")
        inputs = [image, model, size, block, head, patch]
        changes = [image.upload, model.input, size.input, block.input, head.input, page.load]
        gr.on(changes, drawn, inputs, [map_, milliseconds])
        map_.select(picked, inputs[:-1], [map_, patch])
    return page


if __name__ == "__main__":
    with served(twin()) as address:
        print(address, flush=True)
        sys.stdin.read()
