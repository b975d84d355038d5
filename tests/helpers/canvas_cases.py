"""Attention canvases with synthetic attention, for the browser tests and the benchmark.

Weights are a softmax over distance and colour with a temperature for each head, so that
the maps look as attention does. Cases with a `model` show that of a small random one instead, whose queries and keys
are not the same patches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageOps

from tests.helpers.plain_page import PlainPage
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.types import PatchGrid, WindowLayout
from vitexplorer.ui.canvas.canvas import AttentionCanvas, CanvasData
from vitexplorer.ui.canvas.files import attention_file
from vitexplorer.ui.canvas.words import canvas_words
from vitexplorer.ui.kit.served_files import cached_file, image_file

REGISTERS = ("cls", "reg1", "reg2", "reg3", "reg4")


@dataclass(frozen=True)
class Case:
    """Content of a canvas."""

    rows: int = 14
    cols: int = 14
    heads: int = 12
    prefix: tuple[str, ...] = ("cls",)
    windows: WindowLayout | None = None
    query: str | None = None
    head: str | None = None
    partial: bool = False
    warning: str = ""
    language: str = "en"
    lost: bool = False
    linked: tuple[int, int] | None = None
    model: str = ""
    """Model of tests/helpers/small_families.py"""


CASES = {
    "vit": Case(),
    "none": Case(heads=6, prefix=()),
    "deit": Case(heads=3, prefix=("cls", "dist")),
    "registers": Case(rows=16, cols=16, heads=6, prefix=REGISTERS),
    "rectangle": Case(rows=9, cols=15, heads=4),
    "swin": Case(rows=14, cols=14, heads=6, prefix=(), windows=WindowLayout((7, 7), (3, 3)), query="9,6"),
    "swin_fine": Case(rows=56, cols=56, heads=3, prefix=(), windows=WindowLayout((7, 7), (0, 0)), query="20,30"),
    "padded": Case(rows=9, cols=11, heads=3, prefix=(), windows=WindowLayout((4, 4), (0, 0)), query="8,10"),
    "partial": Case(rows=24, cols=24, heads=6, partial=True, query="cls"),
    "large": Case(rows=32, cols=32, heads=6),
    "many": Case(rows=64, cols=64, heads=24, partial=True, query="cls"),
    "random": Case(warning="RANDOM weights (seed 0): this model has learned nothing."),
    "chinese": Case(language="zh", warning="随机权重(种子 0):该模型未经训练。"),
    "single": Case(rows=7, cols=7, heads=1),
    "lost": Case(lost=True),
    "linked": Case(linked=(7, 7)),
    "empty": Case(),
    "pooled": Case(model="pvt_v2"),
    "cut": Case(model="levit"),
    "units": Case(model="hiera"),
    "asking": Case(model="cait"),
}


@cache
def picture(height: int, width: int) -> np.ndarray:
    """A photograph of the repository cut to size; uint8 RGB (height, width, 3)."""
    with PIL.Image.open(ASSETS / "examples" / "astronaut.png") as opened:
        photo = opened.convert("RGB").crop((10, 0, 440, 430))
    return np.array(PIL.ImageOps.fit(photo, (width, height), PIL.Image.Resampling.BICUBIC, centering=(0, 0)))


@cache
def attention_of(case: Case, block: int, only: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return attention (windows, heads, queries, keys) float32 and positions (windows, keys); of the query `only`."""
    grid = PatchGrid(case.rows, case.cols, 16, len(case.prefix))
    positions = case.windows.positions(grid) if case.windows else grid.positions
    image = picture(16 * case.rows, 16 * case.cols) / 255
    colour = image.reshape(case.rows, 16, case.cols, 16, 3).mean((1, 3)).reshape(-1, 3)
    place = np.stack(np.divmod(np.arange(grid.num_patches), case.cols), -1) / max(case.rows, case.cols)
    rng = np.random.default_rng(block)
    tokens = np.concatenate([colour, place], 1)
    prefix_tokens = np.concatenate(
        [rng.normal(0.5, 0.3, (len(case.prefix), 3)), np.full((len(case.prefix), 2), 0.4)], 1
    )
    lone = rng.normal(0, 0.35, len(tokens))
    attention = []
    for at in positions:
        features = np.where(
            (at >= 0)[:, None],
            tokens[np.clip(at, 0, None)],
            prefix_tokens[np.clip(-1 - at, 0, max(0, len(case.prefix) - 1))] if case.prefix else 0,
        )
        heads, asking = [], features if only is None else features[only : only + 1]
        for head in range(case.heads):
            weights = np.array([4, 4, 4, 0, 0]) * rng.uniform(0, 2) + np.array([0, 0, 0, 30, 30]) * (head % 4 == 0)
            weights = weights + rng.uniform(0, 3, 5)
            scores = -(((asking[:, None] - features[None]) ** 2) * weights).sum(-1) * (1 + head % 3)
            scores = scores + lone[np.clip(at, 0, None)][None] + np.where(at < 0, 1.5 * (head % 2), 0)[None]
            if case.windows and any(case.windows.shift_size):
                far = np.abs(place[np.clip(at, 0, None)][:, None] - place[np.clip(at, 0, None)][None]).max(-1)
                scores = np.where(far * max(case.rows, case.cols) >= 7, -np.inf, scores)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(scores / scores.sum(-1, keepdims=True))
        attention.append(heads)
    return np.array(attention, dtype=np.float32), positions


