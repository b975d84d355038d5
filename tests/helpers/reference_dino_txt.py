"""Slow twin of dino.txt, written from arXiv 2412.16334 and 2508.10104: float64, head by head, token by token."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tests.helpers.small_dino_txt import GRID, HEADS, PATCH, REGISTERS, TEXT_HEADS, Files, Tensors


class Twin:
    """The model of some files on one normalised picture, (3, height, width)."""

    def __init__(self, files: Files, pixels: Tensor):
        self.files = files
        backbone, head = ({name: t.double() for name, t in part.items()} for part in (files.backbone, files.head))
        eps = 1e-6 if files.release == "dinov2" else 1e-5
        turned = angles() if files.release == "dinov3" else None
        stream = self._embedded(backbone, pixels.double())
        for number in range(_count(backbone, "blocks")):
            stream = block(backbone, f"blocks.{number}", stream, HEADS, eps, turned)
        self.of_backbone = norm(backbone, "norm", stream, eps)
        stream = self.of_backbone
        for number in range(_count(head, "block_list")):
            stream = block(head, f"block_list.{number}", stream, HEADS, 1e-5)
        stream = norm(head, "ln_final", stream, 1e-5)
        self.tokens = stream @ head["linear_projection.weight"].T if "linear_projection.weight" in head else stream
        self.patches = self.tokens[1 + REGISTERS :]
        vector = torch.cat([self.tokens[0], sum(self.patches) / len(self.patches)])
        self.vector = vector / vector.norm()

    def _embedded(self, tensors: Tensors, pixels: Tensor) -> Tensor:
        side, kernel = PATCH[self.files.release], tensors["patch_embed.proj.weight"].flatten(1)
        cut = [
            pixels[:, row * side : (row + 1) * side, col * side : (col + 1) * side].flatten()
            for row in range(GRID)
            for col in range(GRID)
        ]
        patches = torch.stack(cut) @ kernel.T + tensors["patch_embed.proj.bias"]
        first = tensors["cls_token"][0]
        if self.files.release == "dinov2":
            places = tensors["pos_embed"][0]
            return torch.cat([first + places[:1], tensors["register_tokens"][0], patches + places[1:]])
        return torch.cat([first, tensors["storage_tokens"][0], patches])

    def cosine_map(self, half: Tensor) -> Tensor:
        """Return the cosine of each patch and half a text's vector, (rows, cols)."""
        cosines = [float(patch @ half / patch.norm() / half.norm()) for patch in self.patches]
        return torch.tensor(cosines).reshape(GRID, GRID)


def text_vector(files: Files, tokens: list[int]) -> Tensor:
    """Return the unit vector of a text's tokens, its end included and nothing after it."""
    tensors = {name: tensor.double() for name, tensor in files.texts.items()}
    stream = (
        tensors["backbone.token_embedding.weight"][tokens] + tensors["backbone.positional_embedding"][: len(tokens)]
    )
    for number in range(_count(tensors, "backbone.blocks")):
        name = f"backbone.blocks.{number}"
        normed = norm(tensors, f"{name}.attention_norm", stream, 1e-5)
        stream = stream + attention(tensors, f"{name}.attention", normed, TEXT_HEADS, causal=True)
        normed = norm(tensors, f"{name}.ffn_norm", stream, 1e-5)
        hidden = gelu(linear(tensors, f"{name}.feed_forward.fc1", normed))
        stream = stream + linear(tensors, f"{name}.feed_forward.fc2", hidden)
    end = norm(tensors, "backbone.ln_final", stream, 1e-5)[-1]
    vector = tensors["head.linear_projection.weight"] @ end
    return vector / vector.norm()


