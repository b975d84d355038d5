"""Captures of many images from one forward pass; surveys of a folder are made of them.

The captures equal those of single passes up to what the order of floating-point sums makes of a larger batch.
`batch_cuts.py` separates the images; where they cannot be separated, each passes through the network alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, overload

import torch
from torch import Tensor

from vitexplorer.capturing.batch_cuts import OUTPUT, Place, call_of, capture_tensors, cuts_of
from vitexplorer.capturing.capture import TWO_SIZES, Capture, ModelInput, capture_input, plain_tap, prepare, tapped
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import BlockSite, Fit
from vitexplorer.models.images import AnyImage, ImageError
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel
from vitexplorer.tracing.attention_call import view_layout
from vitexplorer.tracing.tap import AttentionTap


@overload
def capture_batch(
    model: LoadedModel,
    images: Sequence[AnyImage],
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    on_error: Literal["raise"] = "raise",
) -> list[Capture]: ...


@overload
def capture_batch(
    model: LoadedModel,
    images: Sequence[AnyImage],
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    *,
    on_error: Literal["return"],
) -> list[Capture | ImageError]: ...


def capture_batch(
    model: LoadedModel,
    images: Sequence[AnyImage],
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    on_error: Literal["raise", "return"] = "raise",
) -> list[Capture] | list[Capture | ImageError]:
    """Run `model` once on all images together and keep, for each, what `capture` keeps.

    Under fit "native" images of the same fitted size go together. All images of the call are in memory at once: the
    captures' tensors are parts of the batch's, so that one that is kept keeps them all, and `nbytes` of each says
    what they take together. Hand over as many at a time as there is memory for, and let go of all before the next.

    Args:
        model: from `load_model`.
        images: what `capture` takes, in any number.
        fit: as for `capture`.
        size: as for `capture`.
        on_error: "raise" the error of the first image that cannot be read, or "return" it in the capture's place.

    Raises what `capture` raises; with on_error="return" no ImageError of a single image.
    """
    if size is not None:
        if fit == "native":
            raise SettingError(TWO_SIZES)
        model = at_size(model, size)
    found: dict[int, ModelInput | ImageError] = {}
    for at, image in enumerate(images):
        try:
            found[at] = prepare(model, image, fit)
        except ImageError as error:
            if on_error == "raise":
                raise
            found[at] = error
    by_size: dict[tuple[int, ...], list[int]] = {}
    for at, given in found.items():
        if isinstance(given, ModelInput):
            by_size.setdefault(tuple(given.tensor.shape), []).append(at)
    captures: dict[int, Capture | ImageError] = {}
    for together in by_size.values():
        captures |= zip(together, capture_inputs(model, [found[at] for at in together]), strict=True)
    return [captures.get(at, given) for at, given in found.items()]


def capture_inputs(model: LoadedModel, inputs: Sequence[ModelInput]) -> list[Capture]:
    """Capture prepared images of one size, see `capture_batch`."""
    captures = capture_together(model, inputs) if len(inputs) > 1 else None
    return [capture_input(model, given) for given in inputs] if captures is None else captures


MakeTap = Callable[[LoadedModel, tuple[BlockSite, ...]], AttentionTap]


def capture_together(
    model: LoadedModel, inputs: Sequence[ModelInput], make_tap: MakeTap = plain_tap
) -> list[Capture] | None:
    """Capture prepared images in one pass, through a tap that `make_tap` makes; None where they cannot be separated."""
    size = tuple(inputs[0].tensor.shape[-2:])
    sites = model.blocks(size)
    cuts = cuts_of(model, sites, size)
    if cuts is None:
        return None
    tap = make_tap(model, sites)
    output = tapped(model.module, torch.cat([given.tensor for given in inputs]), tap)
    tensors = capture_tensors(tap, output)
    parts = {place: cuts[place].of(tensor, len(inputs)) for place, tensor in tensors.items() if place in cuts}
    if tensors.keys() != cuts.keys() or None in parts.values():
        return None
    return [
        _one(model, given, sites, tap, {place: part[at] for place, part in parts.items()})
        for at, given in enumerate(inputs)
    ]


def _one(
    model: LoadedModel,
    given: ModelInput,
    sites: tuple[BlockSite, ...],
    tap: AttentionTap,
    parts: dict[Place, Tensor],
) -> Capture:
    calls = tuple(
        view_layout([call_of(parts, block, at, batch) for at, batch in enumerate(tap.calls.get(block, ()))], site)
        for block, site in enumerate(sites)
    )
    read, made = (
        {block: part for (place, block, _, _), part in parts.items() if place == kind} for kind in ("read", "made")
    )
    return Capture(model, given, sites, calls, read, made, parts[OUTPUT])
