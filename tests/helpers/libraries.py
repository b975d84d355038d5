"""Small models of other libraries, made and saved by the libraries, with their outputs and attention."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from timm.models import VisionTransformer
from torch import Tensor, nn

from vitexplorer.models.seeding import seeded

WIDE = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 3, "image_size": 64, "patch_size": 16}
PLAIN = {**WIDE, "intermediate_size": 96}
WINDOWS = {"image_size": 64, "embed_dim": 16, "depths": [2, 2, 2], "num_heads": [1, 2, 4], "window_size": 4}
DECODER = {
    "decoder_hidden_size": 32,
    "decoder_num_attention_heads": 2,
    "decoder_num_hidden_layers": 1,
    "decoder_intermediate_size": 64,
}
WORDS = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
WORDS |= {"vocab_size": 20, "bos_token_id": 0, "eos_token_id": 1}
STAGES = {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 2, 1], "num_attention_heads": [1, 2, 3, 4]}
NAFLEX = {**{name: size for name, size in PLAIN.items() if name != "image_size"}, "num_patches": 16}
LABELS = {0: "cat", 1: "dog", 2: "fox", 3: "owl", 4: "bee"}


@dataclass(frozen=True)
class Case:
    """Architecture of a library."""

    library: str
    make: Callable[[Any], nn.Module]
    """Makes the module from the imported library"""
    says: Callable[[nn.Module, Tensor], Tensor]
    """Returns logits, or the feature that a head would read"""
    looks: Callable[[nn.Module, Tensor], Sequence[Tensor]] | None = None
    """Returns the attention of its layers; None if the library does not provide it"""
    tensors_left_out: int = 0


def hugging(
    model: str, config: str, options: dict[str, Any], says: Callable[[Any], Tensor], part: str = "", **known: Any
) -> Case:
    """Make a case of transformers; `part` is the submodule to call if the whole model needs more inputs."""

    def inner(module: nn.Module) -> nn.Module:
        return getattr(module, part) if part else module

    def look(module: nn.Module, images: Tensor) -> Sequence[Tensor]:
        module.set_attn_implementation("eager")
        seen = inner(module)(images, output_attentions=True).attentions
        module.set_attn_implementation("sdpa")
        return [one for stage in seen for one in (stage if isinstance(stage, tuple) else (stage,))]

    return Case(
        "transformers",
        lambda library: getattr(library, model)(getattr(library, config)(**options)),
        lambda module, images: says(inner(module)(images)),
        look,
        **known,
    )


def classifier(name: str, **options: Any) -> Case:
    """Make the case of an image classifier of transformers, with five classes."""
    return hugging(f"{name}ForImageClassification", f"{name}Config", {**options, "num_labels": 5}, logits)


def dinov3(**options: Any) -> Case:
    """Make a case of DINOv3, whose mask token is left out."""
    return hugging("DINOv3ViTModel", "DINOv3ViTConfig", {**PLAIN, **options}, first, tensors_left_out=1)


def alone(make: Callable[[Any], nn.Module], library: str = "open_clip", **known: Any) -> Case:
    """Make a case whose output is one tensor; for CLIP its image tower."""

    def say(module: nn.Module, images: Tensor) -> Tensor:
        return module.encode_image(images) if hasattr(module, "encode_image") else module(images)

    return Case(library, make, say, **known)


def logits(output: Any) -> Tensor:
    return output.logits


def first(output: Any) -> Tensor:
    return output.last_hidden_state[:, 0]


def pooled(output: Any) -> Tensor:
    return output.pooler_output


def in_patches(images: Tensor) -> dict[str, Tensor]:
    """Cut images into patches as NaFlex's image processor does: row by row, channels last."""
    patches = images.unfold(2, 16, 16).unfold(3, 16, 16).permute(0, 2, 3, 4, 5, 1)
    rows, cols = patches.shape[1:3]
    return {
        "pixel_values": patches.flatten(3).flatten(1, 2),
        "pixel_attention_mask": torch.ones(len(images), rows * cols, dtype=torch.long),
        "spatial_shapes": torch.tensor([[rows, cols]] * len(images)),
    }


