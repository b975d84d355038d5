"""Opening pictures: the pixels of every kind of file, and refusals before anything large is read."""

import hashlib
import inspect
import io
import struct
import subprocess
import sys
import warnings
import zlib
from functools import partial

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageFile

from tests.helpers.image_folders import encoded, picture
from tests.helpers.tree import ROOT
from tests.helpers.waiting import at_once
from vitexplorer.models import images
from vitexplorer.models.images import ImageError, image_hash, open_image, open_shrunk

PICTURE = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
LOSSLESS = {"png": {}, "bmp": {}, "tiff": {}, "webp": {"lossless": True, "exact": True}}
TIFF_COMPRESSIONS = ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits")


@pytest.fixture
def save(tmp_path):
    """Write bytes, or a PIL image with Pillow's options, and return the path."""

    def write(content, name="picture.png", **options):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content.save(path, **options)
        return path

    return write


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, rows=b"", *, depth=8, colour_type=0, extra=b"") -> bytes:
    """Write a PNG by hand; `rows` is its unpacked data, or the packed stream if it starts with zlib's 0x78."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    stream = rows if rows[:1] == b"\x78" else zlib.compress(rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", stream) + chunk(b"IEND", b"")


def before_its_end(png_data: bytes, more: bytes) -> bytes:
    """Insert a chunk behind the pixels of a PNG."""
    return png_data.replace(b"\0\0\0\0IEND", more + bytes(4) + b"IEND")


def grey_rows(values, code) -> bytes:
    return b"".join(b"\0" + struct.pack(f">{len(row)}{code}", *row) for row in values)


def exif(orientation: int) -> bytes:
    return b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)


def tiff(width, height, *more, pixels=b"\0" * 100) -> bytes:
    """Write an 8-bit grey TIFF by hand; `more` are further (tag, type, count, value) entries."""
    entries = {256: (4, 1, width), 257: (4, 1, height), 258: (3, 1, 8 << 16), 259: (3, 1, 1 << 16)}
    entries |= {262: (3, 1, 1 << 16), 273: (4, 1, 8), 277: (3, 1, 1 << 16), 279: (4, 1, len(pixels))}
    rows = sorted([(tag, *entry) for tag, entry in entries.items()] + list(more))
    directory = b"".join(struct.pack(">HHII", *row) for row in rows)
    return b"MM\0*" + struct.pack(">I", 8 + len(pixels)) + pixels + struct.pack(">H", len(rows)) + directory + bytes(4)


# ------------------------------------------------------------------------------------------------- arrays, PIL images


def test_an_array_comes_back_equal_contiguous_and_as_a_copy():
    array = np.asfortranarray(PICTURE)
    opened = open_image(array)
    assert np.array_equal(opened, PICTURE)
    assert opened.flags.c_contiguous
    assert not np.shares_memory(opened, array)


@pytest.mark.parametrize(
    "array",
    [
        PICTURE.astype(np.float32) / 255,
        PICTURE[..., 0],
        np.dstack([PICTURE, PICTURE[..., :1]]),
        PICTURE.transpose(2, 0, 1),
        PICTURE[None],
        PICTURE.astype(np.int64),
        np.zeros(()),
    ],
    ids=["float", "grey", "rgba", "channels first", "batch", "int64", "scalar"],
)
def test_another_array_is_refused_with_what_came(array):
    with pytest.raises(ImageError, match=r"uint8 RGB of shape \(height, width, 3\)") as refused:
        open_image(array)
    assert str(array.dtype) in str(refused.value)
    assert str(array.shape) in str(refused.value)


@pytest.mark.parametrize("thing", [None, 3, [1, 2], b"cat.png", PICTURE.tolist()])
def test_another_type_is_refused(thing):
    with pytest.raises(ImageError, match=type(thing).__name__):
        inspect.unwrap(open_image)(thing)  # as users have it, without the type checks of the tests


@pytest.mark.parametrize("shape", [(0, 0, 3), (7, 100, 3), (100, 7, 3)])
def test_a_picture_that_is_too_small_is_refused(shape):
    with pytest.raises(ImageError, match=rf"{shape[1]} x {shape[0]} pixels; at least 8"):
        open_image(np.zeros(shape, np.uint8))


def test_the_limits_can_be_set_and_are_inclusive():
    assert open_image(np.zeros((100, 100, 3), np.uint8), max_megapixels=0.01).shape == (100, 100, 3)
    with pytest.raises(ImageError, match=r"at most 0\.01 million"):
        open_image(np.zeros((101, 100, 3), np.uint8), max_megapixels=0.01)
    assert open_image(np.zeros((2, 2, 3), np.uint8), min_side=2).shape == (2, 2, 3)


def test_a_pil_image_is_opened_by_its_pixels_and_orientation():
    picture = Image.fromarray(PICTURE)
    assert np.array_equal(open_image(picture), PICTURE)
    turned = Image.open(io.BytesIO(encoded(picture, "png", exif=exif(6))))
    assert np.array_equal(open_image(turned), np.rot90(PICTURE, -1))


def test_a_large_pil_image_is_refused_before_it_is_loaded():
    lazy = Image.open(io.BytesIO(png(7000, 7000)))
    with pytest.raises(ImageError, match="7000 x 7000"):
        open_image(lazy)


def test_a_damaged_pil_image_is_refused():
    lazy = Image.open(io.BytesIO(encoded(PICTURE)[:-200]))
    with pytest.raises(ImageError, match="damaged"):
        open_image(lazy)


# ------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("kind", LOSSLESS)
def test_lossless_formats_keep_every_pixel(save, kind):
    path = save(Image.fromarray(PICTURE), f"picture.{kind}", **LOSSLESS[kind])
    opened = open_image(path)
    assert opened.dtype == np.uint8
    assert opened.flags.c_contiguous
    assert np.array_equal(opened, PICTURE)
    assert np.array_equal(open_image(str(path)), PICTURE)


@pytest.mark.parametrize("compression", TIFF_COMPRESSIONS)
def test_tiff_compressions(save, compression):
    assert np.array_equal(open_image(save(Image.fromarray(PICTURE), "a.tif", compression=compression)), PICTURE)


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpeg_is_decoded_exactly_as_pillow_does(save, mode, progressive):
    path = save(Image.fromarray(PICTURE).convert(mode), "a.jpg", quality=90, progressive=progressive)
    with Image.open(path) as picture:
        assert np.array_equal(open_image(path), np.asarray(picture.convert("RGB")))


def test_cmyk_jpeg_is_not_inverted(save):
    inks = np.zeros((16, 16, 4), np.uint8)  # no ink: white
    inks[:, 8:, 3] = 255  # full black
    opened = open_image(save(Image.frombytes("CMYK", (16, 16), inks.tobytes()), "a.jpg", quality=95))
    assert opened[:, :4].min() > 250
    assert opened[:, 12:].max() < 5


def test_the_format_is_read_from_the_content_not_the_name(save):
    assert np.array_equal(open_image(save(encoded(PICTURE, "bmp"), "a.jpg")), PICTURE)


def test_names_with_spaces_and_chinese(save):
    assert np.array_equal(open_image(save(Image.fromarray(PICTURE), "我的 图 像.png")), PICTURE)
    with pytest.raises(ImageError, match="没有 这个"):
        open_image("/nowhere/没有 这个.png")


def test_palettes_and_one_bit(save):
    palette = Image.fromarray(PICTURE).quantize(16)
    assert np.array_equal(open_image(save(palette)), np.asarray(palette.convert("RGB")))
    bits = Image.fromarray(PICTURE[..., 0] > 127)
    assert np.array_equal(open_image(save(bits))[..., 1], np.where(PICTURE[..., 0] > 127, 255, 0))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "webp", "tiff", "jpeg"])
def test_every_orientation_gives_the_same_upright_picture(save, kind, orientation):
    corners = np.zeros((16, 32, 3), np.uint8)
    corners[:8, :8], corners[:8, -8:], corners[-8:, :8] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    stored = {  # where row 0 and column 0 of the stored picture lie in the upright one, Exif 3.0 section 4.6.5
        1: corners,
        2: corners[:, ::-1],
        3: corners[::-1, ::-1],
        4: corners[::-1],
        5: corners.swapaxes(0, 1),
        6: corners[::-1].swapaxes(0, 1)[::-1, ::-1],
        7: corners[::-1, ::-1].swapaxes(0, 1),
        8: corners[::-1].swapaxes(0, 1),
    }[orientation]
    options = LOSSLESS.get(kind, {"quality": 100, "subsampling": 0})
    options = options | ({"tiffinfo": {274: orientation}} if kind == "tiff" else {"exif": exif(orientation)})
    opened = open_image(save(Image.fromarray(np.ascontiguousarray(stored)), f"a.{kind}", **options))
    assert opened.shape == corners.shape
    assert abs(opened.astype(int) - corners).max() <= (3 if kind == "jpeg" else 0)


@pytest.mark.parametrize("block", [exif(9), exif(6)[:-9], b"Exif\0\0XX", exif(6).replace(b"\1\x12\0\3", b"\1\x12\0\2")])
def test_a_damaged_orientation_is_ignored(save, block):
    assert np.array_equal(open_image(save(before_its_end(encoded(PICTURE), chunk(b"eXIf", block)))), PICTURE)


# ------------------------------------------------------------------------------------------------- transparency


def on_white(colour, alpha) -> int:
    """Compute one channel of one pixel as a slow twin, exact, rounded to nearest."""
    return int((colour * alpha + 255 * (255 - alpha)) / 255 + 0.5)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("RGBA", "png"), ("RGBA", "tiff"), ("RGBA", "webp"), ("RGBA", None), ("LA", "png"), ("LA", "tiff"), ("LA", None)],
)
def test_alpha_is_composited_on_white(save, mode, kind):
    bands = len(mode)
    levels = np.stack(np.meshgrid(np.arange(0, 256, 5), np.arange(0, 256, 3)), axis=-1).astype(np.uint8)
    raw = levels[..., [0] * (bands - 1) + [1]]
    picture = Image.fromarray(raw)
    options = LOSSLESS[kind] if kind else {}
    opened = open_image(save(picture, f"a.{kind}", **options) if kind else picture)
    twin = np.array([[on_white(int(colour), int(alpha)) for colour, alpha in row] for row in levels])
    assert np.array_equal(opened, np.repeat(twin[..., None], 3, axis=-1))


def test_colours_under_transparent_pixels_never_bleed_in():
    hidden = np.zeros((64, 64, 4), np.uint8)  # transparent black around an opaque white square
    hidden[20:40, 20:40] = 255
    assert open_image(Image.fromarray(hidden)).min() == 255


def test_premultiplied_pixels_are_undone_first():
    grey = np.full((8, 8, 4), 64, np.uint8)
    grey[..., 3] = 128  # 64 premultiplied by 128 / 255 is 127.5
    opened = open_image(Image.frombytes("RGBa", (8, 8), grey.tobytes()))
    assert abs(int(opened[0, 0, 0]) - on_white(127.5, 128)) <= 1


def test_a_transparent_palette_entry_is_white(save):
    indices = np.arange(80, dtype=np.uint8).reshape(8, 10) % 4
    palette = Image.frombytes("P", (10, 8), indices.tobytes())
    palette.putpalette([0, 0, 0, 250, 0, 0, 0, 250, 0, 0, 0, 250])
    one = open_image(save(palette, "one.png", transparency=0))
    graded = open_image(save(palette, "graded.png", transparency=bytes([0, 128, 255, 255])))
    assert np.array_equal(one[0, :4], [[255, 255, 255], [250, 0, 0], [0, 250, 0], [0, 0, 250]])
    assert np.array_equal(graded[0, 1], [on_white(250, 128), on_white(0, 128), on_white(0, 128)])


@pytest.mark.parametrize(
    ("depth", "colour_type", "row", "transparent", "expected"),
    [
        (1, 0, b"\x55", (0,), [255] * 8),
        (2, 0, b"\x1b\x1b", (1,), [0, 255, 170, 255] * 2),
        (8, 0, bytes([0, 64] * 4), (64,), [0, 255] * 4),
        (16, 0, struct.pack(">8H", *[257, 514] * 4), (514,), [1, 255] * 4),
        (8, 2, bytes([1, 2, 3, 9, 9, 9] * 4), (1, 2, 3), [255, 9] * 4),
        (16, 2, struct.pack(">24H", *[256, 512, 768, 2304, 2304, 2304] * 4), (256, 512, 768), [255, 9] * 4),
    ],
)
def test_one_transparent_colour_of_a_png(save, depth, colour_type, row, transparent, expected):
    transparency = chunk(b"tRNS", struct.pack(f">{len(transparent)}H", *transparent))
    path = save(png(8, 8, (b"\0" + row) * 8, depth=depth, colour_type=colour_type, extra=transparency))
    assert open_image(path)[3, :, 0].tolist() == expected


# ------------------------------------------------------------------------------------------------- deep grey


def test_16_bit_grey_keeps_its_whole_range(save):
    values = np.linspace(0, 65535, 1024).astype(np.uint16).reshape(32, 32)
    values[0, :4] = (128, 129, 65406, 65407)  # either side of the first and last rounding
    twin = [[int(int(value) * 255 / 65535 + 0.5) for value in row] for row in values]
    for path in (
        save(png(32, 32, grey_rows(values.tolist(), "H"), depth=16)),
        save(Image.fromarray(values), "little.tif"),
        save(
            tiff(32, 32, pixels=values.astype(">u2").tobytes()).replace(
                b"\1\2\0\3\0\0\0\1\0\x08", b"\1\2\0\3\0\0\0\1\0\x10"
            )
        ),
    ):
        opened = open_image(path)
        assert np.array_equal(opened, np.repeat(np.array(twin)[..., None], 3, axis=-1)), path


@pytest.mark.parametrize(
    ("low", "high", "dtype", "black", "white"),
    [
        (0.0, 0.5, np.float32, 0, 1),
        (0.0, 200.0, np.float32, 0, 255),
        (10.0, 60000.0, np.float32, 0, 65535),
        (-3.0, 5.0, np.float32, -3, 5),
        (1e9, 1e9, np.float32, 1e9, 1e9 + 1),
        (0, 255, np.int32, 0, 255),
        (0, 1, np.int32, 0, 255),
        (0, 65535, np.int32, 0, 65535),
        (-1000, 3000, np.int32, -1000, 3000),
    ],
)
def test_32_bit_grey_is_stretched_by_the_stated_rule(save, low, high, dtype, black, white):
    values = np.linspace(low, high, 100).reshape(10, 10).astype(dtype)
    twin = [[round((float(value) - black) / (white - black) * 255) for value in row] for row in values]
    assert np.array_equal(open_image(save(Image.fromarray(values), "a.tif"))[..., 2], twin)


def test_not_a_number_is_refused(save):
    with pytest.raises(ImageError, match="not finite"):
        open_image(save(Image.fromarray(np.full((8, 8), np.nan, np.float32)), "a.tif"))


# ------------------------------------------------------------------------------------------------- animations, pages


@pytest.mark.parametrize("kind", ["gif", "webp", "png", "tiff"])
def test_the_first_frame_or_page_is_opened(save, kind):
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    first, *rest = [Image.new("RGB", (16, 12), colour) for colour in colours]
    path = save(first, f"a.{kind}", save_all=True, append_images=rest, **LOSSLESS.get(kind, {}))
    assert np.array_equal(open_image(path), np.full((12, 16, 3), (255, 0, 0)))


def gif(screen, frame) -> bytes:
    """Write one frame of colour (200, 0, 0), the palette's first, at (left, top, width, height)."""
    pixels = encoded(Image.new("P", frame[2:]), "gif").partition(struct.pack("<HHB", *frame[2:], 0))[2]
    header = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x80, 0, 0) + bytes([200, 0, 0, 0, 0, 0])
    return header + b"," + struct.pack("<4HB", *frame, 0) + pixels


