"""Headers of image files, read before anything is decoded.

An untrusted file is reduced to its pixels, colour profile and orientation. Its size is known before memory is spent,
and comments, thumbnails, further pages and camera data never reach a decoder. Pillow reports damage in exactly these
parts as warnings, whose filters all threads share; parts that are left out cannot warn.

Layouts: JPEG ITU-T T.81 annex B, PNG (W3C PNG 3), WebP RFC 9649, GIF89a, BMP (Microsoft BITMAPINFOHEADER), TIFF 6.0,
Exif 3.0 (orientation, tag 274).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

ORIENTATION = 274  # the same tag number in Exif and TIFF
EXIF_HEADER = b"Exif\0\0"
MAX_SCANS = 100  # progressive JPEGs have about ten; each scan costs a pass over all pixels
MAX_PROFILE_BYTES = 2**20  # Pillow's own limit for a PNG
MAX_TAG_VALUES = 10**6  # strips or tiles of a TIFF


@dataclass(frozen=True)
class Container:
    """One image file, reduced to the data of its first picture."""

    format: str
    """Pillow's name: JPEG, PNG, WEBP, GIF, BMP or TIFF"""
    width: int
    height: int
    """Size in pixels as stored, before the orientation is applied"""
    data: bytes
    """File of the same format with only the data that decoding needs"""
    orientation: int = 1
    """1-8 as in Exif; 1 is upright"""
    frame: tuple[int, int, int, int] | None = None
    """Left, top, right, bottom of the first animation frame, which may be smaller than the picture"""
    tile: tuple[int, int] = (1, 1)
    """Width, height of a tile that the decoder holds at once; a TIFF's tiles may be larger than the picture"""


def read_container(data: bytes) -> Container | None:
    """Read the headers of a file; None for a format that is not accepted.

    Raises:
        ValueError, LookupError, struct.error: the file contradicts itself or ends too early.
    """
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return _gif(data)
    if data.startswith(b"BM"):
        return _bmp(data)
    if data[:4] in (b"II*\0", b"MM\0*"):
        return _tiff(data)
    return None


# ------------------------------------------------------------------------------------------------- JPEG

_FRAME_MARKERS = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
_TABLE_MARKERS = {0xC4, 0xCC, 0xDB, 0xDD}  # Huffman, arithmetic conditioning, quantisation, restart interval
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, b"\xff\xd9"


def _jpeg(data: bytes) -> Container:
    parts = [data[:2]]
    sizes = []
    orientation = 1
    for at, marker, segment in _jpeg_segments(data):
        body = segment[4:]
        if marker == _START_OF_SCAN:
            parts.append(data[at:])
            break
        if marker in _FRAME_MARKERS:
            sizes.append(struct.unpack_from(">HH", body, 1))
        if marker == 0xE1 and body.startswith(EXIF_HEADER):
            orientation = exif_orientation(body)
        if marker in _FRAME_MARKERS | _TABLE_MARKERS or (
            (marker == 0xE0 and body.startswith(b"JFIF"))
            or (marker == 0xE2 and body.startswith(b"ICC_PROFILE\0"))
            or (marker == 0xEE and body.startswith(b"Adobe"))
        ):
            parts.append(segment)
    ((height, width),) = sizes  # a second frame header would be a second size
    end = data.find(_END_OF_IMAGE, at)
    if data.count(b"\xff\xda", at, end if end > 0 else len(data)) > MAX_SCANS:
        raise ValueError("too many scans")
    return Container("JPEG", width, height, b"".join(parts), orientation)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (offset, marker, whole segment) for everything up to and including the first scan's header."""
    at = 2
    while True:
        at = data.index(0xFF, at)
        while data[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker = data[at + 1]
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD7:  # an escaped byte or a marker without a body
            at += 2
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        yield at, marker, data[at : at + 2 + length]
        at += 2 + length


# ------------------------------------------------------------------------------------------------- PNG


def _png(data: bytes) -> Container:
    """Read the default image; the frames of an APNG and all that is not pixels or colour are left out."""
    parts = [data[:8]]
    orientation = 1
    at = 8
    headers = 0
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + length]
        at += 12 + length
        headers += kind == b"IHDR"
        if kind == b"eXIf":
            orientation = exif_orientation(chunk[8:-4])
        if kind == b"tRNS":
            parts.append(_eight_bit_transparency(chunk, *data[24:26]))
        if kind in (b"IHDR", b"PLTE", b"IDAT", b"IEND") or (kind == b"iCCP" and _is_small_profile(chunk)):
            parts.append(chunk)
        if kind == b"IEND":
            break
    if headers != 1 or data[12:16] != b"IHDR":
        raise ValueError("one header expected, at the start")
    width, height = struct.unpack_from(">II", data, 16)
    return Container("PNG", width, height, b"".join(parts), orientation)