CASES = {
    "vit": hugging("ViTForImageClassification", "ViTConfig", {**PLAIN, "id2label": LABELS}, logits),
    "vit_bare": hugging("ViTModel", "ViTConfig", PLAIN, first, tensors_left_out=2),
    "deit": classifier("DeiT", **PLAIN),
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
    "dinov3": dinov3(num_register_tokens=4),
    "dinov3_gated": dinov3(num_register_tokens=4, use_gated_mlp=True, hidden_act="silu"),
    "dinov3_all_biases": dinov3(num_register_tokens=4, key_bias=True, query_bias=False),
    "dinov3_without_biases": dinov3(query_bias=False, value_bias=False, proj_bias=False, mlp_bias=False),
    "dinov3_gated_without_biases": dinov3(use_gated_mlp=True, hidden_act="mish", value_bias=False, mlp_bias=False),
    "beit": classifier("Beit", **PLAIN, use_relative_position_bias=True),
    "beit_shared": classifier("Beit", **PLAIN, use_shared_relative_position_bias=True),
    "beit_unscaled": classifier(
        "Beit", **PLAIN, use_relative_position_bias=True, layer_scale_init_value=0.0, hidden_act="relu"
    ),
    "swin": classifier("Swin", **WINDOWS),
    "swinv2": classifier("Swinv2", **WINDOWS),
    "clip": hugging(
        "CLIPVisionModelWithProjection", "CLIPVisionConfig", {**PLAIN, "projection_dim": 8}, lambda o: o.image_embeds
    ),
    "siglip": hugging("SiglipVisionModel", "SiglipVisionConfig", PLAIN, pooled),
    "beit_bare": hugging("BeitModel", "BeitConfig", {**PLAIN, "use_relative_position_bias": True}, pooled),
    "beit_absolute": classifier("Beit", **PLAIN, use_absolute_position_embeddings=True),
    "data2vec": classifier("Data2VecVision", **PLAIN, use_relative_position_bias=True, attn_implementation="eager"),
    "msn": classifier("ViTMSN", **PLAIN),
    "msn_bare": hugging("ViTMSNModel", "ViTMSNConfig", PLAIN, first),
    "ijepa": classifier("IJepa", **PLAIN),
    "ijepa_bare": hugging("IJepaModel", "IJepaConfig", PLAIN, lambda o: o.last_hidden_state.mean(1)),
    "vit_hidden_patches": hugging("ViTForMaskedImageModeling", "ViTConfig", PLAIN, first, "vit", tensors_left_out=3),
    "deit_bare": hugging("DeiTModel", "DeiTConfig", PLAIN, first, tensors_left_out=2),
    "dinov2_registers_classifier": hugging(
        "Dinov2WithRegistersForImageClassification",
        "Dinov2WithRegistersConfig",
        {**WIDE, "mlp_ratio": 2},
        first,
        "dinov2_with_registers",
        tensors_left_out=3,
    ),
    "dinov3_without_registers": dinov3(num_register_tokens=0),
    "swin_bare": hugging("SwinModel", "SwinConfig", WINDOWS, pooled),
    "swinv2_bare": hugging("Swinv2Model", "Swinv2Config", WINDOWS, pooled),
    "pvt_v2": classifier("PvtV2", **STAGES),
    "pvt_v2_linear": classifier("PvtV2", **STAGES, linear_attention=True),
    "pvt_v2_bare": hugging("PvtV2Model", "PvtV2Config", STAGES, lambda o: o.last_hidden_state.mean((2, 3))),
    "clip_bare": hugging("CLIPVisionModel", "CLIPVisionConfig", PLAIN, pooled),
    "clip_classifier": hugging(
        "CLIPForImageClassification",
        "CLIPConfig",
        {"vision_config": PLAIN, "num_labels": 5},
        logits,
        tensors_left_out=2,
    ),
    "clip_whole": replace(
        hugging(
            "CLIPModel",
            "CLIPConfig",
            {"vision_config": PLAIN, "text_config": WORDS, "projection_dim": 8},
            pooled,
            "vision_model",
            tensors_left_out=22,
        ),
        says=lambda module, images: module.visual_projection(module.vision_model(images).pooler_output),
    ),
    "metaclip2": hugging(
        "MetaClip2VisionModelWithProjection",
        "MetaClip2VisionConfig",
        {**PLAIN, "projection_dim": 8},
        lambda o: o.image_embeds,
    ),
    "chinese_clip": hugging("ChineseCLIPVisionModel", "ChineseCLIPVisionConfig", PLAIN, pooled),
    "altclip": hugging("AltCLIPVisionModel", "AltCLIPVisionConfig", PLAIN, pooled),
    "siglip_whole": hugging(
        "SiglipModel",
        "SiglipConfig",
        {"vision_config": PLAIN, "text_config": {**WORDS, "hidden_size": 48}},
        pooled,
        "vision_model",
        tensors_left_out=24,
    ),
    "siglip_classifier": hugging(
        "SiglipForImageClassification",
        "SiglipConfig",
        {"vision_config": PLAIN, "num_labels": 5},
        logits,
        tensors_left_out=11,
    ),
    "siglip2": hugging(
        "SiglipVisionModel",
        "SiglipVisionConfig",
        {**PLAIN, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6},
        pooled,
    ),
    "siglip2_naflex": replace(
        hugging("Siglip2VisionModel", "Siglip2VisionConfig", NAFLEX, pooled),
        says=lambda module, images: module(**in_patches(images)).pooler_output,
        looks=None,
    ),
    "segformer": classifier("Segformer", **STAGES, sr_ratios=[8, 4, 2, 1]),
    "segformer_pixels": hugging(
        "SegformerForSemanticSegmentation",
        "SegformerConfig",
        {**STAGES, "num_labels": 5, "decoder_hidden_size": 16},
        lambda output: output.last_hidden_state.mean((2, 3)),
        "segformer",
        tensors_left_out=16,
    ),
    "blip": replace(hugging("BlipVisionModel", "BlipVisionConfig", PLAIN, first), looks=None),
    "blip_whole": replace(
        hugging(
            "BlipForConditionalGeneration",
            "BlipConfig",
            {"vision_config": PLAIN, "text_config": {**WORDS, "encoder_hidden_size": 48}},
            first,
            "vision_model",
            tensors_left_out=35,
        ),
        looks=None,
    ),
    "torchvision_vit": alone(
        lambda library: library.VisionTransformer(64, 16, 3, 2, 128, 256, num_classes=5), "torchvision.models"
    ),
    "torchvision_swin": alone(
        lambda library: library.SwinTransformer([4, 4], 16, [2, 2], [1, 2], [4, 4], num_classes=5), "torchvision.models"
    ),
    "torchvision_swin_v2": alone(
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
        "torchvision.models",
    ),
    "open_clip": alone(lambda library: library.transformer.VisionTransformer(64, 16, 128, 3, 2, 2.0, output_dim=8)),
    "open_clip_no_first_norm": alone(
        lambda library: library.transformer.VisionTransformer(64, 16, 128, 3, 2, 2.0, output_dim=8, no_ln_pre=True)
    ),
    "open_clip_layer_scale": alone(
        lambda library: library.transformer.VisionTransformer(64, 16, 128, 3, 2, 2.0, output_dim=8, ls_init_value=0.5)
    ),
    "open_clip_whole": alone(
        lambda library: library.model.CLIP(
            8,
            library.model.CLIPVisionCfg(layers=3, width=128, head_width=64, patch_size=16, image_size=64),
            library.model.CLIPTextCfg(context_length=8, vocab_size=20, width=16, heads=1, layers=1),
        ),
        tensors_left_out=18,
    ),
}


