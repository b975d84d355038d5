"""First picture of the page: a photograph where the weights of a pretrained DINO are, otherwise a drawn scene.

A Space fetches these weights when it starts, so that no visitor waits for them.
"""

from __future__ import annotations

import contextlib

from vitexplorer.core.settings import ON_SPACE, settings

DINO = "vit_small_patch16_224.dino"
PHOTOGRAPH = f"model={DINO}&size=384&image=chelsea"
SCENE = "model=scenes_dino_patch16_192&size=384&image=scene_gear"


def first_picture(*, is_free: bool = True) -> str:
    """Return the first picture as the address of a link has it; the setting `first` goes before.

    `is_free` is False where the visitor names an image or a model: the other one is then a drawn scene's, as always.
    Without `downloads` this installation loads no pretrained weights, even if they are on this machine.
    """
    offers_photograph = is_free and settings().downloads and _is_cached()
    return settings().first or (PHOTOGRAPH if offers_photograph else SCENE)


def fetch_first() -> None:
    """Download the weights of DINO on a Space; without a network the drawn scene stays the first picture."""
    if not ON_SPACE or not settings().downloads or settings().first:
        return
    from vitexplorer.models.hub import DownloadError, download_pretrained

    with contextlib.suppress(DownloadError):
        download_pretrained(DINO)


def _is_cached() -> bool:
    """Return True if the weights are on this machine; without timm, for which the page does not wait."""
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(f"timm/{DINO}", "model.safetensors"), str)
