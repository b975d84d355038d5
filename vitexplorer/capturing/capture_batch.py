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

    Returns:
        The captures in the order of the images.

    Raises:
        ImageError: an image cannot be read, unless on_error is "return".
        SettingError: fit or size are not possible.
        UnknownNameError: there is no such fit.
        UnsupportedError: the model takes no other size.
        NoMemoryError: memory runs out.
    """
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
        captures |= zip(together, capture_inputs(model, [opened[at] for at in together]), strict=True)
    return [captures.get(at, prepared) for at, prepared in opened.items()]


def capture_inputs(model: LoadedModel, inputs: Sequence[ModelInput]) -> list[Capture]:
    """Capture prepared images of one size, see `capture_batch`."""
    captures = capture_together(model, inputs) if len(inputs) > 1 else None
    return [capture_input(model, prepared) for prepared in inputs] if captures is None else captures


MakeTap = Callable[[LoadedModel, tuple[BlockSite, ...]], AttentionTap]


def capture_together(
    model: LoadedModel, inputs: Sequence[ModelInput], make_tap: MakeTap = plain_tap
) -> list[Capture] | None:
    """Capture prepared images in one pass, through a tap from `make_tap`; None if they cannot be separated."""
    size = tuple(inputs[0].tensor.shape[-2:])
    sites = model.blocks(size)
    cuts = cuts_of(model, sites, size)
    if cuts is None:
        return None
    tap = make_tap(model, sites)
    output = tapped(model.module, torch.cat([prepared.tensor for prepared in inputs]), tap)
    tensors = capture_tensors(tap, output)
    parts = {place: cuts[place].of(tensor, len(inputs)) for place, tensor in tensors.items() if place in cuts}
    if tensors.keys() != cuts.keys() or None in parts.values():
        return None
    return [
        _capture_part(model, prepared, sites, tap, {place: part[at] for place, part in parts.items()})
        for at, prepared in enumerate(inputs)
    ]


def _capture_part(
    model: LoadedModel,
    prepared: ModelInput,
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
    return Capture(model, prepared, sites, calls, read, made, parts[OUTPUT])
