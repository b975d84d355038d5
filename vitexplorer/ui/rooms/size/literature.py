"""Models of the literature: sizes that papers declare, and shapes for the closed formula.

Declared sizes are in millions as printed by Dosovitskiy et al. 2021 (arXiv 2010.11929, table 1), Touvron et al. 2021
(arXiv 2012.12877, table 1) and Liu et al. 2021 (arXiv 2103.14030, table 1a). Shapes have a classifier of 1000 classes.
"""

from __future__ import annotations

from vitexplorer.quantities.parameter_formulas import SwinShape, ViTShape, exact_terms, total

TINY = ViTShape(dim=192, num_heads=3, hidden=768)
SMALL = ViTShape(dim=384, num_heads=6, hidden=1536)
LARGE = ViTShape(dim=1024, depth=24, num_heads=16, hidden=4096)
HUGE = ViTShape(patch_size=14, dim=1280, depth=32, num_heads=16, hidden=5120)
BIGGER = (2, 2, 18, 2)

PRESETS = {
    "ViT-Ti/16": TINY,
    "ViT-S/16": SMALL,
    "ViT-B/32": ViTShape(patch_size=32),
    "ViT-B/16": ViTShape(),
    "ViT-L/16": LARGE,
    "ViT-H/14": HUGE,
}
"""Models at which a design can start"""

DECLARED: tuple[tuple[str, int, ViTShape | SwinShape], ...] = (
    ("DeiT-Ti/16", 5, TINY),
    ("DeiT-S/16", 22, SMALL),
    ("ViT-B/16", 86, ViTShape()),
    ("ViT-L/16", 307, LARGE),
    ("ViT-H/14", 632, HUGE),
    ("Swin-T", 29, SwinShape()),
    ("Swin-S", 50, SwinShape(depths=BIGGER)),
    ("Swin-B", 88, SwinShape(dim=128, depths=BIGGER, num_heads=(4, 8, 16, 32))),
    ("Swin-L", 197, SwinShape(dim=192, depths=BIGGER, num_heads=(6, 12, 24, 48))),
)


def counted(shape: ViTShape | SwinShape) -> int:
    """Count all parameters by the exact formula."""
    return total(exact_terms(shape))
