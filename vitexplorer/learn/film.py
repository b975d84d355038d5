"""Film of a figure that grows: the pass block by block, one head after the other, or one input size after the other.

The figures are those that `vx.save` writes; between two of them one fades into the next. So the last frame is the still
figure, to the pixel before the film is compressed.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from vitexplorer.capturing.capture import Capture, capture
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Language, Progress, SettingError, Text
from vitexplorer.core.types import Query, Result
from vitexplorer.figures.files import SaveError, checked_suffix, png_of, write
from vitexplorer.figures.sheets import SLIDE
from vitexplorer.quantities.size_choices import size_choices
from vitexplorer.views import compute

Kind = Literal["pass", "heads", "sizes"]
KINDS: tuple[Kind, ...] = ("pass", "heads", "sizes")
SUFFIXES = (".mp4", ".gif", ".webp")
CODECS = ("vp09", "mp4v")
"""Four letters of the codecs for MP4, the better first: VP9, which browsers play, and MPEG-4"""
MOST_FRAMES = 3000
MOST_BYTES = 2 << 30
"""Most bytes of all frames of a GIF or WebP together, which are in memory at once"""
LARGEST = 3840
"""Greatest width in pixels"""
Pixels = UInt8[np.ndarray, "height width 3"]


def film(
    captured: Capture,
    path: str | os.PathLike[str],
    kind: Kind = "pass",
    *,
    seconds: float = 8,
    fps: int = 25,
    width: int = 1280,
    query: Query = "cls",
    target: int | str | None = None,
    language: Language = "en",
    theme: str = "dark",
    progress: Progress | None = None,
) -> Path:
    """Write a film of seconds x fps frames, the last of which is the still figure.

    Args:
        captured: from `capture`.
        path: .mp4, .gif or .webp; the last two repeat.
        kind: "pass": the whole network, block by block; "heads": the attention map of each head of the last block;
            "sizes": the attention map of the last block at larger and larger input sizes.
        seconds: length, above 0.
        fps: frames in a second, 1 to 60. A GIF counts in hundredths of a second.
        width: pixels, 160 to 3840; the height follows from the figure.
        query: token that is followed; "cls" becomes "mean" for a model without a class token.
        target: class of the bars of "pass"; None for the model's answer.
        language: language of the figure.
        theme: theme of the figure, light or dark.
        progress: called after each figure; its exceptions stop the work.

    Returns:
        The path. An interrupted film leaves the previous file unchanged.

    Raises:
        SaveError: an unknown suffix, or a file that cannot be written.
        SettingError: length, rate or width out of bounds, or a query or target that the model does not have.
        UnknownNameError: an unknown kind.
        UnsupportedError: the model has no such figure.
        PictureError: no browser for the figures.
    """
    path = Path(path)
    suffix = checked_suffix(path, SUFFIXES)
    count = _checked_count(seconds, fps, width)
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    if query == "cls" and "cls" not in captured.prefix_tokens:
        query = "mean"
    drawn = {"language": language, "theme": theme, "scale": width / SLIDE.width}
    figures = [*_figures(captured, kind, query, target)]
    pictures = []
    for at, (result, options) in enumerate(figures, 1):
        pictures.append(Image.open(io.BytesIO(png_of(result, **drawn, **options))).convert("RGB"))
        if progress:
            progress(at, len(figures))
    stills = _of_one_size(pictures)
    if suffix != ".mp4" and count * stills[0].nbytes > MOST_BYTES:
        raise SettingError(
            Text(
                "{count} frames of this size are too many for {suffix}: choose .mp4, less width or fewer seconds.",
                "{count} 帧这样的画面对 {suffix} 来说太多：请改用 MP4、更小的宽度或更短的时长。",
            ).format(count=count, suffix=suffix)
        )
    frames = between(stills, count)
    write(path, _mp4(frames, fps) if suffix == ".mp4" else _animation(frames, fps, suffix))
    return path


def _checked_count(seconds: float, fps: int, width: int) -> int:
    """Return the number of frames. Raises SettingError."""
    if not (seconds > 0 and 1 <= fps <= 60 and 2 <= round(seconds * fps) <= MOST_FRAMES):
        raise SettingError(
            Text(
                "A film has 1 to 60 frames a second and 2 to {most} frames in all, not {seconds:g} s of {fps:g}.",
                "影片每秒 1 至 60 帧，共 2 至 {most} 帧，而不是 {seconds:g} 秒、每秒 {fps:g} 帧。",
            ).format(most=MOST_FRAMES, seconds=seconds, fps=fps)
        )
    if not 160 <= width <= LARGEST:
        raise SettingError(
            Text(
                "A film is 160 to {largest} pixels wide, not {width:g}.",
                "影片宽度为 160 至 {largest} 像素，而不是 {width:g}。",
            ).format(largest=LARGEST, width=width)
        )
    return round(seconds * fps)


def _figures(
    captured: Capture, kind: Kind, query: Query, target: int | str | None
) -> Iterator[tuple[Result, dict[str, Any]]]:
    """Compute the figures of a film with their options, the last one whole."""
    last = captured.depth - 1
    if kind == "pass":
        chosen = {} if target is None else {"target": target}
        result = compute("network", captured, query=query, **chosen)
        for reached in (*range(-1, captured.depth + 1), None):
            yield result, {"reached": reached}
    elif kind == "heads":
        for head in range(captured.num_heads(last)):
            yield compute("attention_map", captured, block=last, head=head, query=query), {}
    else:
        for choice in size_choices(captured.model):
            other = capture(captured.model, captured.input.pixels, "squash", choice.size)  # cropped already
            yield compute("attention_map", other, block=last, query=query), {}


def _of_one_size(pictures: Sequence[Image.Image]) -> list[Pixels]:
    """Lay pictures on a ground of one size, even in both directions as video wants it."""
    width, height = (max(sizes) // 2 * 2 for sizes in zip(*(picture.size for picture in pictures), strict=True))
    stills = []
    for picture in pictures:
        ground = Image.new("RGB", (width, height), picture.getpixel((0, 0)))
        ground.paste(picture, (0, 0))
        stills.append(np.asarray(ground))
    return stills


def between(stills: Sequence[Pixels], count: int) -> Iterator[Pixels]:
    """Fade from still to still in `count` frames: the first frame is the first still, the last frame the last."""
    for frame in range(count):
        at = frame * (len(stills) - 1) / (count - 1)
        first = min(int(at), len(stills) - 1)
        share = at - first
        if share == 0:
            yield stills[first]
        else:
            mixed = (1 - share) * stills[first] + share * stills[min(first + 1, len(stills) - 1)]
            yield np.rint(mixed).astype(np.uint8)


def _mp4(frames: Iterator[Pixels], fps: int) -> bytes:
    """Encode frames as MP4. Raises SaveError where OpenCV has no codec for it."""
    import cv2

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "film.mp4")
        first = next(frames)
        size = first.shape[1], first.shape[0]
        for codec in CODECS:
            writer = cv2.VideoWriter(file, cv2.VideoWriter.fourcc(*codec), fps, size)
            if writer.isOpened():
                break
        else:
            raise SaveError(
                Text(
                    "This build of OpenCV cannot write MP4. Save the film as .gif or .webp.",
                    "此处无法写入 MP4。请将影片保存为 GIF 或 WebP。",
                )
            )
        writer.write(first[..., ::-1])
        for frame in frames:
            writer.write(frame[..., ::-1])
        writer.release()
        return Path(file).read_bytes()


def _animation(frames: Iterator[Pixels], fps: int, suffix: str) -> bytes:
    """Encode frames as an animated GIF or WebP that repeats."""
    first, *others = map(Image.fromarray, frames)
    options: dict[str, Any] = {"quality": 80, "method": 2} if suffix == ".webp" else {"optimize": False}
    buffer = io.BytesIO()
    first.save(buffer, suffix[1:], save_all=True, append_images=others, duration=round(1000 / fps), loop=0, **options)
    return buffer.getvalue()
