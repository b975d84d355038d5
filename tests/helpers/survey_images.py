"""Folders of small pictures to survey, good and hostile, and a survey's rows read back."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from tests.helpers.small_models import picture


def class_folders(folder: Path, count: int = 10, sizes: tuple[tuple[int, int], ...] = ((64, 64), (72, 96))) -> Path:
    """Write pictures in class folders "0" and "1", of these sizes (height, width) in turn."""
    for number in range(count):
        place = folder / str(number % 2) / f"{number:03d}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture(*sizes[number % len(sizes)], seed=number)).save(place)
    return folder


def hostile(folder: Path) -> dict[str, str]:
    """Write a folder of odd and hostile files; return name -> a word of the refusal, "" for a readable file.

    A name that is not in the result is left out, and a finding says so.
    """
    folder.mkdir()
    good = picture(64, 64)
    Image.fromarray(good).save(folder / "good.png")
    whole = (folder / "good.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "pickle.png").write_bytes(pickle.dumps({"harm": os.getcwd}))
    (folder / "bomb.png").write_bytes(_claims(60000, 60000))
    (folder / "small.png").write_bytes(_claims(3, 3))
    (folder / "new\nline\t<b>.png").write_bytes(whole)
    (folder / "猫 😀 '; --.png").write_bytes(whole)
    (folder / ("long" * 60 + ".png")).write_bytes(whole)
    (folder / "no-ending").write_bytes(whole)
    (folder / "inside.png").symlink_to("good.png")
    (folder / "folder.png").mkdir()
    (folder / "loop.png").symlink_to("loop.png")
    (folder / "around").symlink_to(folder)
    (folder / "outside.png").symlink_to("/etc/passwd")
    (folder / "notes.txt").write_text("nothing")
    (folder / ".hidden.png").write_bytes(whole)
    Image.fromarray(picture(8, 800)).save(folder / "elongated.png")
    read = ("good.png", "new\nline\t<b>.png", "猫 😀 '; --.png", "long" * 60 + ".png", "no-ending", "inside.png")
    reasons = {
        "cut.png": "damaged",
        "empty.jpg": "empty",
        "pickle.png": "not a picture",
        "bomb.png": "million",
        "small.png": "pixels",
        "elongated.png": "squash",
    }
    return dict.fromkeys(read, "") | reasons


def _claims(width: int, height: int) -> bytes:
    """Make a PNG whose header claims a size."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


def rows_of(folder: Path) -> pa.Table:
    """Return all rows of a survey in order."""
    return pa.concat_tables(map(pq.read_table, sorted((folder / "rows").glob("shard-*.parquet"))))


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in a survey's folder of rows."""
    return {file.name: file.read_bytes() for file in sorted((folder / "rows").iterdir()) if file.is_file()}
