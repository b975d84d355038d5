"""open_clip's vision configuration and image preparation: every field is followed, or refused by name."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import vitexplorer as vx
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.seeding import seeded

library = pytest.importorskip("open_clip")
VISION = {"layers": 2, "width": 32, "head_width": 8, "patch_size": 8, "image_size": 32, "mlp_ratio": 2.0}
WORDS = {"context_length": 8, "vocab_size": 20, "width": 16, "heads": 1, "layers": 1}
ODD = {
    "layers": (3,),
    "width": (40,),
    "head_width": (16,),
    "patch_size": (4,),
    "image_size": ([32, 64], 40, 36),
    "ls_init_value": (0.3,),
    "pos_embed_type": ("sin_cos_2d",),
    "pool_type": ("avg", "none"),
    "act_kwargs": ({"approximate": "tanh"},),
    "norm_kwargs": ({"eps": 0.3},),
    "block_type": ("default", "custom"),
}


def made(vision: dict[str, Any]) -> nn.Module:
    draw = torch.Generator().manual_seed(0)
    with seeded(0), torch.no_grad():
        module = library.model.CLIP(8, library.model.CLIPVisionCfg(**vision), library.model.CLIPTextCfg(**WORDS)).eval()
        for parameter in module.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=draw))
    return module


def saved(module: nn.Module, vision: dict[str, Any], folder: Path, **beside: Any) -> Path:
    folder.mkdir(exist_ok=True)
    torch.save(module.state_dict(), folder / "open_clip_pytorch_model.bin")
    config = {"model_cfg": {"embed_dim": 8, "vision_cfg": vision, "text_cfg": WORDS}, **beside}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def came_of(module: nn.Module, folder: Path, field: str) -> None:
    try:
        model = vx.load_model(folder, device="cpu")
    except WeightsError as error:
        if field not in str(error):
            raise
        return
    images = torch.randn(1, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        answer, expected = model.module(images), module.encode_image(images)
    expected = expected[0] if isinstance(expected, tuple) else expected  # the tokens stand beside it
    torch.testing.assert_close(answer, expected, rtol=1e-4, atol=1e-4)


NAMES = [field.name for field in fields(library.model.CLIPVisionCfg) if not field.name.startswith("timm")]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_followed_or_refused(name: str, tmp_path: Path) -> None:
    base, default = made(VISION), getattr(library.model.CLIPVisionCfg(), name)
    odd = (not default,) if isinstance(default, bool) else (default + 0.5 if isinstance(default, float) else 4,)
    for value in ODD.get(name, odd):
        vision = {**VISION, name: value}
        try:
            module = made({key: tuple(one) if isinstance(one, list) else one for key, one in vision.items()})
        except Exception:  # what the library itself does not make
            continue
        came_of(module, saved(module, vision, tmp_path / "whole"), name)
        folder = saved(base, vision, tmp_path / "beside")
        try:
            module.load_state_dict(base.state_dict())
        except RuntimeError:
            with pytest.raises(WeightsError, match=name):
                vx.load_model(folder)
        else:
            came_of(module, folder, name)


@pytest.mark.parametrize("mode", ["shortest", "longest", "squash"])
def test_images_are_prepared_as_open_clip_prepares_them(mode: str, tmp_path: Path) -> None:
    preprocessing = {"mean": [0.5, 0.4, 0.3], "std": [0.5, 0.6, 0.7], "interpolation": "bilinear", "resize_mode": mode}
    folder = saved(made(VISION), VISION, tmp_path, preprocess_cfg=preprocessing)
    pixels = np.random.default_rng(0).integers(0, 255, (45, 67, 3), dtype=np.uint8)
    model = vx.load_model(folder)
    assert any("Borders around an image" in note.en for note in model.notes) == (mode == "longest")
    ours = vx.capture(model, pixels).input.tensor[0]
    cfg = library.transform.PreprocessCfg(**{**preprocessing, "size": 32})
    theirs = library.transform.image_transform_v2(cfg, is_train=False)(Image.fromarray(pixels))
    rows = slice(None) if mode != "longest" else slice(6, 26)  # borders are the mean here, and black there
    torch.testing.assert_close(ours[:, rows], theirs[:, rows], rtol=1e-5, atol=1e-5)


def test_a_border_of_another_colour_is_refused(tmp_path: Path) -> None:
    preprocessing = {"resize_mode": "longest", "fill_color": 200}
    with pytest.raises(WeightsError, match="fill_color = 200"):
        vx.load_model(saved(made(VISION), VISION, tmp_path, preprocess_cfg=preprocessing))