def test_what_a_first_gif_frame_leaves_free_is_white(save):
    opened = open_image(save(gif((16, 10), (4, 2, 8, 6)), "a.gif"))
    expected = np.full((10, 16, 3), 255)
    expected[2:8, 4:12] = (200, 0, 0)
    assert np.array_equal(opened, expected)


# ------------------------------------------------------------------------------------------------- colour profiles

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
SWAPPED = SRGB.replace(b"rXYZ", b"tmp.").replace(b"gXYZ", b"rXYZ").replace(b"tmp.", b"gXYZ")  # its red is sRGB's green


@pytest.mark.parametrize("kind", ["png", "tiff", "webp", "jpeg"])
def test_a_profile_is_converted_to_srgb(save, kind):
    options = LOSSLESS.get(kind, {"quality": 100, "subsampling": 0})
    path = save(Image.new("RGB", (16, 16), (255, 0, 0)), f"a.{kind}", icc_profile=SWAPPED, **options)
    assert np.allclose(open_image(path)[8, 8], (0, 255, 0), atol=3)


def test_a_profile_holds_for_colours_under_alpha_but_not_for_the_white_behind_them(save):
    opened = open_image(save(Image.new("RGBA", (8, 8), (255, 0, 0, 128)), icc_profile=SWAPPED))
    assert np.allclose(opened[0, 0], (on_white(0, 128), 255, on_white(0, 128)), atol=3)


