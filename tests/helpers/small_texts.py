"""Small random models of images and texts in folders, as transformers and open_clip save them, tokenizer included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from torch import nn
from transformers import (
    CLIPConfig,
    CLIPModel,
    PreTrainedTokenizerFast,
    Siglip2Config,
    Siglip2Model,
    SiglipConfig,
    SiglipModel,
)

from vitexplorer.models.seeding import seeded

SIDE, PATCH, JOINT = 64, 16, 24
CONTEXT = 16
WORDS = (
    "[PAD]",
    "[UNK]",
    "[BOS]",
    "[EOS]",
    *["a", "an", "the", "photo", "of", "red", "blue", "gear", "cat", "object", "background"],
)
_VISION = {
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_attention_heads": 3,
    "image_size": SIDE,
    "patch_size": PATCH,
}
_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": len(WORDS),
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 0,
}


@torch.no_grad()
def _roughened(model: nn.Module) -> nn.Module:
    """Add noise to every parameter but scale and bias of the answers, so that nothing is zero or alike."""
    draw = torch.Generator().manual_seed(1)
    for name, parameter in model.named_parameters():
        if not name.startswith("logit_"):
            size = 0.6 * parameter[0].numel() ** -0.5 if parameter.ndim > 1 else 0.2
            parameter += size * torch.randn(parameter.shape, generator=draw)
    return model.eval()


def _save(kind: type, config: Any, folder: Path, *, tokenizer: bool = True) -> Any:
    """Make a model of transformers, save it with its tokenizer, and return it."""
    with seeded(0):
        model = _roughened(kind(config))
    model.save_pretrained(folder)
    if tokenizer:
        save_tokenizer(folder)
    return model


def save_tokenizer(folder: Path) -> None:
    """Save a tokenizer that knows `WORDS`; a text stands between its beginning and its end."""
    inner = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.pre_tokenizer = Whitespace()
    inner.post_processor = TemplateProcessing("[BOS] $A [EOS]", special_tokens=[("[BOS]", 2), ("[EOS]", 3)])
    fast = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]")
    fast.save_pretrained(folder)


def save_clip(folder: Path, *, blocks: int = 7, tokenizer: bool = True, **vision: Any) -> CLIPModel:
    """Save a CLIP of transformers; returns it."""
    config = CLIPConfig(
        text_config=_TEXT, vision_config={**_VISION, "num_hidden_layers": blocks, **vision}, projection_dim=JOINT
    )
    return _save(CLIPModel, config, folder, tokenizer=tokenizer)


def save_siglip(folder: Path) -> SiglipModel:
    """Save a SigLIP of transformers; returns it."""
    config = SiglipConfig(
        text_config={**_TEXT, "projection_size": 48}, vision_config={**_VISION, "num_hidden_layers": 3}
    )
    return _save(SiglipModel, config, folder)


def save_siglip_2(folder: Path) -> Siglip2Model:
    """Save a SigLIP 2 of transformers; returns it."""
    vision = {**_VISION, "num_hidden_layers": 3, "num_patches": (SIDE // PATCH) ** 2}
    config = Siglip2Config(text_config={**_TEXT, "projection_size": 48}, vision_config=vision)
    return _save(Siglip2Model, config, folder)


def save_open_clip(folder: Path, *, sigmoid: bool = False) -> CLIP | CustomTextCLIP:
    """Save a CLIP of open_clip, with a bias for a sigmoid if wanted; returns it."""
    vision = {"image_size": SIDE, "layers": 3, "width": 128, "patch_size": PATCH}
    text = {"context_length": CONTEXT, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2}
    biased = {"init_logit_bias": -10.0} if sigmoid else {}
    with seeded(0):
        model = _roughened(CLIP(JOINT, CLIPVisionCfg(**vision), CLIPTextCfg(**text), **biased))
    config = {"model_cfg": {"embed_dim": JOINT, "vision_cfg": vision, "text_cfg": text, **biased}}
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    return model


def open_clip_tokens(texts: list[str]) -> torch.Tensor:
    """Return the tokens of texts as open_clip's own tokenizer makes them for `CONTEXT`."""
    return open_clip.SimpleTokenizer(context_length=CONTEXT)(texts)
