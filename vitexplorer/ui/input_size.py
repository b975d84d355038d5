"""The size chip of a capture: what the model was given, and what other sizes would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vitexplorer.ui.address import Address
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.size_chip import SizeChipData
from vitexplorer.words import Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

_WORDS = ("size", "size_free", "size_apply", "fit", "fit_crop", "fit_squash", "fit_pad", "fit_native")


def size_chip(capture: Capture, address: Address, language: Language) -> SizeChipData:
    """The chip for a capture."""
    height, width = capture.provenance.input_size
    grid = capture.grid(0)
    side = f"{height} px" if height == width else f"{height} × {width} px"
    patches = word("size_patches", language, rows=grid.rows, cols=grid.cols)
    return SizeChipData(
        title=side,
        note=f"{word(f'fit_{address.fit}', language)} · {patches}",
        fit=address.fit,
        words={key: word(key, language) for key in _WORDS},
    )