@pytest.mark.parametrize(
    "profile",
    [SRGB, SRGB[:200], b"nonsense", SRGB[:16] + b"CMYK" + SRGB[20:], SRGB + bytes(2**21)],
    ids=["sRGB itself", "cut off", "nonsense", "of another colour space", "more than a megabyte"],
)
def test_other_profiles_leave_every_pixel_as_it_is(save, profile):
    assert np.array_equal(open_image(save(Image.fromarray(PICTURE), icc_profile=profile)), PICTURE)


# ------------------------------------------------------------------------------------------------- refusals


def huge_png() -> bytes:
    """Write 12000 x 12000 grey, whole and valid: 144 MB of pixels in a few kilobytes."""
    packer = zlib.compressobj(1)
    row = bytes(12001)
    stream = b"".join(packer.compress(row * 100) for _ in range(120)) + packer.flush()
    return png(12000, 12000, stream)


def webp_canvas(width, height) -> bytes:
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<II", 10, 0) + canvas


def jpeg_of(width, height) -> bytes:
    data = encoded(PICTURE, "jpeg")
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]


OVERSIZED = {
    "png": png(30000, 30000, b"tiny"),
    "jpeg": jpeg_of(30000, 30000),
    "gif screen": gif((30000, 30000), (0, 0, 8, 8)),
    "gif frame": gif((8, 8), (0, 0, 8, 8)).replace(
        struct.pack("<4H", 0, 0, 8, 8), struct.pack("<4H", 0, 0, 30000, 30000)
    ),
    "webp": webp_canvas(16384, 16384),
    "bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, 30000, -30000) + bytes(40),
    "tiff": tiff(30000, 30000),
    "tiff tile": tiff(10, 10, (322, 4, 1, 65536), (323, 4, 1, 65536)),
}