def block(tensors: Tensors, name: str, stream: Tensor, heads: int, eps: float, turned: Tensor | None = None) -> Tensor:
    """Return the stream after a block: attention, then an MLP, each with its norm before and its scale after it."""
    normed = norm(tensors, f"{name}.norm1", stream, eps)
    added = attention(tensors, f"{name}.attn", normed, heads, turned)
    stream = stream + tensors[f"{name}.ls1.gamma"] * added
    normed = norm(tensors, f"{name}.norm2", stream, eps)
    if f"{name}.mlp.w1.weight" in tensors:
        gate = linear(tensors, f"{name}.mlp.w1", normed)
        hidden = gate * torch.sigmoid(gate) * linear(tensors, f"{name}.mlp.w2", normed)
        added = linear(tensors, f"{name}.mlp.w3", hidden)
    else:
        added = linear(tensors, f"{name}.mlp.fc2", gelu(linear(tensors, f"{name}.mlp.fc1", normed)))
    return stream + tensors[f"{name}.ls2.gamma"] * added


def attention(
    tensors: Tensors, name: str, tokens: Tensor, heads: int, turned: Tensor | None = None, causal: bool = False
) -> Tensor:
    """Return what the attention adds, for each head and query on its own."""
    weight, bias = tensors[f"{name}.qkv.weight"], tensors.get(f"{name}.qkv.bias")
    if bias is not None and turned is not None:  # DINOv3 masks the bias of the keys
        bias = torch.cat([part * factor for part, factor in zip(bias.chunk(3), (1, 0, 1), strict=True)])
    projected = tokens @ weight.T + (0 if bias is None else bias)
    width = tokens.shape[1] // heads
    outputs = []
    for head in range(heads):
        query, key, value = (part[:, head * width : (head + 1) * width] for part in projected.chunk(3, -1))
        if turned is not None:
            query, key = (rotated(part, turned) for part in (query, key))
        rows = []
        for at in range(len(tokens)):
            seen = at + 1 if causal else len(tokens)
            scores = torch.stack([query[at] @ key[other] for other in range(seen)]) / math.sqrt(width)
            shares = torch.exp(scores - scores.max())
            rows.append((shares / shares.sum()) @ value[:seen])
        outputs.append(torch.stack(rows))
    return linear(tensors, f"{name}.proj", torch.cat(outputs, -1))


def angles() -> Tensor:
    """Return DINOv3's angles of each patch, (patches, half a head): places in -1 to 1, periods from 1 to 100."""
    quarter = 128 // HEADS // 4
    periods = [100.0 ** (2 * n / (2 * quarter)) for n in range(quarter)]
    rows = []
    for row in range(GRID):
        for col in range(GRID):
            places = (2 * (row + 0.5) / GRID - 1, 2 * (col + 0.5) / GRID - 1)
            rows.append([2 * math.pi * place / period for place in places for period in periods])
    return torch.tensor(rows, dtype=torch.float64)


def rotated(vectors: Tensor, turned: Tensor) -> Tensor:
    """Turn each pair (i, i + half a head) of the patches' numbers; prefix tokens stay."""
    patches = vectors[1 + REGISTERS :]
    half = patches.shape[1] // 2
    first, second = patches[:, :half], patches[:, half:]
    cos, sin = torch.cos(turned), torch.sin(turned)
    moved = torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
    return torch.cat([vectors[: 1 + REGISTERS], moved])


def norm(tensors: Tensors, name: str, tokens: Tensor, eps: float) -> Tensor:
    rows = [(token - token.mean()) / torch.sqrt(((token - token.mean()) ** 2).mean() + eps) for token in tokens]
    return torch.stack(rows) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def linear(tensors: Tensors, name: str, tokens: Tensor) -> Tensor:
    return tokens @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def gelu(numbers: Tensor) -> Tensor:
    return numbers * (1 + torch.erf(numbers / math.sqrt(2))) / 2


def _count(tensors: Tensors, blocks: str) -> int:
    return len({name.removeprefix(f"{blocks}.").split(".")[0] for name in tensors if name.startswith(f"{blocks}.")})
