"""Opening of untrusted images: each becomes upright 8-bit sRGB on white, or an error that says why not.

Size and format are read from the file's header (`containers`) before a pixel is decoded; `srgb` converts colours, depth
and transparency. Only the first frame of an animation and the first page of a document are read.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import BmpImagePlugin, GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.containers import Container, exif_orientation, read_container
from vitexplorer.models.srgb import WHITE, on_white

# Called directly: Image.open would try other formats, and warn of sizes that are checked here.
_READERS = {
    "JPEG": JpegImagePlugin.JpegImageFile,
    "PNG": PngImagePlugin.PngImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
}

_RESIZING = Image.Resampling.BICUBIC
_BYTES_PER_PIXEL = 8  # the deepest picture accepted, uncompressed: four channels of 16 bits
_SPARE_BYTES = 2**24  # headers, profiles and further frames of a small picture

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = 5  # from this orientation on, width and height are swapped


class ImageError(ExplainedError):
    """Raised for a picture that cannot be used; the message says why and how to mend it."""


def open_image(
    image: str | os.PathLike | Image.Image | np.ndarray, *, max_megapixels: float = 40, min_side: int = 8
) -> np.ndarray:
    """Open a picture as uint8 RGB (height, width, 3), 0-255 sRGB, upright.

    Args:
        image: a path, a PIL image (its current frame is used) or a uint8 RGB array (height, width, 3).
        max_megapixels: most pixels, in millions.
        min_side: fewest pixels of a side.

    Returns:
        A contiguous copy that belongs to the caller.

    Raises:
        ImageError: another type, a file that is missing, damaged or of another format, or a picture outside the limits.
    """
    if isinstance(image, np.ndarray):
        _check_array(image)
        _check_size(_IMAGE_NAME, image.shape[1], image.shape[0], max_megapixels, min_side)
        return np.array(image, order="C", subok=False)
    if isinstance(image, Image.Image):
        _check_size(_IMAGE_NAME, *image.size, max_megapixels, min_side)
        return _decode_safely(_IMAGE_NAME, lambda: _upright_pixels(image, exif_orientation(_exif_of(image))))
    if isinstance(image, (str, os.PathLike)):
        container, name = _read_file(image, max_megapixels, min_side)
        return _decode_safely(name, lambda: _decode_pixels(container))
    raise ImageError(_WRONG_TYPE.format(what=type(image).__name__))


@dataclass(frozen=True)
class OpenedImage:
    """A picture that is opened, checked and hashed once, and used by any number of captures."""

    pixels: np.ndarray
    """uint8 RGB (height, width, 3), 0-255 sRGB, upright; read only"""
    hash: str
    """`image_hash` of the pixels"""

    @classmethod
    def of(cls, image: AnyImage, **limits: float) -> OpenedImage:
        """Open `image` with the `limits` of `open_image`, unless it is an OpenedImage already."""
        if isinstance(image, OpenedImage):
            return image
        pixels = open_image(image, **limits)
        return cls(pixels, image_hash(pixels))


AnyImage = str | os.PathLike | Image.Image | np.ndarray | OpenedImage
"""A path, a PIL image, a uint8 RGB array (height, width, 3), or an opened image"""


@dataclass(frozen=True)
class ShrunkImage:
    """A picture decoded at a reduced size, with facts of its file."""

    pixels: np.ndarray
    """uint8 RGB (height, width, 3), 0-255 sRGB, upright"""
    width: int
    height: int
    """Size in pixels of the whole picture, upright"""
    digest: str
    """SHA-256 of the orientation and the file without comments and other camera data, 64 hexadecimal digits"""


def open_shrunk(path: str | os.PathLike, short_side: int, *, max_megapixels: float = 40) -> ShrunkImage:
    """Open a file and shrink it to a short side of `short_side` pixels; smaller pictures keep their size.

    A JPEG is decoded at a half, a quarter or an eighth of its size if that suffices, which takes a fraction of the
    time and memory. Pillow's antialiased bicubic does the rest.

    Raises:
        ImageError: the file cannot be used, see `open_image`.
    """
    container, name = _read_file(path, max_megapixels)
    pixels = _decode_safely(name, lambda: _decode_pixels(container, short_side))
    size = (container.width, container.height)
    width, height = reversed(size) if container.orientation >= _SIDEWAYS else size
    digest = hashlib.sha256(container.data + bytes([container.orientation])).hexdigest()
    return ShrunkImage(pixels, width, height, digest)


def image_hash(pixels: np.ndarray) -> str:
    """Compute the SHA-256 of an array's shape and bytes, 64 hexadecimal digits."""
    digest = hashlib.sha256(repr(pixels.shape).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------- messages

_IMAGE_NAME = Text("The image", "该图像")
_WRONG_TYPE = Text(
    "An image must be a path, a PIL image or a uint8 RGB array (height, width, 3), not {what}.",
    "图像必须是路径、PIL 图像或 uint8 RGB 数组（height, width, 3），而不是 {what}。",
)
_WRONG_ARRAY = Text(
    "An image array must be uint8 RGB of shape (height, width, 3), values 0-255; this one is {dtype} of shape {shape}.",
    "图像数组必须是形状为（height, width, 3）的 uint8 RGB，取值 0-255；传入的是 {dtype}，形状 {shape}。",
)
_MISSING = Text("There is no file {name}. Check the path.", "找不到文件 {name}。请检查路径。")
_UNREADABLE = Text("{name} cannot be read. Check its path and permissions.", "无法读取 {name}。请检查路径和权限。")
_FOLDER = Text("{name} is a folder. Choose one image in it.", "{name} 是文件夹。请选择其中的一幅图像。")
_NOT_A_FILE = Text("{name} is not an ordinary file.", "{name} 不是普通文件。")
_EMPTY = Text("{name} is empty (0 bytes). Save or download it again.", "{name} 是空文件（0 字节）。请重新保存或下载。")
_HEAVY = Text(
    "{name} is {megabytes} MB; at most {most} MB are accepted. Save a smaller copy.",
    "{name} 大小为 {megabytes} MB；最多接受 {most} MB。请另存为较小的副本。",
)
_FOREIGN = Text(
    "{name} is {what}. Accepted are JPEG, PNG, WebP, GIF, BMP and TIFF; save it as one of these.",
    "{name} 是{what}。可接受的格式为 JPEG、PNG、WebP、GIF、BMP 和 TIFF；请另存为其中一种。",
)
_DAMAGED = Text(
    "{name} is damaged or cut off and cannot be decoded. Save or download it again.",
    "{name} 已损坏或不完整，无法解码。请重新保存或下载。",
)
_LARGE = Text(
    "{name} has {width} x {height} pixels; at most {most:g} million are accepted. Scale it down first.",
    "{name} 有 {width} x {height} 像素；最多接受 {most_zh:g} 万像素。请先缩小。",
)
_SMALL = Text(
    "{name} has {width} x {height} pixels; at least {least} on each side are needed.",
    "{name} 有 {width} x {height} 像素；每边至少需要 {least} 像素。",
)
_COLOUR_MODE = Text(
    "The image stores its colours as {mode}, which is not accepted. Convert it to RGB.",
    "该图像的颜色模式为 {mode}，不受支持。请转换为 RGB。",
)
_NOT_FINITE = Text(
    "The image has pixels that are not finite numbers. Replace them first.",
    "该图像中有像素不是有限数值。请先替换这些像素。",
)

_FILE_STARTS = (  # first bytes of files that are often mistaken for accepted pictures
    (b"%PDF", Text("a PDF document", " PDF 文档")),
    (b"<svg", Text("an SVG drawing", " SVG 矢量图")),
    (b"<?xml", Text("an SVG drawing or another XML file", " SVG 矢量图或其他 XML 文件")),
    (b"8BPS", Text("a Photoshop document", " Photoshop 文档")),
    (b"\0\0\1\0", Text("a Windows icon", " Windows 图标")),
    (b"II+\0", Text("a BigTIFF file", " BigTIFF 文件")),
    (b"MM\0+", Text("a BigTIFF file", " BigTIFF 文件")),
    (b"\0\0\0\x0cjP", Text("a JPEG 2000 picture", " JPEG 2000 图像")),
    (b"\0\0\0\x0cJXL", Text("a JPEG XL picture", " JPEG XL 图像")),
    (b"\xff\x0a", Text("a JPEG XL picture", " JPEG XL 图像")),
)
_NOT_A_PICTURE = Text("not a picture of a known format", "格式无法识别的文件")


def _foreign_format(data: bytes) -> Text:
    """Guess the format of a file that is not accepted."""
    if data[4:12] == b"ftypavif":
        return Text("an AVIF picture", " AVIF 图像")
    if data[4:8] == b"ftyp":
        return Text("a HEIC picture or a video", " HEIC 图像或视频")
    start = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((title for beginning, title in _FILE_STARTS if start.startswith(beginning)), _NOT_A_PICTURE)


def _display_name(path: Path) -> Text:
    """Quote the file's name without its folder, which is private for an upload."""
    name = path.name[-80:].encode(errors="replace").decode()
    return Text(f'"{name}"', f"“{name}”")


# ------------------------------------------------------------------------------------------------- checks


def _check_array(array: np.ndarray) -> None:
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise ImageError(_WRONG_ARRAY.format(dtype=array.dtype, shape=array.shape))


def _check_size(name: Text, width: int, height: int, max_megapixels: float, min_side: int) -> None:
    if width * height > max_megapixels * 1e6:
        limit = {"most": max_megapixels, "most_zh": max_megapixels * 100}
        raise ImageError(_LARGE.format(name=name, width=width, height=height, **limit))
    if min(width, height) < min_side:
        raise ImageError(_SMALL.format(name=name, width=width, height=height, least=min_side))


def _check_colours(picture: Image.Image) -> None:
    if picture.mode == "LAB":
        raise ImageError(_COLOUR_MODE.format(mode=picture.mode))
    if picture.mode == "F" and not np.isfinite(np.asarray(picture)).all():
        raise ImageError(_NOT_FINITE)


def _file_bytes(path: Path, name: Text, max_bytes: int) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ImageError((_FOLDER if stat.S_ISDIR(status.st_mode) else _NOT_A_FILE).format(name=name))
        if not 0 < status.st_size <= max_bytes:
            sizes = {"megabytes": status.st_size // 10**6, "most": max_bytes // 10**6}
            raise ImageError((_HEAVY if status.st_size else _EMPTY).format(name=name, **sizes))
        return path.read_bytes()
    except ImageError:
        raise
    except FileNotFoundError:
        raise ImageError(_MISSING.format(name=name)) from None
    except (OSError, ValueError):  # ValueError: a path with a null character
        raise ImageError(_UNREADABLE.format(name=name)) from None


def _read_file(image: str | os.PathLike, max_megapixels: float, min_side: int = 8) -> tuple[Container, Text]:
    """Read a file's container, check its size, and return it with a name for messages; nothing is decoded yet."""
    path = Path(os.fsdecode(image))
    name = _display_name(path)
    max_bytes = int(max_megapixels * 1e6 * _BYTES_PER_PIXEL) + _SPARE_BYTES
    data = _file_bytes(path, name, max_bytes)
    container = _decode_safely(name, lambda: read_container(data))
    if container is None:
        raise ImageError(_FOREIGN.format(name=name, what=_foreign_format(data)))
    _check_size(name, container.width, container.height, max_megapixels, min_side)
    _check_size(name, *container.tile, max_megapixels, 1)
    return container, name


def _decode_safely(name: Text, decode: Callable):
    """Return `decode()`; any error that untrusted bytes cause in a decoder becomes an ImageError."""
    try:
        return decode()
    except ImageError:
        raise
    except Exception:
        raise ImageError(_DAMAGED.format(name=name)) from None


# ------------------------------------------------------------------------------------------------- pixels


def _decode_pixels(container: Container, short_side: int | None = None) -> np.ndarray:
    """Decode a file whose size was checked to uint8 RGB (height, width, 3), shrunk to `short_side` if given."""
    picture = _READERS[container.format](io.BytesIO(container.data))
    if picture.size != (container.width, container.height):  # nothing is decoded yet
        raise ValueError("the decoder sees another size than the one that was checked")
    size = picture.size if short_side is None else _shrunk_size(picture.size, short_side)
    if container.format == "JPEG" and size != picture.size:
        picture.draft(None, size)
    pixels = _upright_pixels(picture, container.orientation)
    if container.frame is not None:  # Pillow paints the rest in the palette's first colour
        left, top, right, bottom = container.frame
        canvas = np.full_like(pixels, WHITE)
        canvas[top:bottom, left:right] = pixels[top:bottom, left:right]
        pixels = canvas
    size = (size[1], size[0]) if container.orientation >= _SIDEWAYS else size
    if pixels.shape[:2] == (size[1], size[0]):
        return pixels
    return np.array(Image.fromarray(pixels).resize(size, _RESIZING))


def _shrunk_size(size: tuple[int, int], short_side: int) -> tuple[int, int]:
    """Scale `size` down to this short side, keeping the aspect; return `size` if it is smaller already."""
    scale = min(1.0, short_side / min(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _exif_of(picture: Image.Image) -> bytes:
    """Return the raw Exif block of a PIL image; `getexif` would warn of damage."""
    picture.load()  # a PNG may have the block after its pixels
    exif = picture.info.get("exif")
    return exif if isinstance(exif, bytes) else b""


def _upright_pixels(picture: Image.Image, orientation: int) -> np.ndarray:
    """Convert a picture to uint8 RGB (height, width, 3) and apply the orientation 1-8."""
    picture.load()
    _check_colours(picture)
    rgb = on_white(picture)
    if orientation in _UPRIGHT:
        rgb = rgb.transpose(_UPRIGHT[orientation])
    return np.array(rgb)