@pytest.mark.parametrize("kind", OVERSIZED)
def test_oversized_pictures_are_refused_before_a_decoder_is_asked(save, monkeypatch, kind):
    monkeypatch.setattr(images, "_READERS", {})
    with pytest.raises(ImageError, match=r"at most 40 million"):
        open_image(save(OVERSIZED[kind]))


def test_refusing_a_huge_picture_costs_little_memory(save):
    pytest.importorskip("resource")  # asked for in the child
    script = """
import resource, sys
from vitexplorer.models.images import ImageError, open_image
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = used()
try:
    open_image(sys.argv[1])
except ImageError as error:
    print(used() - before, error)
"""
    command = [sys.executable, "-c", script, str(save(huge_png()))]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    grown, sentence = run.stdout.split(maxsplit=1)
    assert "12000 x 12000" in sentence
    assert int(grown) * (1 if sys.platform == "darwin" else 1024) < 50e6


def test_a_heavy_file_is_refused_unread(save):
    path = save(png(8, 8))
    with path.open("r+b") as file:
        file.truncate(500_000_000)  # a sparse file: no disk is used
    with pytest.raises(ImageError, match="500 MB"):
        open_image(path)


def test_what_unpacks_to_much_in_a_comment_is_left_out(save):
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(80_000_000)))
    assert np.array_equal(
        open_image(save(png(8, 8, grey_rows([[7] * 8] * 8, "B"), extra=bomb * 3))), np.full((8, 8, 3), 7)
    )


