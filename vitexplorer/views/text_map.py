"""Which patches does this text mean? The definitions of the methods are in `quantities/texts/`.

`texts` are those whose mean `text_decomposition` takes away; other methods do not read them.
Misleading: a map is made for any text, also for one that is not true of the image. Numbers of different methods have
different units, and stretching a map to its own range turns noise into a picture.
"""

from __future__ import annotations

from dataclasses import replace

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import OtherCaptureControl, SharpenControl, TextControl, TextMethodControl, TextsControl
from vitexplorer.controls.explained import TextVector
from vitexplorer.controls.images import NamedCapture
from vitexplorer.controls.texts import TextVectors
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.on_the_map import extreme, is_constant
from vitexplorer.quantities.texts.features import PATH
from vitexplorer.quantities.texts.methods import METHODS
from vitexplorer.quantities.texts.several_texts import maps_beside
from vitexplorer.quantities.texts.token_scores import LEGRAD_BLOCKS
from vitexplorer.views.record import View

FEWER = Text("The model has {depth:block} only; all are used.", "模型只有 {depth} 个块；全部使用。")
FORMULAS = {"text_decomposition": "Σ A_cls,i W_o v_i · t", "bimodal": "relu(∂s/∂A · A)_cls", "legrad": "relu(∂s/∂A)"}


def compute(
    capture: Capture, text: TextVector, method: str, texts: TextVectors, other: NamedCapture | None
) -> MapResult:
    """Compute the map of a text, (rows, cols), not rescaled; on the second model's grid for ProxyCLIP."""
    chosen = METHODS[method]
    second = None if other is None else other.capture
    values = maps_beside(capture, method, (text,), texts.each, second)[0]
    on = second if second and chosen.needs_other else capture
    grid, needed = on.grid(on.depth - 1), {"clip_surgery": PATH, "gem": PATH, "legrad": LEGRAD_BLOCKS}.get(method, 0)
    notes = (FEWER.format(depth=capture.depth),) if capture.depth < needed else ()
    return MapResult(
        values=values.reshape(grid.rows, grid.cols).float().cpu().numpy(),
        axes=("rows", "cols"),
        unit=chosen.unit,
        formula=FORMULAS.get(method, "f_i · t / (|f_i| |t|)"),
        notes=(*notes, chosen.changes),
        grid=grid,
        image=on.input.pixels,
    )


def reading(result: MapResult) -> Text:
    """Name the patches with the largest and the smallest number."""
    text = str(result.settings["text"])
    if is_constant(result.values):
        return Text("All patches are alike for “{text}”.", "对“{text}”而言，所有图块都一样。").format(text=text)
    return Text(
        "“{text}” points at {patch} most ({most} {unit}), and least at {other} ({least}).",
        "“{text}”最指向{patch}（{most} {unit}），最不指向{other}（{least}）。",
    ).format(
        text=text,
        patch=extreme(result.values),
        other=extreme(result.values, -1),
        most=measured(result.values.max()),
        least=measured(result.values.min()),
        unit=result.unit,
    )


VIEW = View(
    title=Text("Text on the patches", "文字指向的图块"),
    question=Text("Which patches does this text mean?", "这段文字指的是哪些图块？"),
    misleads=Text(
        "A map is made for any text, also for one that is not true of the image.",
        "任何文字都会得到一幅图，哪怕它与图像不符。",
    ),
    room="words",
    compute=compute,
    reading=reading,
    controls=(
        TextControl(),
        TextMethodControl(known=lambda: METHODS),
        replace(TextsControl(), label=Text("Texts to compare with", "对照文字"), start=()),
        OtherCaptureControl(),
        SharpenControl(block=-1),
    ),
    paper=Paper("Zhou et al. 2022", "https://arxiv.org/abs/2112.01071"),
    runs="once",
    names_of_timm=True,
)
