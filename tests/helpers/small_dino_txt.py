"""Small random files of dino.txt in a folder, with the names and parts of the releases for DINOv2 and DINOv3."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

Tensors = dict[str, Tensor]
Release = Literal["dinov2", "dinov3"]

WIDTH, HEADS, DEPTH, HEAD_DEPTH, REGISTERS = 128, 2, 3, 2, 4
PATCH: dict[Release, int] = {"dinov2": 14, "dinov3": 16}
GRID = 4
HIDDEN, HEAD_HIDDEN = 192, 160
CONTEXT, WORDS, TEXT_WIDTH, TEXT_HEADS, TEXT_DEPTH, TEXT_HIDDEN = 16, 49408, 128, 2, 2, 256
"""Sizes of the text encoder; its vocabulary is CLIP's"""
BACKBONES: dict[Release, str] = {
    "dinov2": "dinov2_vitl14_reg4_pretrain.pth",
    "dinov3": "dinov3_vitl16_pretrain_lvd1689m-8aa4cbdd.pth",
}
HEAD_FILES: dict[Release, str] = {
    "dinov2": "dinov2_vitl14_reg4_dinotxt_tet1280d20h24l_vision_head.pth",
    "dinov3": "dinov3_vitl16_dinotxt_vision_head_and_text_encoder-a442d8f5.pth",
}
TEXT_FILE = "dinov2_vitl14_reg4_dinotxt_tet1280d20h24l_text_encoder.pth"


class Files:
    """Tensors of one release, drawn so that nothing is zero or alike."""

    def __init__(self, release: Release, *, width: int = WIDTH, projection: int | None = None):
        self.release = release
        self.joint = 2 * (projection or width)
        self._draw = torch.Generator().manual_seed(5)
        self.backbone = self._backbone()
        self.head = self._head(width, projection)
        self.texts = self._texts()
        self.scale = torch.tensor([2.5])

    def save(self, folder: Path, *, backbone: bool = True, head: bool = True, texts: bool = True) -> Path:
        """Write the released files; DINOv3 has head and texts in one."""
        folder.mkdir(parents=True, exist_ok=True)
        if backbone:
            torch.save(self.backbone, folder / BACKBONES[self.release])
        if self.release == "dinov2":
            if head:
                torch.save(self.head, folder / HEAD_FILES["dinov2"])
            if texts:
                torch.save(self.texts, folder / TEXT_FILE)
        elif head or texts:
            torch.save(self._rest(head, texts), folder / HEAD_FILES["dinov3"])
        return folder

    def _rest(self, head: bool, texts: bool) -> Tensors:
        renamed = {name.replace("block_list.", "blocks."): tensor for name, tensor in self.head.items()}
        parts = _below("visual_model.head.", renamed) if head else {}
        return parts | (_below("text_model.", self.texts) if texts else {}) | {"logit_scale": self.scale}

    def whole(self) -> Tensors:
        """Return all tensors under the names of the whole model."""
        wrapper = "model." if self.release == "dinov2" else ""
        return _below(f"visual_model.backbone.{wrapper}", self.backbone) | self._rest(True, True)

    def _normal(self, *shape: int, size: float = 1.0) -> Tensor:
        return size * torch.randn(*shape, generator=self._draw)

    def _linear(self, name: str, out: int, read: int, bias: bool = True) -> Tensors:
        weight = {f"{name}.weight": self._normal(out, read, size=1.3 * read**-0.5)}
        return weight | ({f"{name}.bias": self._normal(out, size=0.2)} if bias else {})

    def _norm(self, name: str, width: int) -> Tensors:
        return {f"{name}.weight": 1 + self._normal(width, size=0.3), f"{name}.bias": self._normal(width, size=0.3)}

    def _block(self, name: str, width: int, bias: bool) -> Tensors:
        tensors = self._norm(f"{name}.norm1", width) | self._norm(f"{name}.norm2", width)
        tensors |= self._linear(f"{name}.attn.qkv", 3 * width, width, bias)
        tensors |= self._linear(f"{name}.attn.proj", width, width)
        return tensors | {f"{name}.ls{n}.gamma": 0.5 + self._normal(width, size=0.2) for n in (1, 2)}

    def _backbone(self) -> Tensors:
        patch = PATCH[self.release]
        tensors = {"cls_token": self._normal(1, 1, WIDTH), "mask_token": self._normal(1, WIDTH)}
        tensors |= {"patch_embed.proj.weight": self._normal(WIDTH, 3, patch, patch, size=0.05)}
        tensors |= {"patch_embed.proj.bias": self._normal(WIDTH, size=0.2)} | self._norm("norm", WIDTH)
        if self.release == "dinov2":
            tensors |= {"pos_embed": self._normal(1, 1 + GRID**2, WIDTH)}
            tensors |= {"register_tokens": self._normal(1, REGISTERS, WIDTH)}
        else:
            tensors |= {"storage_tokens": self._normal(1, REGISTERS, WIDTH), "rope_embed.periods": torch.ones(16)}
        for number in range(DEPTH):
            name = f"blocks.{number}"
            tensors |= self._block(name, WIDTH, True)
            tensors |= self._linear(f"{name}.mlp.fc1", HIDDEN, WIDTH) | self._linear(f"{name}.mlp.fc2", WIDTH, HIDDEN)
        return tensors

    def _head(self, width: int, projection: int | None) -> Tensors:
        tensors = self._norm("ln_final", width)
        for number in range(HEAD_DEPTH):
            name = f"block_list.{number}"
            tensors |= self._block(name, width, False) | self._linear(f"{name}.mlp.w1", HEAD_HIDDEN, width)
            tensors |= self._linear(f"{name}.mlp.w2", HEAD_HIDDEN, width)
            tensors |= self._linear(f"{name}.mlp.w3", width, HEAD_HIDDEN)
        return tensors | ({} if projection is None else self._linear("linear_projection", projection, width, False))

    def _texts(self) -> Tensors:
        tensors = {"backbone.token_embedding.weight": self._normal(WORDS, TEXT_WIDTH)}
        tensors |= {"backbone.positional_embedding": self._normal(CONTEXT, TEXT_WIDTH)}
        for number in range(TEXT_DEPTH):
            name = f"backbone.blocks.{number}"
            tensors |= self._norm(f"{name}.attention_norm", TEXT_WIDTH) | self._norm(f"{name}.ffn_norm", TEXT_WIDTH)
            tensors |= self._linear(f"{name}.attention.qkv", 3 * TEXT_WIDTH, TEXT_WIDTH, False)
            tensors |= self._linear(f"{name}.attention.proj", TEXT_WIDTH, TEXT_WIDTH)
            tensors |= self._linear(f"{name}.feed_forward.fc1", TEXT_HIDDEN, TEXT_WIDTH)
            tensors |= self._linear(f"{name}.feed_forward.fc2", TEXT_WIDTH, TEXT_HIDDEN)
        tensors |= self._norm("backbone.ln_final", TEXT_WIDTH)
        return tensors | self._linear("head.linear_projection", self.joint, TEXT_WIDTH, False)


def _below(beginning: str, tensors: Tensors) -> Tensors:
    return {f"{beginning}{name}": tensor for name, tensor in tensors.items()}
