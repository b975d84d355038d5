"""Small models of other libraries, made and saved by these themselves, with what each says and looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

WIDE = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 3, "image_size": 64, "patch_size": 16}
PLAIN = {**WIDE, "intermediate_size": 96}
WINDOWS = {"image_size": 64, "embed_dim": 16, "depths": [2, 2, 2], "num_heads": [1, 2, 4], "window_size": 4}
DECODER = {
    "decoder_hidden_size": 32,
    "decoder_num_attention_heads": 2,
    "decoder_num_hidden_layers": 1,
    "decoder_intermediate_size": 64,
}
LABELS = {0: "cat", 1: "dog", 2: "fox", 3: "owl", 4: "bee"}


@dataclass(frozen=True)
class Case:
    """One architecture of one library."""

    library: str
    make: Callable[[Any], nn.Module]
    """from the library's module"""
    says: Callable[[nn.Module, Tensor], Tensor]
    """logits, or the feature that a head would read"""
    looks: Callable[[nn.Module, Tensor], Sequence[Tensor]] | None = None
    """eager attention of its layers; None where the library does not give it"""
    tensors_left_out: int = 0


def hugging(
    model: str,
    config: str,
    options: dict[str, Any],
    says: Callable[[Any], Tensor],
    part: str = "",
    **known: Any,
) -> Case:
    """A model of transformers; `part` is the submodule that is asked where the whole would ask for more."""

    def inner(module: nn.Module) -> nn.Module:
        return getattr(module, part) if part else module

    def look(module: nn.Module, images: Tensor) -> Sequence[Tensor]:
        module.set_attn_implementation("eager")
        seen = inner(module)(images, output_attentions=True).attentions
        module.set_attn_implementation("sdpa")
        return seen

    return Case(
        "transformers",
        lambda library: getattr(library, model)(getattr(library, config)(**options)),
        lambda module, images: says(inner(module)(images)),
        look,
        **known,
    )


def logits(output: Any) -> Tensor:
    return output.logits


def first(output: Any) -> Tensor:
    return output.last_hidden_state[:, 0]


CASES = {
    "vit": hugging("ViTForImageClassification", "ViTConfig", {**PLAIN, "id2label": LABELS}, logits),
    "vit_bare": hugging("ViTModel", "ViTConfig", PLAIN, first, tensors_left_out=2),
    "deit": hugging("DeiTForImageClassification", "DeiTConfig", {**PLAIN, "num_labels": 5}, logits),
    "deit_teacher": hugging("DeiTForImageClassificationWithTeacher", "DeiTConfig", {**PLAIN, "num_labels": 5}, logits),
    "mae": hugging(
        "ViTMAEForPreTraining",
        "ViTMAEConfig",
        {**PLAIN, **DECODER, "mask_ratio": 0.0},
        first,
        "vit",
        tensors_left_out=24,
    ),
    "dinov2": hugging("Dinov2Model", "Dinov2Config", {**WIDE, "mlp_ratio": 2}, first, tensors_left_out=1),
    "dinov2_classifier": hugging(
        "Dinov2ForImageClassification", "Dinov2Config", {**WIDE, "mlp_ratio": 2}, first, "dinov2", tensors_left_out=3
    ),
    "dinov2_swiglu": hugging(
        "Dinov2Model", "Dinov2Config", {**WIDE, "mlp_ratio": 2, "use_swiglu_ffn": True}, first, tensors_left_out=1
    ),
    "dinov2_registers": hugging(
        "Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", {**WIDE, "mlp_ratio": 2}, first, tensors_left_out=1
    ),
    "dinov3": hugging(
        "DINOv3ViTModel", "DINOv3ViTConfig", {**PLAIN, "num_register_tokens": 4}, first, tensors_left_out=1
    ),
    "dinov3_gated": hugging(
        "DINOv3ViTModel",
        "DINOv3ViTConfig",
        {**PLAIN, "num_register_tokens": 4, "use_gated_mlp": True, "hidden_act": "silu"},
        first,
        tensors_left_out=1,
    ),
    "beit": hugging(
        "BeitForImageClassification",
        "BeitConfig",
        {**PLAIN, "use_relative_position_bias": True, "num_labels": 5},
        logits,
    ),
    "beit_shared": hugging(
        "BeitForImageClassification",
        "BeitConfig",
        {**PLAIN, "use_shared_relative_position_bias": True, "num_labels": 5},
        logits,
    ),
    "swin": hugging("SwinForImageClassification", "SwinConfig", {**WINDOWS, "num_labels": 5}, logits),
    "swinv2": hugging("Swinv2ForImageClassification", "Swinv2Config", {**WINDOWS, "num_labels": 5}, logits),
    "clip": hugging(
        "CLIPVisionModelWithProjection", "CLIPVisionConfig", {**PLAIN, "projection_dim": 8}, lambda o: o.image_embeds
    ),
    "siglip": hugging("SiglipVisionModel", "SiglipVisionConfig", PLAIN, lambda o: o.pooler_output),
    "torchvision_vit": Case(
        "torchvision.models",
        lambda library: library.VisionTransformer(64, 16, 3, 2, 128, 256, num_classes=5),
        lambda module, images: module(images),
    ),
    "torchvision_swin": Case(
        "torchvision.models",
        lambda library: library.SwinTransformer([4, 4], 16, [2, 2], [1, 2], [4, 4], num_classes=5),
        lambda module, images: module(images),
    ),
    "torchvision_swin_v2": Case(
        "torchvision.models",
        lambda library: library.SwinTransformer(
            [4, 4],
            16,
            [2, 2],
            [1, 2],
            [8, 8],
            num_classes=5,
            block=library.swin_transformer.SwinTransformerBlockV2,
            downsample_layer=library.swin_transformer.PatchMergingV2,
        ),
        lambda module, images: module(images),
    ),
    "open_clip": Case(
        "open_clip",
        lambda library: library.transformer.VisionTransformer(64, 16, 128, 3, 2, 2.0, output_dim=8),
        lambda module, images: module(images),
    ),
}


def made(key: str) -> nn.Module:
    """The library's own module with seeded weights, none of them at the constant that it starts from."""
    case = CASES[key]
    library = pytest.importorskip(case.library)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        module = case.make(library).eval()
        for parameter in module.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    return module


def saved(module: nn.Module, folder: Path, **how: Any) -> Path:
    """As the library saves it: a folder of transformers, a state dict of the others."""
    if hasattr(module, "save_pretrained"):
        module.save_pretrained(folder, **how)
        return folder
    torch.save(module.state_dict(), folder / "model.pth")
    return folder / "model.pth"
