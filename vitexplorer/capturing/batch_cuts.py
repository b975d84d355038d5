"""Cuts of a batch: the part of each image in every tensor that a forward pass keeps.

A module lays its tensors out as it likes: images may be the first axis, or part of one with the windows. Nothing is
assumed. Two unlike pictures go through the module alone and together, once for each model and size, and every tensor
of the pair has to be found again, number by number, in what each picture gave alone. Where one is not, the
images of this model cannot be told apart in a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from vitexplorer.capturing.capture import plain_tap, tapped
from vitexplorer.core.capture_protocol import Part
from vitexplorer.core.types import BlockSite, Size
from vitexplorer.models.loading import LoadedModel
from vitexplorer.tracing.attention_call import AttentionCall
from vitexplorer.tracing.tap import AttentionTap

Place = tuple[str, int, int, str]
"""Key of a tensor: kind, block, number of the attention call, name in it"""
OUTPUT: Place = ("output", 0, 0, "")
CALL = ("query", "key", "value", "bias", "scores", "mixed")
ALIKE = 0.01
"""Largest rounding error of an image in a batch, as a share of its distance to another image"""
ROUNDING = 1e-5
"""Largest rounding error as a share of the largest number, where both images give the same"""


@dataclass(frozen=True)
class Cut:
    """The cut of one tensor of a batch into its images."""

    shape: torch.Size
    """Shape of the tensor of an image that passes alone"""
    axis: int | None
    """Axis of the images; None for a tensor that they share"""

    def of(self, tensor: Tensor, batch: int) -> tuple[Tensor, ...] | None:
        """Cut a tensor into one part for each image; None where its shape does not fit."""
        if self.axis is None:
            return (tensor,) * batch if tensor.shape == self.shape else None
        length = self.shape[self.axis]
        expected = (*self.shape[: self.axis], batch * length, *self.shape[self.axis + 1 :])
        return tensor.split(length, self.axis) if tensor.shape == expected else None


Cuts = Mapping[Place, Cut]


def capture_tensors(tap: AttentionTap, output: Tensor) -> dict[Place, Tensor]:
    """Collect all tensors of a pass that a capture keeps."""
    tensors = {OUTPUT: output}
    tensors |= {(kind, block, 0, ""): x for kind in ("read", "made") for block, x in getattr(tap, kind).items()}
    for block, calls in tap.calls.items():
        for at, call in enumerate(calls):
            tensors |= {("call", block, at, name): x for name in CALL if (x := getattr(call, name)) is not None}
    return {place: tensor for place, tensor in tensors.items() if place[1] >= 0}


def call_of(parts: Mapping[Place, Tensor], block: int, at: int, call: AttentionCall) -> AttentionCall:
    """Make one image's part of an attention call."""
    return AttentionCall(scale=call.scale, **{name: parts.get(("call", block, at, name)) for name in CALL})


_CUTS: WeakKeyDictionary[nn.Module, dict[tuple[Size, frozenset[Part]], Cuts | None]] = WeakKeyDictionary()


def cuts_of(model: LoadedModel, sites: tuple[BlockSite, ...], size: Size, parts: frozenset[Part]) -> Cuts | None:
    """Find the cuts of what is kept of images of a size, once for each model; None where they cannot be separated."""
    known = _CUTS.setdefault(model.module, {})
    if (size, parts) not in known:
        known[size, parts] = _find(model, sites, size, parts)
    return known[size, parts]


def _find(model: LoadedModel, sites: tuple[BlockSite, ...], size: Size, parts: frozenset[Part]) -> Cuts | None:
    images = _two_unlike(model, size)
    *alone, together = (_pass_through(model, sites, batch, parts) for batch in (images[:1], images[1:], images))
    if not alone[0].keys() == alone[1].keys() == together.keys():
        return None
    cuts = {place: _cut(together[place], [one[place] for one in alone]) for place in together}
    return None if None in cuts.values() else cuts


def _pass_through(
    model: LoadedModel, sites: tuple[BlockSite, ...], images: Tensor, parts: frozenset[Part]
) -> dict[Place, Tensor]:
    tap = plain_tap(model, sites, parts=parts)
    return capture_tensors(tap, tapped(model.module, images, tap))


def _two_unlike(model: LoadedModel, size: Size) -> Tensor:
    """Make two unlike images: noise, and darker noise on a slope."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(2, len(model.preprocessing.mean), *size, generator=generator)
    noise[1] = 0.5 * noise[1] + torch.linspace(-1.5, 0.5, size[1])
    return noise.to(next(model.module.parameters()))  # device and precision


def _cut(both: Tensor, alone: list[Tensor]) -> Cut | None:
    """Find the only cut of a tensor of two images that gives what each image gave alone."""
    shape = alone[0].shape
    if shape != alone[1].shape or both.ndim != len(shape):
        return None
    if both.shape == shape:
        return Cut(shape, None) if torch.equal(both, alone[0]) and torch.equal(both, alone[1]) else None
    axes = [axis for axis, (whole, length) in enumerate(zip(both.shape, shape, strict=True)) if whole != length]
    if len(axes) != 1:
        return None
    cut = Cut(shape, axes[0])
    parts = cut.of(both, 2)
    return cut if parts is not None and _match(parts, alone) else None


def _match(parts: tuple[Tensor, ...], alone: list[Tensor]) -> bool:
    """Return True where each part equals what its image gave alone, up to rounding, and not the other's."""
    one, other = (_finite(tensor) for tensor in alone)
    apart = (one - other).abs().max()
    allowed = ALIKE * apart if apart > 0 else ROUNDING * one.abs().max()  # a token that no image has changed yet
    return all((_finite(part) - own).abs().max() <= allowed for part, own in zip(parts, (one, other), strict=True))


def _finite(tensor: Tensor) -> Tensor:
    return tensor.double().clamp(min=-1e9)  # a mask holds -inf