def value_of(case: Case, block: int, query: str | None = None) -> CanvasData:
    """Return the value that a page sends for a block; for a partial case only the rows of `query`."""
    if case.model:
        return value_of_model(case, block)
    selected = query or case.query
    if not case.partial:
        attention, positions, codes = *attention_of(case, block), None
    else:
        at = (
            0
            if selected == "cls"
            else len(case.prefix)
            + np.ravel_multi_index(tuple(int(n) for n in selected.split(",")), (case.rows, case.cols))
        )
        attention, positions = attention_of(case, block, int(at))
        codes = positions[:, at : at + 1]
    return CanvasData(
        attention=attention_file(attention, positions, codes),
        image=image_file(picture(16 * case.rows, 16 * case.cols)),
        rows=case.rows,
        cols=case.cols,
        prefix=list(case.prefix),
        prefix_labels=[
            {"cls": "class token", "dist": "distillation token"}.get(name, f"register {name[3:]}")
            for name in case.prefix
        ]
        if case.language == "en"
        else ["类别标记"],
        model="vit_small_patch16_224",
        weights="synthetic attention, no model",
        formula="softmax(q kᵀ / √d + bias)",
        warning=case.warning,
        block=block,
        depth=12,
        heads=case.heads,
        head=case.head,
        query=selected if block == 7 else None,
        saved_as=["attention_map", "vit_small_patch16_224", "plain", f"block{block}"],
        saved_facts={"view": "attention_map", "settings": f"block={block}"},
        link="compare" if case.linked else "",
        words=canvas_words(case.language),
    )


def value_of_model(case: Case, block: int) -> CanvasData:
    """Return the value that the page sends for a block of a model; block numbers wrap around."""
    from tests.helpers.small_families import capture_case
    from vitexplorer.ui.canvas.all_heads import strip_of
    from vitexplorer.ui.canvas.block_data import block_data, default_query

    captured = capture_case(case.model)
    data = block_data(captured, block % captured.depth, case.language)
    data.strip = strip_of(captured, data.block, default_query(captured, data.block), case.language)
    data.walks = True
    return data


def open_case(page: PlainPage, name: str) -> None:
    """Open a canvas, `first`, in block 7; with linking also another, `second`."""
    case = CASES[name]
    value = None if name == "empty" else value_of(case, 7)
    if case.lost:
        stump = cached_file(b"not a payload", "attention.bin")
        value = value.model_copy(update={"attention": stump})
    parts = [("first", AttentionCanvas, value)]
    if case.linked:
        rows, cols = case.linked
        parts.append(("second", AttentionCanvas, value_of(replace(case, rows=rows, cols=cols, heads=6), 7)))
    page.open(*parts, answer=partial(answer, case))


def answer(case: Case, canvas: str, event: str, data: dict[str, Any]) -> dict[str, CanvasData]:
    """Answer as the attention room does: another block, or the row of a query that the canvas does not have."""
    if event == "choose_block":
        return {canvas: value_of(case, data["to"]).model_copy(update={"asked": data["asked"]})}
    if event == "patch_select" and case.partial and data["query"] != "mean":
        return {canvas: value_of(case, data["block"], data["query"])}
    return {}
