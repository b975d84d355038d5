"""The rows of the table: every view that draws one map of a model's answer, and a map that is the truth itself.

A method is a view at its default settings, or at others, which then stand in its key: `grad_cam:sign=both`, and
`grad_cam:sign=both;backward=libra` where there are several.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.core.standings import ORACLE
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.evaluation.case import Case, Explain, covered_cells
from vitexplorer.evaluation.parted import shared_parts
from vitexplorer.quantities.targets import class_map
from vitexplorer.views import VIEWS, explanation, explanations

TITLE = Text("The truth itself", "真实答案")
FORMULA = Text("share of the patch that the object covers", "物体覆盖该图块的比例")


def map_views(capture: Capture) -> tuple[str, ...]:
    """Every view of the registry whose map has a meaning for a capture's classes: attention, and what explains."""
    keys = ("attention_map", *explanations())
    return tuple(
        key for key in keys if VIEWS[key].refuses(capture) is None and (capture.logits is not None or not _asks(key))
    )


def _asks(key: str) -> bool:
    """Whether a view's map is that of a class."""
    return "target" in {control.name for control in VIEWS[key].controls}


def is_slow(key: str) -> bool:
    """Whether one map of a method takes many runs of the network."""
    return key != ORACLE and VIEWS[view_of(key)].runs == "many"


def view_of(key: str) -> str:
    """The view of a method."""
    return key.partition(":")[0]


def settings_of(key: str) -> dict[str, str]:
    """The settings that a method's key states, as a person writes them."""
    stated = key.partition(":")[2]
    return dict(pair.partition("=")[::2] for pair in stated.split(";") if pair)


def title_of(key: str) -> Text:
    """What a row is called."""
    if key == ORACLE:
        return TITLE
    record, stated = VIEWS[view_of(key)], settings_of(key)
    said = [_said(control, stated[control.name]) for control in record.controls if control.name in stated]
    if not said:
        return record.title
    return Text(
        f"{record.title.en} ({', '.join(one.en for one in said)})",
        f"{record.title.zh}（{'，'.join(one.zh for one in said)}）",
    )


def _said(control: Control, written: str) -> Text:
    """A choice in its words, which say what it is about; any other setting by its name, and its value as written."""
    words = {} if control.of_capture else dict(control.offered(None))
    name = control.label
    return words.get(written) or Text(f"{name.en[:1].lower()}{name.en[1:]} {written}", f"{name.zh} {written}")


def explainer(key: str, case: Case, seed: int) -> Explain:
    """How a method makes its map of a case: a view, or the truth."""
    make: Callable[..., MapResult] = (
        partial(_oracle, case=case) if key == ORACLE else partial(_view, key=key, seed=seed)
    )
    return lambda capture, target: make(capture=capture, target=target)


def _view(capture: Capture, target: int, key: str, seed: int) -> MapResult:
    return explanation(view_of(key), capture, target, seed, None, **settings_of(key))


def _oracle(capture: Capture, target: int, case: Case) -> MapResult:
    """How much of each patch the object covers; of one with parts, those that it shares with the class asked for."""
    grid = capture.grid(0)
    return class_map(
        capture,
        view=ORACLE,
        title=TITLE,
        values=torch.from_numpy(covered_cells(_truth(case, target), grid).astype(np.float32)).flatten(),
        grid=grid,
        unit=Text("share of the patch", "占图块的比例"),
        formula=FORMULA,
        settings={"target": target},
    )


def _truth(case: Case, target: int) -> np.ndarray:
    """(height, width) bool: the pixels that make the class."""
    if case.parted is None:
        return case.mask
    masks, own = case.parted.masks(), case.parted.label
    shared = shared_parts(case.parted.classes, own, target)
    return np.any([masks[part] for part in shared], axis=0) if shared else np.zeros_like(next(iter(masks.values())))
