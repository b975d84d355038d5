"""Sheet sizes of figures: a slide with its whole caption, or a window with the picture alone.

The page shows title, question and caption as text of its own, so its figures leave them out. They are laid out for a
few sizes at once; the browser takes the one that fits and stretches it a little, with letters of the same size.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """Size of a figure in pixels."""

    width: int
    margin: int
    height: int | None = None
    """Height of a window; None for a slide, which is as high as its content"""

    @property
    def is_slide(self) -> bool:
        """True if title and caption belong to the figure."""
        return self.height is None


SLIDE = Sheet(1280, 40)
WINDOWS = (Sheet(350, 8, 430), Sheet(620, 8, 440), Sheet(800, 8, 412), Sheet(880, 8, 600), Sheet(1320, 8, 800))
"""Windows of a phone, half a small laptop, a low one, a laptop or half a screen, and a projector"""
PRINTED = Sheet(680, 8, 480)
"""Content of an A4 sheet between margins of 15 mm, 96 pixels to the inch"""
