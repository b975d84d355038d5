"""Reading of a bundled model's folder: the network, an autoencoder's decoder, the figures."""

from __future__ import annotations

import json
from pathlib import Path

import timm
from safetensors.torch import load_file
from torch import nn

from training.recipe import Figures
from vitexplorer.models.mae import MaeDecoder, decoder_from

WEIGHTS, DECODER, CONFIG = "model.safetensors", "decoder.safetensors", "config.json"


def load(folder: Path) -> nn.Module:
    """Load the shipped module by plain timm, float32, in eval mode."""
    return timm.create_model(f"local-dir:{folder}", pretrained=True).eval()


def load_decoder(folder: Path, encoder: nn.Module) -> MaeDecoder | None:
    """Load the decoder beside the encoder; None if there is none."""
    file = Path(folder) / DECODER
    return decoder_from(load_file(file), encoder) if file.exists() else None


def stated(folder: Path) -> Figures:
    """Read the figures in the model's configuration."""
    return json.loads((Path(folder) / CONFIG).read_text(encoding="utf-8"))["figures"]