def test_a_jpeg_of_endless_scans_is_refused(save):
    data = encoded(PICTURE, "jpeg", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    assert open_image(save(data[:-2] + scan * 3 + data[-2:], "some.jpg")).shape == PICTURE.shape
    with pytest.raises(ImageError, match="damaged"):
        open_image(save(data[:-2] + scan * 200 + data[-2:], "many.jpg"))


def test_a_second_header_cannot_change_the_size(save):
    small, large = png(8, 8, grey_rows([[7] * 8] * 8, "B")), png(9000, 9000)
    with pytest.raises(ImageError, match="damaged"):
        open_image(save(small[:33] + large[8:33] + small[33:]))
    frame = encoded(PICTURE, "jpeg")
    header = frame[frame.index(b"\xff\xc0") :][:19]
    with pytest.raises(ImageError, match="damaged"):
        open_image(save(frame[:2] + header + frame[2:], "a.jpg"))


@pytest.mark.parametrize(
    "entry",
    [(256, 4, 1, 9), (322, 4, 2, 8), (322, 2, 1, 8), (324, 4, 10**6 + 1, 8), (320, 3, 768, 9999)],
    ids=["twice", "two widths", "a width in letters", "endless tiles", "beyond the end"],
)
def test_a_tiff_that_contradicts_itself_is_refused(save, entry):
    pixels = bytes(4 * 10**6 + 100) if entry[2] > 10**6 else bytes(100)
    assert open_image(save(tiff(10, 10, pixels=pixels[:100]), "whole.tif")).shape == (10, 10, 3)
    with pytest.raises(ImageError, match="damaged"):
        open_image(save(tiff(10, 10, entry, pixels=pixels), "a.tif"))


FOREIGN = {
    "SVG": b'\xef\xbb\xbf  <svg xmlns="http://www.w3.org/2000/svg"/>',
    "PDF": b"%PDF-1.7\n",
    "HEIC": b"\0\0\0\x18ftypheic\0\0\0\0",
    "AVIF": b"\0\0\0\x18ftypavif\0\0\0\0",
    "Photoshop": b"8BPS\0\1",
    "BigTIFF": b"II+\0\x08\0",
    "not a picture": b"These are words.\n",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_formats_are_named_and_the_accepted_ones_listed(save, kind):
    with pytest.raises(ImageError, match=kind) as refused:
        open_image(save(FOREIGN[kind], "cat.jpg"))
    for accepted in ("JPEG", "PNG", "WebP", "GIF", "BMP", "TIFF"):
        assert accepted in str(refused.value)


def test_what_is_no_file_is_refused(save, tmp_path):
    for path, word in [(tmp_path, "folder"), (tmp_path / "none.png", "no file"), (save(b"", "0.png"), "0 bytes")]:
        with pytest.raises(ImageError, match=word):
            open_image(path)
    for path in ("", "a\0b", "x" * 5000, "https://example.org/cat.png"):
        with pytest.raises(ImageError):
            open_image(path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    os = pytest.importorskip("os")
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ImageError, match="not an ordinary file"):
        open_image(tmp_path / "pipe.png")


def test_a_colour_space_that_cannot_be_converted_is_named(save):
    with pytest.raises(ImageError, match="LAB"):
        open_image(save(Image.new("LAB", (8, 8)), "a.tif"))


# ------------------------------------------------------------------------------------------------- any damage

SAMPLES = {
    "png": encoded(PICTURE, "png", exif=exif(6), icc_profile=SRGB),
    "palette": encoded(Image.fromarray(PICTURE).quantize(16), "png", transparency=3),
    "jpeg": encoded(PICTURE, "jpeg", exif=exif(6), icc_profile=SRGB),
    "gif": encoded(Image.fromarray(PICTURE).quantize(16), "gif"),
    "webp": encoded(PICTURE, "webp", exif=exif(6)),
    "bmp": encoded(Image.fromarray(PICTURE).quantize(16), "bmp"),
    "tiff": encoded(PICTURE, "tiff", compression="tiff_lzw", exif=exif(6)[6:]),
    "tiff raw": encoded(PICTURE, "tiff"),
}


def opened_or_refused(path) -> str:
    """Return "opened", or the sentence of a refusal; other errors pass through."""
    try:
        pixels = open_image(path)
    except ImageError as error:
        refused = error
    else:
        assert pixels.dtype == np.uint8
        assert pixels.ndim == 3
        return "opened"
    assert refused.text.zh
    assert str(path.parent) not in str(refused)
    return str(refused)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_file_that_was_cut_off_is_refused(save, kind):
    data = SAMPLES[kind]
    for end in {1, 10, 20, 30, len(data) // 3, len(data) // 2, len(data) * 3 // 4}:
        assert opened_or_refused(save(data[:end])) != "opened", end


@pytest.mark.parametrize("kind", SAMPLES)
def test_any_damage_gives_a_picture_or_a_sentence(save, kind):
    random = np.random.default_rng(1)
    for _ in range(150):
        data = bytearray(SAMPLES[kind])
        for at in random.integers(0, len(data) if random.random() < 0.5 else 64, random.integers(1, 5)):
            data[at] = random.integers(0, 256)
        opened_or_refused(save(bytes(data)))


# ------------------------------------------------------------------------------------------------- warnings, globals

BROKEN_EXIF = b"Exif\0\0MM\0*" + struct.pack(">IHHHII", 8, 1, 282, 5, 1, 9999)
NOISY = {  # each makes Pillow warn when it opens the file itself
    "camera data": encoded(PICTURE, "jpeg", exif=BROKEN_EXIF),
    "apng": png(8, 8, grey_rows([[7] * 8] * 8, "B"), extra=chunk(b"acTL", bytes(8))),
    "tiff tag": tiff(10, 10, (305, 2, 400, 9999)),
    "bomb": png(10000, 10000),
}


@pytest.mark.parametrize("kind", NOISY)
def test_pillow_would_have_warned(kind):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Image.open(io.BytesIO(NOISY[kind])).close()
    assert seen


def test_no_warning_in_any_thread(save):
    paths = [save(data, f"{i}.png") for i, data in enumerate(NOISY.values())]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        outcomes = at_once(*(partial(opened_or_refused, path) for path in paths * 4))
    assert [str(warning.message) for warning in seen] == []
    assert outcomes.count("opened") == 12
    assert len(outcomes) == 16


def test_pillows_settings_stay_as_they_are(save):
    settings = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters))
    opened_or_refused(save(SAMPLES["jpeg"]))
    opened_or_refused(save(OVERSIZED["png"]))
    assert settings == (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters))


