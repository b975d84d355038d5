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
from vitexplorer.capturing.capture import Capture, ModelInput, capture_input, plain_tap, prepare, resized, tapped
from vitexplorer.core.capture_protocol import PARTS, Keep, Part, parts_of
from vitexplorer.core.types import BlockSite, Fit
from vitexplorer.models.images import AnyImage, ImageError
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
    keep: Keep = PARTS,
) -> list[Capture]: ...


@overload
def capture_batch(
    model: LoadedModel,
    images: Sequence[AnyImage],
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    *,
    on_error: Literal["return"],
    keep: Keep = PARTS,
) -> list[Capture | ImageError]: ...


def capture_batch(
    model: LoadedModel,
    images: Sequence[AnyImage],
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    on_error: Literal["raise", "return"] = "raise",
    keep: Keep = PARTS,
) -> list[Capture] | list[Capture | ImageError]:
    """Run `model` once on all images together and return a capture of each.

    Under fit "native" images of the same fitted size go together. All images of the call are in memory at once: the
    captures' tensors are parts of the batch's tensors, so one capture keeps all of them alive, and `nbytes` of each
    counts them together. Pass as many images as fit into memory, and drop all captures before the next call.

    Args:
        model: from `load_model`.
        images: any number of images, each as for `capture`.
        fit: as for `capture`.
        size: as for `capture`.
        on_error: "raise" the error of the first image that cannot be read, or "return" it in the capture's place.
        keep: as for `capture`.

    Returns:
        The captures in the order of the images.

    Raises:
        ImageError: an image cannot be read, unless on_error is "return".
        SettingError: fit or size are not possible.
        UnknownNameError: there is no such fit or part.
        UnsupportedError: the model takes no other size.
        NoMemoryError: memory runs out.
    """
    parts = parts_of(keep)
    model = resized(model, fit, size)
    opened: dict[int, ModelInput | ImageError] = {}
    for at, image in enumerate(images):
        try:
            opened[at] = prepare(model, image, fit)
        except ImageError as error:
            if on_error == "raise":
                raise
            opened[at] = error
    by_size: dict[tuple[int, ...], list[int]] = {}
    for at, prepared in opened.items():
        if isinstance(prepared, ModelInput):
            by_size.setdefault(tuple(prepared.tensor.shape), []).append(at)
    captures: dict[int, Capture | ImageError] = {}
    for together in by_size.values():
        captures |= zip(together, capture_inputs(model, [opened[at] for at in together], parts), strict=True)
    return [captures.get(at, prepared) for at, prepared in opened.items()]


def capture_inputs(
    model: LoadedModel, inputs: Sequence[ModelInput], parts: frozenset[Part] = frozenset(PARTS)
) -> list[Capture]:
    """Capture prepared images of one size, see `capture_batch`."""
    captures = capture_together(model, inputs, parts=parts) if len(inputs) > 1 else None
    return [capture_input(model, prepared, parts=parts) for prepared in inputs] if captures is None else captures


MakeTap = Callable[[LoadedModel, tuple[BlockSite, ...]], AttentionTap]


def capture_together(
    model: LoadedModel,
    inputs: Sequence[ModelInput],
    make_tap: MakeTap | None = None,
    parts: frozenset[Part] = frozenset(PARTS),
) -> list[Capture] | None:
    """Capture prepared images in one pass, through `plain_tap` by default; None if they cannot be separated."""
    size = tuple(inputs[0].tensor.shape[-2:])
    sites = model.blocks(size)
    cuts = cuts_of(model, sites, size, parts)
    if cuts is None:
        return None
    tap = make_tap(model, sites) if make_tap else plain_tap(model, sites, parts=parts)
    output = tapped(model.module, torch.cat([prepared.tensor for prepared in inputs]), tap)
    tensors = capture_tensors(tap, output)
    pieces = {place: cuts[place].of(tensor, len(inputs)) for place, tensor in tensors.items() if place in cuts}
    if tensors.keys() != cuts.keys() or None in pieces.values():
        return None
    return [
        _capture_part(model, prepared, sites, tap, parts, {place: part[at] for place, part in pieces.items()})
        for at, prepared in enumerate(inputs)
    ]


def _capture_part(
    model: LoadedModel,
    prepared: ModelInput,
    sites: tuple[BlockSite, ...],
    tap: AttentionTap,
    parts: frozenset[Part],
    pieces: dict[Place, Tensor],
) -> Capture:
    calls = tuple(
        view_layout([call_of(pieces, block, at, batch) for at, batch in enumerate(tap.calls.get(block, ()))], site)
        for block, site in enumerate(sites)
    )
    read, made = (
        {block: part for (place, block, _, _), part in pieces.items() if place == kind} for kind in ("read", "made")
    )
    return Capture(model, prepared, sites, calls, read, made, pieces[OUTPUT], parts=parts)