def _eight_bit_transparency(chunk: bytes, depth: int, colour_type: int) -> bytes:
    """Convert a tRNS chunk to the depth Pillow decodes to: 2- and 4-bit grey and 16-bit RGB become 8 bits."""
    colour = [int.from_bytes(chunk[at : at + 2], "big") for at in range(8, len(chunk) - 4, 2)]
    if colour_type == 0 and depth in (2, 4):
        colour = [value * 255 // (2**depth - 1) for value in colour]
    elif colour_type == 2 and depth == 16:
        colour = [value >> 8 for value in colour]
    else:
        return chunk
    body = b"tRNS" + struct.pack(f">{len(colour)}H", *colour)
    return chunk[:4] + body + struct.pack(">I", zlib.crc32(body))


def _is_small_profile(chunk: bytes) -> bool:
    packed = chunk[8:-4].partition(b"\0")[2][1:]  # name, 0, compression method, zlib stream
    try:
        return len(zlib.decompressobj().decompress(packed, MAX_PROFILE_BYTES + 1)) <= MAX_PROFILE_BYTES
    except zlib.error:
        return False


# ------------------------------------------------------------------------------------------------- WebP


def _webp(data: bytes) -> Container:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        if len(data) < 30:
            raise ValueError("ends in its header")
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
    else:
        raise ValueError("no picture in the first chunk")
    return Container("WEBP", width, height, data, _webp_orientation(data))


def _webp_orientation(data: bytes) -> int:
    at = 12
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        if kind == b"EXIF":
            return exif_orientation(data[at + 8 : at + 8 + length])
        at += 8 + length + length % 2
    return 1


# ------------------------------------------------------------------------------------------------- GIF, BMP


def _gif(data: bytes) -> Container:
    """Read the screen's size, enlarged to contain the first frame."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + _colour_table_bytes(flags)
    while data[at] == ord("!"):
        at += 2
        while data[at]:
            at += 1 + data[at]
        at += 1
    if data[at] != ord(","):
        raise ValueError("no frame")
    left, top, frame_width, frame_height = struct.unpack_from("<4H", data, at + 1)
    frame = (left, top, left + frame_width, top + frame_height)
    return Container("GIF", max(width, frame[2]), max(height, frame[3]), data, frame=frame)


def _colour_table_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 128 else 0


def _bmp(data: bytes) -> Container:
    (header_bytes,) = struct.unpack_from("<I", data, 14)
    width, height = struct.unpack_from("<HH" if header_bytes == 12 else "<ii", data, 18)
    return Container("BMP", width, abs(height), data)  # a negative height means rows from top to bottom


# ------------------------------------------------------------------------------------------------- TIFF and Exif

_SHORT, _LONG = 3, 4
_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_WIDTH, _HEIGHT, _TILE_WIDTH, _TILE_HEIGHT, _JPEG_TABLES, _PROFILE = 256, 257, 322, 323, 347, 34675
_SINGLE = {_WIDTH, _HEIGHT, 259, 262, 266, 277, 278, 284, 292, 293, 317, _TILE_WIDTH, _TILE_HEIGHT}
_PIXEL_TAGS = _SINGLE | {258, 273, 279, 320, 324, 325, 338, 339, _JPEG_TABLES, 529, 530, 531, 532, _PROFILE}


class _Entry(NamedTuple):
    tag: int
    type: int
    count: int
    value: bytes
    """Four bytes: the value itself where it fits, otherwise its offset"""


def _directory(data: bytes) -> tuple[str, int, list[_Entry]]:
    """Return the byte order for `struct`, the offset and the entries of the first directory."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2], "")
    magic, offset = struct.unpack_from(order + "HI", data, 2)
    if not order or magic != 42:
        raise ValueError("not a TIFF directory")
    (count,) = struct.unpack_from(order + "H", data, offset)
    entries = [_Entry(*struct.unpack_from(order + "HHI4s", data, offset + 2 + 12 * i)) for i in range(count)]
    return order, offset, entries


def _number(order: str, entry: _Entry) -> int:
    """Return the value of an entry that holds one whole number."""
    if entry.type not in (_SHORT, _LONG) or entry.count * _TYPE_BYTES[entry.type] not in (2, 4):
        raise ValueError("one number expected")
    return struct.unpack_from(order + ("H" if entry.type == _SHORT else "I"), entry.value)[0]


def exif_orientation(exif: bytes) -> int:
    """Return the orientation 1-8 of an Exif block, with or without its header; 1 if it is damaged or has none."""
    try:
        order, _, entries = _directory(exif.removeprefix(EXIF_HEADER))
        values = [_number(order, entry) for entry in entries if entry.tag == ORIENTATION]
    except (ValueError, struct.error):
        return 1
    return values[0] if values and 1 <= values[0] <= 8 else 1


def _tiff(data: bytes) -> Container:
    """Read the first page, with a directory reduced to the tags that describe its pixels."""
    order, offset, entries = _directory(data)
    pixel_tags = {entry.tag: _checked(data, order, entry) for entry in entries if entry.tag in _PIXEL_TAGS}
    if len(pixel_tags) < sum(entry.tag in _PIXEL_TAGS for entry in entries):
        raise ValueError("the same tag twice")
    packed = b"".join(struct.pack(order + "HHI4s", *entry) for entry in pixel_tags.values())
    directory = struct.pack(order + "H", len(pixel_tags)) + packed + bytes(4)  # four zeros: no further page
    tile = [_number(order, pixel_tags[tag]) if tag in pixel_tags else 1 for tag in (_TILE_WIDTH, _TILE_HEIGHT)]
    return Container(
        "TIFF",
        _number(order, pixel_tags[_WIDTH]),
        _number(order, pixel_tags[_HEIGHT]),
        data[:offset] + directory + data[offset + len(directory) :],
        exif_orientation(data),
        tile=(tile[0], tile[1]),
    )


def _checked(data: bytes, order: str, entry: _Entry) -> _Entry:
    """Check that an entry's values lie within the file; a tag with a single value keeps one."""
    if entry.tag in _SINGLE:
        _number(order, entry)
        return entry._replace(count=1)
    size = entry.count * _TYPE_BYTES.get(entry.type, 0)
    if size > 4 and struct.unpack(order + "I", entry.value)[0] + size > len(data):
        raise ValueError("values beyond the end of the file")
    if entry.count > MAX_TAG_VALUES and entry.tag not in (_JPEG_TABLES, _PROFILE):
        raise ValueError("too many values")
    return entry
