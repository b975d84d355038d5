"""Preprocessing: equal to timm where timm defines it, by hand where we do."""

import inspect
import math

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_data_config

from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError
from vitexplorer.models.images import ImageError
from vitexplorer.models.preprocess import MAX_ASPECT, fit_image, normalise

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
SIZES = [(150, 230), (301, 199), (224, 224), (41, 33)]  # height, width


def noise(height, width):
    return np.random.default_rng(height * width).integers(0, 256, (height, width, 3), dtype=np.uint8)


def ours(pixels, config):
    names = ("interpolation", "crop_pct", "crop_mode", "mean")
    fitted = fit_image(
        pixels, input_size=config["input_size"][1:], fit="crop", **{name: config[name] for name in names}
    )
    return normalise(fitted.pixels, config["mean"], config["std"])


def timms(pixels, config):
    return create_transform(**config, is_training=False)(Image.fromarray(pixels))[None]


# ------------------------------------------------------------------------------------------------- crop: timm


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "name",
    [
        "vit_base_patch16_224.augreg2_in21k_ft_in1k",
        "vit_tiny_patch16_224.augreg_in21k_ft_in1k",
        "deit_tiny_distilled_patch16_224.fb_in1k",
        "swin_tiny_patch4_window7_224.ms_in1k",
        "vit_small_patch16_224.dino",
        "vit_small_patch14_reg4_dinov2.lvd142m",
        "vit_base_patch16_siglip_224.webli",
        "resnet50.tv_in1k",
        "convnext_base.fb_in22k_ft_in1k_384",
        "vit_base_patch16_sapiens2.fb",
        "deepseek_vit_412m.deepseek_v4_1_flash",
    ],
)
def test_crop_is_timms_transform_bit_for_bit(name, size):
    config = resolve_data_config(pretrained_cfg=timm.get_pretrained_cfg(name).to_dict())
    pixels = noise(*size)
    assert torch.equal(ours(pixels, config), timms(pixels, config))


def every_recipe():
    """Return (crop mode, crop_pct, interpolation) of all pretrained weights that timm knows."""
    configs = [
        resolve_data_config(pretrained_cfg=timm.get_pretrained_cfg(name).to_dict()) for name in timm.list_pretrained()
    ]
    return sorted({(config["crop_mode"], config["crop_pct"], config["interpolation"]) for config in configs})


@pytest.mark.parametrize("input_size", [(3, 48, 48), (3, 40, 64), (3, 64, 40)])
def test_every_recipe_that_timm_knows(input_size):
    recipes = every_recipe()
    assert {mode for mode, _, _ in recipes} == {"center", "squash", "border"}
    for crop_mode, crop_pct, interpolation in recipes:
        config = dict(
            crop_mode=crop_mode, crop_pct=crop_pct, interpolation=interpolation, input_size=input_size, **IMAGENET
        )
        for size in [(60, 90), (97, 50), (30, 31)]:
            assert torch.equal(ours(noise(*size), config), timms(noise(*size), config)), (config, size)


@pytest.mark.parametrize("crop_pct", [0.7, 0.875, 1.0, 1.15])
@pytest.mark.parametrize("crop_mode", ["center", "squash", "border"])
@pytest.mark.parametrize("size", [(100, 300), (303, 100), (150, 150)])
def test_the_box_holds_all_that_is_not_border(crop_mode, crop_pct, size):
    fitted = fit_image(
        np.full((*size, 3), 7, np.uint8),
        input_size=(64, 96),
        interpolation="bilinear",
        crop_mode=crop_mode,
        crop_pct=crop_pct,
        mean=(0, 0, 1),
    )
    assert fitted.pixels.shape == (64, 96, 3)
    left, top, right, bottom = fitted.content_box
    outside = np.ones((64, 96), bool)
    outside[top:bottom, left:right] = False
    assert (fitted.pixels[~outside] == 7).all()
    assert (fitted.pixels[outside] == ((0, 0, 255) if crop_mode == "border" else (0, 0, 0))).all()
    assert (right - left < 96 or bottom - top < 64) == outside.any()


# ------------------------------------------------------------------------------------------------- squash


def test_squash_leaves_a_picture_of_the_input_size_untouched():
    pixels = noise(224, 160)
    fitted = fit_image(pixels, input_size=(224, 160), fit="squash")
    assert np.array_equal(fitted.pixels, pixels)
    assert fitted.content_box == (0, 0, 160, 224)


@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
def test_squash_is_pillows_resize(interpolation):
    pixels = noise(50, 170)
    fitted = fit_image(pixels, input_size=(32, 48), fit="squash", interpolation=interpolation)
    resized = Image.fromarray(pixels).resize((48, 32), getattr(Image.Resampling, interpolation.upper()))
    assert np.array_equal(fitted.pixels, np.asarray(resized))
    assert fitted.content_box == (0, 0, 48, 32)


# ------------------------------------------------------------------------------------------------- pad


@pytest.mark.parametrize(
    ("size", "box"),  # by hand: the longer side fills the input, the rest is halved, the odd pixel goes to the end
    [
        ((100, 200), (0, 16, 64, 48)),
        ((200, 100), (16, 0, 48, 64)),
        ((50, 50), (0, 0, 64, 64)),
        ((64, 63), (0, 0, 63, 64)),
    ],
)
def test_pad_shows_the_whole_picture_centred_on_the_mean_colour(size, box):
    fitted = fit_image(
        np.full((*size, 3), 7, np.uint8), input_size=(64, 64), fit="pad", mean=(0.5, 0.25, 1.0), crop_pct=0.5
    )
    assert fitted.content_box == box
    expected = np.full((64, 64, 3), (128, 64, 255))
    expected[box[1] : box[3], box[0] : box[2]] = 7
    assert np.array_equal(fitted.pixels, expected)