# ------------------------------------------------------------------------------------------------- hash


def test_the_hash_is_of_shape_and_bytes():
    assert image_hash(PICTURE) == hashlib.sha256(b"(12, 20, 3)" + PICTURE.tobytes()).hexdigest()
    assert image_hash(PICTURE) == image_hash(np.asfortranarray(PICTURE))
    assert image_hash(PICTURE) != image_hash(PICTURE.reshape(20, 12, 3))
    changed = PICTURE.copy()
    changed[-1, -1, -1] ^= 1
    assert image_hash(changed) != image_hash(PICTURE)


@pytest.mark.parametrize(("kind", "white"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_a_tiff_whose_white_is_zero_is_no_negative(kind, white, tmp_path):
    values = (np.linspace(0, 1, 32 * 32).reshape(32, 32) * white).astype(kind)
    Image.fromarray(values).save(tmp_path / "black.tif")
    data = bytearray((tmp_path / "black.tif").read_bytes())
    entry = data.index(struct.pack("<HHI", 262, 3, 1))
    struct.pack_into("<H", data, entry + 8, 0)
    (tmp_path / "white.tif").write_bytes(data)
    black, inverted = open_image(tmp_path / "black.tif"), open_image(tmp_path / "white.tif")
    np.testing.assert_array_equal(inverted, 255 - black)
    assert black[0, 0, 0] == 0
    with Image.open(tmp_path / "white.tif") as picture:
        np.testing.assert_array_equal(open_image(picture), inverted)


def test_a_png_says_the_way_up_behind_its_pixels_too(save):
    path = save(before_its_end(encoded(PICTURE), chunk(b"eXIf", exif(6).removeprefix(b"Exif\0\0"))))
    upright = open_image(path)
    assert upright.shape == (20, 12, 3)
    with Image.open(path) as picture:
        np.testing.assert_array_equal(open_image(picture), upright)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_shrinking_while_decoding_gives_the_same_picture(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    picture(1, 1203, 902).save(path, kind, quality=95)
    shrunk = open_shrunk(path, 100)
    assert (shrunk.width, shrunk.height, shrunk.pixels.shape) == (1203, 902, (100, 133, 3))
    whole = Image.fromarray(open_image(path)).resize((133, 100), Image.Resampling.BICUBIC)
    assert np.abs(shrunk.pixels.astype(int) - np.asarray(whole)).max() <= 6
    assert np.array_equal(open_shrunk(path, 5000).pixels, open_image(path))


def test_a_jpeg_is_shrunk_before_it_is_decoded(tmp_path, monkeypatch):
    picture(1, 1600, 1200).save(tmp_path / "a.jpg")
    sizes, really = [], Image.Image.resize

    def resize(self, size, *arguments, **options):
        sizes.append(self.size)
        return really(self, size, *arguments, **options)

    monkeypatch.setattr(Image.Image, "resize", resize)
    open_shrunk(tmp_path / "a.jpg", 140)
    assert sizes == [(200, 150)]