def made(key: str) -> nn.Module:
    """Make the library's module with seeded weights, none at its constant initial value."""
    case = CASES[key]
    library = pytest.importorskip(case.library)
    with seeded(0), torch.no_grad():
        module = case.make(library).eval()
        for parameter in module.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    return module


def saved(module: nn.Module, folder: Path, **how: Any) -> Path:
    """Save a module as its library does: a folder of transformers, a state dict of the others."""
    if hasattr(module, "save_pretrained"):
        module.save_pretrained(folder, **how)
        return folder
    torch.save(module.state_dict(), folder / "model.pth")
    return folder / "model.pth"


def small_vit() -> nn.Module:
    """Make a small timm ViT, for tests without another library."""
    with seeded(0):
        return VisionTransformer(img_size=64, embed_dim=64, depth=2, num_heads=1, num_classes=5)


def in_parts(module: nn.Module, folder: Path) -> Path:
    """Save a state dict in two files with an index, as transformers saves large models."""
    tensors = module.state_dict()
    names, places = sorted(tensors), {}
    for number, held in enumerate((names[:9], names[9:]), 1):
        part = f"model-0000{number}-of-00002.safetensors"
        safetensors.torch.save_file({name: tensors[name] for name in held}, folder / part)
        places |= dict.fromkeys(held, part)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return folder
