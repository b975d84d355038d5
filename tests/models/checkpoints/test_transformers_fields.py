"""Fields of transformers' configurations: the model equals its library's, or the field is refused by name.

A field is set to an odd value, twice: in the model itself, which its library then saves, and in the configuration
alone, beside the tensors of the unchanged model. What the library itself cannot make or run is no case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers.libraries import first, logits
from tests.helpers.thorough import quick
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.checkpoints.transformers_fields import TRANSFORMERS
from vitexplorer.models.seeding import seeded

transformers = pytest.importorskip("transformers")
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}
PLAIN = {**TINY, "intermediate_size": 48, "num_labels": 3}
MLP = {**TINY, "mlp_ratio": 2}
WINDOWS = {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4, "num_labels": 3, "patch_size": 2}
WINDOWS |= {"image_size": 32}
STAGES = {"hidden_sizes": [8, 16], "depths": [1, 1], "num_attention_heads": [1, 2], "num_encoder_blocks": 2}
STAGES |= {"patch_sizes": [7, 3], "strides": [4, 2], "sr_ratios": [2, 1], "mlp_ratios": [2, 2], "num_labels": 3}
STAGES |= {"image_size": 56}
RELATIVE = {"use_relative_position_bias": True}


@dataclass(frozen=True)
class Subject:
    """Configuration with the model that is built from it."""

    model: str
    config: str
    options: dict[str, Any]
    says: Any
    part: str = ""

    def config_with(self, **changes: Any) -> Any:
        return getattr(transformers, self.config)(**{**self.options, **changes})

    def made(self, config: Any) -> nn.Module:
        draw = torch.Generator().manual_seed(0)
        with seeded(0), torch.no_grad():
            module = getattr(transformers, self.model)(config).eval()
            for parameter in module.parameters():
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=draw) + (parameter.ndim == 1))
        return module

    @torch.no_grad()
    def answer(self, module: nn.Module, images: Tensor) -> Tensor:
        return self.says((getattr(module, self.part) if self.part else module)(images, return_dict=True))


def pooled_or_mean(output: Any) -> Tensor:
    """Return the pooled output, or the mean over tokens: SigLIP without a head leaves pooling to its reader."""
    return output.last_hidden_state.mean(1) if output.pooler_output is None else output.pooler_output


SUBJECTS = {
    "vit": Subject("ViTForImageClassification", "ViTConfig", PLAIN, logits),
    "deit": Subject("DeiTForImageClassification", "DeiTConfig", PLAIN, logits),
    "beit": Subject("BeitForImageClassification", "BeitConfig", {**PLAIN, **RELATIVE}, logits),
    "data2vec": Subject("Data2VecVisionForImageClassification", "Data2VecVisionConfig", {**PLAIN, **RELATIVE}, logits),
    "dinov2": Subject("Dinov2Model", "Dinov2Config", MLP, first),
    "dinov2_registers": Subject("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", MLP, first),
    "dinov3": Subject("DINOv3ViTModel", "DINOv3ViTConfig", {**PLAIN, "num_register_tokens": 2}, first),
    "swin": Subject("SwinForImageClassification", "SwinConfig", WINDOWS, logits),
    "swinv2": Subject("Swinv2ForImageClassification", "Swinv2Config", WINDOWS, logits),
    "pvt_v2": Subject("PvtV2ForImageClassification", "PvtV2Config", STAGES, logits),
    "ijepa": Subject("IJepaForImageClassification", "IJepaConfig", PLAIN, logits),
    "msn": Subject("ViTMSNForImageClassification", "ViTMSNConfig", PLAIN, logits),
    "mae": Subject(
        "ViTMAEForPreTraining",
        "ViTMAEConfig",
        {**PLAIN, "decoder_hidden_size": 16, "decoder_num_attention_heads": 2, "decoder_num_hidden_layers": 1}
        | {"decoder_intermediate_size": 16, "mask_ratio": 0.0},
        lambda output: output.last_hidden_state[:, 0],
        "vit",
    ),
    "clip": Subject(
        "CLIPVisionModelWithProjection",
        "CLIPVisionConfig",
        {**PLAIN, "projection_dim": 8},
        lambda output: output.image_embeds,
    ),
    "siglip": Subject("SiglipVisionModel", "SiglipVisionConfig", PLAIN, pooled_or_mean),
}
ODD: dict[str, tuple[Any, ...]] = {
    "image_size": (40, [32, 48], 34),
    "patch_size": (4, [8, 8]),
    "hidden_act": ("relu", "gelu_new"),
    "layer_norm_eps": (0.3,),
    "rope_theta": (7.0,),
    "num_attention_heads": (2,),
    "num_hidden_layers": (1, 3),
    "head_dim": (8, 4),
    "mlp_ratio": (3, 1.5),
    "depths": ([1, 2], [1, 1, 1]),
    "num_heads": ([1, 2],),
    "window_size": (2, 8),
    "pretrained_window_sizes": ([3, 3],),
    "sr_ratios": ([2, 2], [1, 1]),
    "mlp_ratios": ([3, 3],),
    "hidden_sizes": ([8, 32],),
    "patch_sizes": ([5, 3],),
    "strides": ([2, 2], [4, 4]),
    "num_encoder_blocks": (1,),
    "num_channels": (4, 1),
    "id2label": ({0: "a", 1: "b"}, {0: "a", 1: "b", 2: "c"}),
    "pooler_act": ("relu",),
    "out_indices": ([0, 1],),
    "_out_features": (None,),
    "_out_indices": (None,),
    "mask_ratio": (0.0,),
    "label2id": ({"a": 0, "b": 1, "c": 2},),
    "pool_scales": ([1, 2, 3, 6],),
    "layer_scale_init_value": (0.3,),
    "use_absolute_embeddings": (False,),
    "architectures": (["Another"],),
    "transformers_version": ("1.0",),
    "problem_type": ("regression",),
    "dtype": ("float16",),
}
"""Odd values of fields that cannot be made from their default"""
IN_STAGES = {"num_attention_heads": ([2, 4],)}


def odd_values(subject: Subject, name: str, default: Any) -> tuple[Any, ...]:
    """Yield odd values for a field."""
    if isinstance(subject.options.get(name), list) and name in IN_STAGES:
        return IN_STAGES[name]
    if name in ODD:
        return ODD[name]
    if isinstance(default, bool):
        return (not default,)
    if isinstance(default, int):
        return (default + 8,)
    return (0.25 if isinstance(default, float) else 8,)


def cases(key: str) -> Iterator[tuple[str, Any]]:
    subject = SUBJECTS[key]
    config = subject.config_with()
    values = config.to_dict()
    for name in sorted({*(field.name for field in fields(config)), "head_dim"}):
        for value in odd_values(subject, name, values.get(name)):
            yield name, value


def noise(size: Any) -> Tensor:
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(1))


def check(subject: Subject, module: nn.Module, folder: Path, field: str) -> str:
    """Return the result of opening a folder: `module` equal to our model, or a refusal that names the field."""
    try:
        model = vx.load_model(folder, device="cpu")
    except WeightsError as error:
        return "refused" if field in str(error) else f"refused, but not by name: {error}"
    images = noise(model.preprocessing.input_size)
    with torch.no_grad():
        answer = model.module(images)
    torch.testing.assert_close(answer, subject.answer(module, images), rtol=1e-4, atol=1e-4)
    return "same"


def in_the_model(subject: Subject, name: str, value: Any, folder: Path) -> str:
    """Set a field in a model, which its library saves."""
    try:
        config = subject.config_with(**{name: value})
        module = subject.made(config)
        subject.answer(module, noise(config.image_size))
        module.save_pretrained(folder)
    except Exception as error:  # whatever the library meets its own configuration with
        return f"no case: {error}"
    return check(subject, module, folder, name)


def beside_it(subject: Subject, name: str, value: Any, folder: Path, module: nn.Module) -> str:
    """Set a field in the configuration beside the tensors of the unchanged model, which may not fit it."""
    config = json.loads((folder / "base.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, name: value}), encoding="utf-8")
    try:
        other = subject.made(subject.config_with(**{name: value}))
        subject.answer(other, noise(other.config.image_size))
    except Exception as error:
        return f"no case: {error}"
    if name in TRANSFORMERS.idle:
        return check(subject, module, folder, name)
    try:
        other.load_state_dict(module.state_dict())
    except RuntimeError:
        with pytest.raises(WeightsError, match=name):
            vx.load_model(folder)
        return "refused"
    return check(subject, other, folder, name)


QUICK = ["vit", "beit", "dinov3", "swin", "pvt_v2", "clip"]
RIGHT = {"same", "refused"}


@pytest.mark.parametrize("key", quick(SUBJECTS, QUICK))
def test_every_field_is_followed_or_refused(key: str, tmp_path: Path) -> None:
    subject, failures = SUBJECTS[key], []
    base = tmp_path / "base"
    module = subject.made(subject.config_with())
    module.save_pretrained(base)
    (base / "config.json").rename(base / "base.json")
    for number, (name, value) in enumerate(cases(key)):
        is_idle, came = name in TRANSFORMERS.idle, []
        try:
            came.append(beside_it(subject, name, value, base, module))
            if not is_idle:
                came.append(in_the_model(subject, name, value, tmp_path / str(number)))
        except (Exception, pytest.fail.Exception) as error:
            came.append(f"{type(error).__name__}: {error}"[:300])
        wrong = {one for one in came if not one.startswith("no case") and one not in ({"same"} if is_idle else RIGHT)}
        failures += [f"{name} = {value}: {one}" for one in wrong]
    assert not failures, "\n".join(failures)


def test_a_file_whose_last_block_was_cut_away_is_refused(tmp_path: Path) -> None:
    module = SUBJECTS["vit"].made(SUBJECTS["vit"].config_with())
    module.save_pretrained(tmp_path)
    tensors = safetensors.torch.load_file(tmp_path / "model.safetensors")
    remaining = {name: tensor for name, tensor in tensors.items() if ".layer.1." not in name}
    assert len(remaining) < len(tensors)
    safetensors.torch.save_file(remaining, tmp_path / "model.safetensors")
    with pytest.raises(
        WeightsError, match=r"config\.json says num_hidden_layers = 2; expected 1, as the file's tensors"
    ):
        vx.load_model(tmp_path)


def test_an_unknown_field_is_reported(tmp_path: Path) -> None:
    SUBJECTS["vit"].made(SUBJECTS["vit"].config_with()).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "new_scale": 2.0, "new_switch": False, "new_list": []}))
    notes = [note.en for note in vx.load_model(tmp_path).notes]
    assert "config.json has unknown fields, which were ignored: new_scale." in notes
