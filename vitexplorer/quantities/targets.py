"""The class that is explained: what every map of it says of itself.

A map made for a class is one number for each patch, of any sign and size. Nothing is divided by its maximum here: a
map can be exactly zero, and then it says so.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.types import MapResult, PatchGrid, Query, query_text
from vitexplorer.words import Text, same

ALL_ZERO = Text(
    "The map is exactly zero: as this method measures it, no patch speaks for or against the class.",
    "该图恒为零：按此方法衡量，没有任何图块支持或反对这个类别。",
)
ROW_SHOWN = Text("Shown is the row of the {query}.", "显示的是{query}对应的行。")


def class_text(capture: Capture, target: int) -> Text:
    """The class with its name where one is known, its logit and its probability."""
    names = capture.model.class_texts
    return Text(
        "Explained: class {target}{name}, logit {logit:.3f}, probability {probability:.3f}.",
        "所解释的类别：{target}{name}，logit {logit:.3f}，概率 {probability:.3f}。",
    ).format(
        target=target,
        name=Text(" ({name})", "（{name}）").format(name=names[target]) if names else same(""),
        logit=float(capture.logits[target]),
        probability=float(torch.softmax(capture.logits, 0)[target]),
    )


def read_query(capture: Capture) -> Query:
    """The token whose row tells what the classifier read: "cls", or "mean" where it pools the patches.

    A class token that the classifier does not read (BEiT, models with average pooling) has no gradient to show.
    """
    family, module = capture.model.family, capture.model.module
    return "mean" if "cls" not in capture.prefix_tokens or family.own_reading(module) == "mean" else "cls"


def row_text(query: Query) -> Text:
    """Which token's row a map is."""
    return ROW_SHOWN.format(query=query_text(query))


def class_map(
    capture: Capture,
    *,
    view: str,
    title: Text,
    values: Tensor,
    grid: PatchGrid,
    unit: Text,
    formula: str | Text,
    settings: Mapping[str, object],
    notes: tuple[Text, ...] = (),
    **more: object,
) -> MapResult:
    """A map for the class in `settings["target"]`, values (patches,) on `grid`; `more` are fields of the result."""
    said = (class_text(capture, settings["target"]), *notes)
    return MapResult(
        view=view,
        title=title,
        values=values.reshape(grid.rows, grid.cols).cpu().numpy(),
        axes=("rows", "cols"),
        unit=unit,
        formula=formula,
        provenance=capture.provenance,
        settings=settings,
        notes=said if values.any() else (*said, ALL_ZERO),
        grid=grid,
        image=capture.input.pixels,
        **more,
    )
