"""Rows of the table: every view that draws one map of a model's answer, and a map of the truth itself.

A method is a view; its key states settings that are not the defaults: `grad_cam:sign=both`, or several as
`grad_cam:sign=both;backward=libra`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, Control, TextMethodControl
from vitexplorer.core.standings import ORACLE
from vitexplorer.core.text import COMMA, Text
from vitexplorer.core.types import MapResult
from vitexplorer.evaluation.case import Case, Explain, covered_cells
from vitexplorer.evaluation.parted import shared_parts
from vitexplorer.quantities.targets import class_map
from vitexplorer.views import VIEWS, compute, explanation, explanations

TITLE = Text("The truth itself", "真实答案")
OF_TEXT = "text_map"
"""View that finds a text by one of several methods"""
FORMULA = Text("share of the patch that the object covers", "物体覆盖该图块的比例")


def map_views(capture: Capture) -> tuple[str, ...]:
    """Return the methods whose map applies to a capture: attention, the explanations, and the ways to find a text.

    A model without a classifier has no target unless it reads texts.
    """
    keys = [key for key in ("attention_map", *explanations()) if VIEWS[key].refuses(capture) is None]
    if capture.logits is None and capture.model.text is None:
        return tuple(key for key in keys if not _has_target(key))
    if capture.model.text is not None and VIEWS[OF_TEXT].refuses(capture) is None:
        (control,) = (control for control in VIEWS[OF_TEXT].controls if control.name == "method")
        keys += [f"{OF_TEXT}:method={method}" for method, _ in control.offered(capture)]
    return tuple(keys)


def _has_target(key: str) -> bool:
    return "target" in {control.name for control in VIEWS[key].controls}


def is_slow(key: str) -> bool:
    """Return True if one map of the method takes many forward passes."""
    return key != ORACLE and VIEWS[view_of(key)].runs == "many"


def view_of(key: str) -> str:
    """Return the view of a method."""
    return key.partition(":")[0]


def settings_of(key: str) -> dict[str, str]:
    """Return the settings in a method's key, as texts."""
    stated = key.partition(":")[2]
    return dict(pair.partition("=")[::2] for pair in stated.split(";") if pair)


def title_of(key: str) -> Text:
    """Return the title of a row."""
    return TITLE if key == ORACLE else title_with_settings(key, _setting_text)


def title_with_settings(key: str, setting_text: Callable[[Control, str], Text]) -> Text:
    """Return the title of a view, with the settings of its key in brackets."""
    record = VIEWS[view_of(key)]
    stated = settings_of(key)
    settings = [setting_text(control, stated[control.name]) for control in record.controls if control.name in stated]
    if not settings:
        return record.title
    return Text("{title} ({settings})", "{title}（{settings}）").format(
        title=record.title, settings=COMMA.join(settings)
    )


def _setting_text(control: Control, written: str) -> Text:
    """Return the name of a chosen option, which explains itself; for any other setting its label and value."""
    is_known = isinstance(control, TextMethodControl) or not control.of_capture
    words = dict(control.offered(None)) if is_known else {}
    name = control.label
    return words.get(written) or Text(f"{name.en[:1].lower()}{name.en[1:]} {written}", f"{name.zh} {written}")


def explainer(key: str, case: Case, seed: int) -> Explain:
    """Return the function that makes a method's map of a case, by a view or from the truth."""
    if key == ORACLE:
        return lambda capture, target: _oracle(capture, target, case)
    if view_of(key) == OF_TEXT:
        return lambda capture, target: compute(OF_TEXT, capture, text=text_of(target), **settings_of(key))
    return lambda capture, target: explanation(view_of(key), capture, target, seed, None, **settings_of(key))


def text_of(target: int | str) -> str:
    """Return the text of a target "text: ..."."""
    return str(target).partition(":")[2].strip()


def _oracle(capture: Capture, target: int | str, case: Case) -> MapResult:
    """Map the share of each patch that the object covers; with parts, those shared with the target class."""
    grid = capture.grid(0)
    return class_map(
        capture,
        AnyTargetControl().parse(target, capture, {}),
        view=ORACLE,
        title=TITLE,
        values=torch.from_numpy(covered_cells(_truth(case, target), grid).astype(np.float32)).flatten(),
        grid=grid,
        unit=Text("share of the patch", "占图块的比例"),
        formula=FORMULA,
        provenance=capture.provenance,
        settings={"target": target},
    )


def _truth(case: Case, target: int | str) -> np.ndarray:
    """Return the mask of the pixels that make the class, bool (height, width)."""
    if case.parted is None:
        return case.mask
    masks, own = case.parted.masks(), case.parted.label
    shared = shared_parts(case.parted.classes, own, target)
    return np.any([masks[part] for part in shared], axis=0) if shared else np.zeros_like(next(iter(masks.values())))
