"""Numbers of the room Words: maps of all texts by all methods of one capture, packed for the browser."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.controls.explained import TextVector
from vitexplorer.controls.texts import EMPTY, text_vectors
from vitexplorer.core.text import ExplainedError, SettingError, Text
from vitexplorer.ui.canvas.files import made_once
from vitexplorer.ui.rooms.words.words import TEXT_WORDS

if TYPE_CHECKING:
    from torch import Tensor

    from vitexplorer.capturing.capture import Capture
    from vitexplorer.quantities.texts.methods import Method

MOST = 6
"""Most texts of the room, each with a colour"""
LONGEST = 2000
"""Most characters of a text"""


@dataclass(frozen=True)
class MethodMaps:
    """Maps of all texts by one method."""

    maps: np.ndarray
    """float32 (texts, patches), not rescaled"""
    best: np.ndarray
    """uint8 (patches,): index of the best text"""


def read_texts(given: Sequence[str | TextVector], capture: Capture) -> tuple[tuple[TextVector, ...], dict[int, Text]]:
    """Return texts with their vectors, equal ones once; otherwise the reason why a text is refused, by its index."""
    refused = {at: reason for at, text in enumerate(given) if (reason := _form_refused(text)) is not None}
    if refused:
        return (), refused
    try:
        return tuple(dict.fromkeys(text_vectors(given, capture))), {}
    except ExplainedError:
        return (), _refused_by_model(given, capture)


def _form_refused(text: str | TextVector) -> Text | None:
    if isinstance(text, TextVector):
        return None
    if not text.strip():
        return EMPTY
    if len(text) > LONGEST:
        return TEXT_WORDS["too_long"].format(count=f"{len(text):,}", most=f"{LONGEST:,}")
    return TEXT_WORDS["control"] if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in text) else None


def _refused_by_model(given: Sequence[str | TextVector], capture: Capture) -> dict[int, Text]:
    refused = {}
    for at, text in enumerate(given):
        try:
            text_vectors([text], capture)
        except ExplainedError as error:
            refused[at] = error.text
    return refused


def texts_of_file(texts: Iterable[TextVector], capture: Capture) -> tuple[TextVector, ...]:
    """Return the first texts of a file. Raises SettingError for a file without any, or of another model."""
    first = tuple(texts)[:MOST]
    if not first:
        raise SettingError(EMPTY)
    return text_vectors(first, capture)


def methods_of(capture: Capture) -> tuple[dict[str, Method], tuple[tuple[Text, Text], ...]]:
    """Return the methods that have a meaning for the model, and the titles of the others with the reasons."""
    return made_once(capture, "text methods", lambda: _methods_of(capture))


def _methods_of(capture: Capture) -> tuple[dict[str, Method], tuple[tuple[Text, Text], ...]]:
    from vitexplorer.quantities.texts.methods import METHODS

    methods, others = {}, []
    for key, method in METHODS.items():
        reason = TEXT_WORDS["needs_other"] if method.needs_other else method.refuses(capture)
        if reason is None:
            methods[key] = method
        else:
            others.append((method.title, reason))
    return methods, tuple(others)


def patches_of(capture: Capture, method: str) -> Tensor:
    """Compute the vectors of the patches by a method of features, (patches, joint)."""
    from vitexplorer.quantities.texts.methods import METHODS, patch_vectors

    return patch_vectors(capture, METHODS[method])


def method_maps(
    capture: Capture, method: str, texts: Sequence[TextVector], patches: Tensor | None = None
) -> MethodMaps:
    """Compute the maps of texts by one method, as the views `text_map` and `text_segmentation` do.

    `patches` are the method's `patch_vectors`; None for a method of gradients.
    """
    from vitexplorer.quantities.texts.several_texts import maps_beside, rival_scores

    maps = maps_beside(capture, method, texts, texts, patches=patches)
    best = rival_scores(capture, method, texts, maps).float().argmax(0)
    return MethodMaps(maps.float().cpu().numpy(), best.cpu().numpy().astype(np.uint8))


def packed(maps: Mapping[str, MethodMaps]) -> bytes:
    """Pack all maps as little-endian float32 (methods, texts, patches), then the best texts, (methods, patches)."""
    numbers = b"".join(method.maps.astype("<f4").tobytes() for method in maps.values())
    return numbers + b"".join(method.best.tobytes() for method in maps.values())