def test_padding_is_about_zero_for_the_model():
    fitted = fit_image(noise(50, 100), input_size=(64, 64), fit="pad", mean=IMAGENET["mean"])
    assert normalise(fitted.pixels, **IMAGENET)[0, :, 0].abs().max() < 0.01


# ------------------------------------------------------------------------------------------------- native


@pytest.mark.parametrize(
    ("size", "multiple_of", "expected"),
    [
        ((224, 224), 16, (224, 224)),
        ((231, 233), 16, (224, 240)),  # 14.4 and 14.6 patches
        ((232, 248), 16, (240, 256)),  # a half goes up, also to an odd and to an even count
        ((8, 40), 14, (14, 42)),  # at least one patch
        ((100, 100), (32, 14), (96, 98)),
        ((2000, 1000), 16, (1440, 720)),  # by sqrt(1048576 / 2e6) to 1448.2 x 724.1, then down
        ((1025, 1025), 14, (1022, 1022)),
    ],
)
def test_native_sizes_by_hand(size, multiple_of, expected):
    fitted = fit_image(noise(*size), input_size=(1, 1), fit="native", multiple_of=multiple_of)
    assert fitted.pixels.shape == (*expected, 3)
    assert fitted.content_box == (0, 0, expected[1], expected[0])
    assert len(fitted.notes) == (math.prod(size) > 1024**2)


def test_native_leaves_whole_patches_untouched():
    pixels = noise(48, 80)
    assert np.array_equal(fit_image(pixels, input_size=(1, 1), fit="native", multiple_of=16).pixels, pixels)


def test_native_keeps_its_bounds_for_any_size():
    random = np.random.default_rng(0)
    for _ in range(200):
        short = int(random.integers(8, 150))
        size = (short, int(short * random.uniform(1, 8)))
        step, bound = int(random.choice([4, 8, 14, 16, 32])), int(random.integers(64**2, 200**2))
        fitted = fit_image(
            np.zeros((*size, 3), np.uint8), input_size=(1, 1), fit="native", multiple_of=step, max_pixels=bound
        )
        height, width = fitted.pixels.shape[:2]
        assert height % step == width % step == 0
        assert height * width <= bound
        shrink = min(1.0, math.sqrt(bound / math.prod(size)))
        assert all(abs(side - old * shrink) <= step for side, old in zip((height, width), size, strict=True))


def test_native_says_that_it_scaled_down():
    (note,) = fit_image(noise(90, 100), input_size=(1, 1), fit="native", multiple_of=8, max_pixels=2000).notes
    for text in note:
        assert "100 x 90" in text
        assert "40 x 40" in text
        assert "2000" in text


def test_native_is_refused_where_the_input_size_is_fixed():
    with pytest.raises(SettingError, match='"crop", "squash" or "pad"'):
        fit_image(noise(50, 50), input_size=(32, 32), fit="native")


# ------------------------------------------------------------------------------------------------- all


@pytest.mark.parametrize("fit", ["crop", "pad", "native"])
def test_a_thread_of_pixels_can_only_be_squashed(fit):
    thread, longest = np.zeros((8, 8 * MAX_ASPECT + 1, 3), np.uint8), np.zeros((8 * MAX_ASPECT, 8, 3), np.uint8)
    with pytest.raises(ImageError, match=r"401 x 8 pixels.*squash"):
        fit_image(thread, input_size=(32, 32), fit=fit, multiple_of=8)
    assert fit_image(longest, input_size=(32, 32), fit=fit, multiple_of=8).pixels.size
    assert fit_image(thread, input_size=(32, 32), fit="squash").pixels.shape == (32, 32, 3)


def test_an_unknown_fit_is_refused():
    with pytest.raises(UnknownNameError, match="squash"):
        inspect.unwrap(fit_image)(
            noise(50, 50), input_size=(32, 32), fit="squish"
        )  # without the type checks of the tests


@pytest.mark.parametrize("fit", ["crop", "squash", "pad", "native"])
def test_the_original_is_left_alone_and_the_result_is_plain(fit):
    pixels = noise(50, 70)
    before = pixels.copy()
    fitted = fit_image(pixels, input_size=(32, 48), fit=fit, multiple_of=8)
    assert fitted.pixels.dtype == np.uint8
    assert fitted.pixels.flags.c_contiguous
    assert np.array_equal(pixels, before)


def test_normalise_by_hand():
    pixels = noise(5, 7)
    tensor = normalise(pixels, **IMAGENET)
    assert tensor.shape == (1, 3, 5, 7)
    assert tensor.dtype == torch.float32
    for channel in range(3):
        by_hand = (pixels[..., channel] / 255 - IMAGENET["mean"][channel]) / IMAGENET["std"][channel]
        assert np.allclose(tensor[0, channel], by_hand, atol=1e-6)


def test_pixels_that_cannot_be_written_are_read_without_a_warning(recwarn):
    pixels = noise(5, 7)
    expected = normalise(pixels, **IMAGENET)
    pixels.flags.writeable = False
    assert torch.equal(normalise(pixels, **IMAGENET), expected)
    assert [str(warning.message) for warning in recwarn if "writable" in str(warning.message)] == []
