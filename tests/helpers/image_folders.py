"""Folders, zips and tables of small images, and the findings and refusals of reading them."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vitexplorer.finetune.data import DataError


def picture(seed: int, width: int = 80, height: int = 72) -> Image.Image:
    """Draw a few soft blots; different seeds give different pictures."""
    cells = np.random.default_rng(seed).integers(0, 256, (5, 5, 3), dtype=np.uint8)
    return Image.fromarray(cells).resize((width, height), Image.Resampling.BICUBIC)


def encoded(image: Image.Image | np.ndarray, kind: str = "png", **options) -> bytes:
    """Return the file of a picture or of its pixels."""
    buffer = io.BytesIO()
    (Image.fromarray(image) if isinstance(image, np.ndarray) else image).save(buffer, kind, **options)
    return buffer.getvalue()


def small(seed: int) -> bytes:
    return encoded(picture(seed))


def fill(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def zipped(path: Path, files: dict[str, bytes] | list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, data)
    return path


def pets(count: int = 3) -> dict[str, bytes]:
    return {f"{kind}/{i}.png": small(100 * k + i) for k, kind in enumerate(("cats", "dogs")) for i in range(count)}


def kinds(findings) -> dict[str, tuple[str, ...]]:
    """Return names by the kind of finding, after checking that the messages exist in both languages."""
    for found in findings:
        for sentence in found.text:
            assert sentence
            assert "{" not in sentence
            assert "\n" not in sentence
            assert len(sentence) < 700
    return {found.kind: found.names for found in findings}


def refused(read: Callable, *arguments, **options) -> str:
    """Return the English message of a refusal, which must also be in Chinese."""
    with pytest.raises(DataError) as caught:
        read(*arguments, **options)
    assert caught.value.text.zh != caught.value.text.en
    assert "{" not in "".join(caught.value.text)
    return str(caught.value)


def left_behind(folder: Path, *known: str) -> list[str]:
    return sorted(set(os.listdir(folder)) - set(known))


def table(root: Path, rows: list[str], name: str = "train.csv", encoding: str = "utf-8") -> Path:
    (root / name).write_bytes("\n".join(rows).encode(encoding))
    return root / name
