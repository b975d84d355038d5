"""Slow twin of the text maps: transformers' own CLIP, block by block, head by head, patch by patch, in float64."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor
from transformers import CLIPModel

from tests.helpers.small_texts import PATCH, SIDE

GRID = SIDE // PATCH


class Twin:
    """The image half of a CLIP on one image, with every number of every block."""

    def __init__(self, model: CLIPModel, pixels: Tensor):
        self.model = copy.deepcopy(model).double()
        self.model.set_attn_implementation("eager")
        self.layers = self.model.vision_model.encoder.layers
        self.whole = self.model.vision_model(pixels.double(), output_hidden_states=True, output_attentions=True)
        self.streams = [states[0] for states in self.whole.hidden_states]
        self.heads = self.layers[0].self_attn.num_heads
        self.dim = self.streams[0].shape[-1] // self.heads

    def parts(self, block: int) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return queries, keys and values of a block, (tokens, head dim) for each head."""
        attention, normed = self.layers[block].self_attn, self.layers[block].layer_norm1(self.streams[block])
        each = (attention.q_proj(normed), attention.k_proj(normed), attention.v_proj(normed))
        return tuple(list(part.split(self.dim, dim=-1)) for part in each)

    def out(self, block: int, heads: list[Tensor]) -> Tensor:
        return self.layers[block].self_attn.out_proj(torch.cat(heads, dim=-1))

    def mlp(self, block: int, tokens: Tensor) -> Tensor:
        return self.layers[block].mlp(self.layers[block].layer_norm2(tokens))

    def read(self, token: Tensor) -> Tensor:
        """Return a token in the joint space."""
        return self.model.visual_projection(self.model.vision_model.post_layernorm(token))


def softmax_rows(scores: Tensor) -> Tensor:
    rows = [torch.exp(row - row.max()) for row in scores]
    return torch.stack([row / row.sum() for row in rows])


def cosine(left: Tensor, right: Tensor) -> Tensor:
    return (left * right).sum() / left.norm() / right.norm()


def of_features(twin: Twin, tokens: Tensor, text: Tensor) -> np.ndarray:
    values = [float(cosine(twin.read(tokens[1 + patch]), text).detach()) for patch in range(GRID * GRID)]
    return np.array(values).reshape(GRID, GRID)


def feature_map(twin: Twin, method: str, text: Tensor) -> np.ndarray:
    """Compute the map of a method of features."""
    last = len(twin.layers) - 1
    stream, scale = twin.streams[last], twin.dim**-0.5
    query, key, value = twin.parts(last)
    heads = range(twin.heads)
    if method == "raw":
        return of_features(twin, twin.streams[-1], text)
    if method == "maskclip":
        z = stream + twin.out(last, value)
        return of_features(twin, z + twin.mlp(last, z), text)
    if method == "sclip":
        weights = [softmax_rows(query[h] @ query[h].T * scale) + softmax_rows(key[h] @ key[h].T * scale) for h in heads]
        z = stream + twin.out(last, [weights[h] @ value[h] for h in heads])
        return of_features(twin, z + twin.mlp(last, z), text)
    if method == "clearclip":
        out = twin.out(last, [softmax_rows(query[h] @ query[h].T * scale) @ value[h] for h in heads])
        return of_features(twin, out, text)
    if method == "naclip":
        nearness = torch.zeros(1 + GRID * GRID, 1 + GRID * GRID, dtype=torch.float64)
        for i in range(GRID * GRID):
            for j in range(GRID * GRID):
                squared = (i // GRID - j // GRID) ** 2 + (i % GRID - j % GRID) ** 2
                nearness[1 + i, 1 + j] = np.exp(-squared / (2 * 5.0**2))
        out = twin.out(last, [softmax_rows(key[h] @ key[h].T * scale + nearness) @ value[h] for h in heads])
        return of_features(twin, out, text)
    return of_features(twin, second_path(twin, method), text)


def second_path(twin: Twin, method: str) -> Tensor:
    """Return the tokens of the path of clip_surgery or gem, through the last six blocks."""
    first = max(0, len(twin.layers) - 6)
    path = twin.streams[first]
    for block in range(first, len(twin.layers)):
        query, key, value = twin.parts(block)
        mean_norm = sum(token.norm() for token in twin.streams[block]) / len(twin.streams[block])
        heads = []
        for h in range(twin.heads):
            if method == "clip_surgery":
                weights = softmax_rows(value[h] @ value[h].T * twin.dim**-0.5)
            else:
                weights = sum(iterated(part[h], mean_norm * twin.dim**-0.5) for part in (query, key, value)) / 3
            heads.append(weights @ value[h])
        path = path + twin.out(block, heads)
    return path


def iterated(vectors: Tensor, sharpness: Tensor) -> Tensor:
    unit = torch.stack([vector / vector.norm() for vector in vectors])
    mixed = softmax_rows(unit @ unit.T * sharpness) @ unit
    unit = torch.stack([vector / vector.norm() for vector in mixed])
    return softmax_rows(unit @ unit.T * sharpness)


def proxy_map(twin: Twin, features: Tensor, fine: int, text: Tensor) -> np.ndarray:
    """Compute ProxyCLIP's map with the patch features of another model, on a square grid of `fine` patches."""
    last = len(twin.layers) - 1
    unit = torch.stack([feature / feature.norm() for feature in features.double()])
    alike = unit @ unit.T
    scores = 3.0 * (alike - 1.2 * alike.mean())
    weights = torch.zeros_like(scores)
    for i, row in enumerate(scores):
        near = [(j, torch.exp(row[j])) for j in range(len(row)) if row[j] >= 0]
        for j, value in near:
            weights[i, j] = value / sum(other for _, other in near)
    heads = []
    for value in twin.parts(last)[2]:
        image = value[1:].T.reshape(1, -1, GRID, GRID)
        image = torch.nn.functional.interpolate(image, (fine, fine), mode="bilinear", align_corners=False)
        heads.append(weights @ image.reshape(-1, fine * fine).T)
    out = twin.out(last, heads)
    return np.array([float(cosine(twin.read(token), text).detach()) for token in out]).reshape(fine, fine)


def decomposition_map(twin: Twin, text: Tensor, others: list[Tensor]) -> np.ndarray:
    """Compute the shares of the patches in the class token's answer, with the final norm's divisor held."""
    norm, final = twin.model.vision_model.post_layernorm, twin.streams[-1][0]
    deviation = ((final - final.mean()).square().mean() + norm.eps).sqrt()

    def shares(vector: Tensor) -> np.ndarray:
        values = np.zeros(GRID * GRID)
        for block, layer in enumerate(twin.layers):
            attention, value = twin.whole.attentions[block][0], twin.parts(block)[2]
            matrix, bias = layer.self_attn.out_proj.weight, layer.self_attn.out_proj.bias
            for patch in range(GRID * GRID):
                for h in range(twin.heads):
                    columns = matrix[:, h * twin.dim : (h + 1) * twin.dim]
                    part = attention[h, 0, 1 + patch] * (columns @ value[h][1 + patch] + bias / twin.heads)
                    read = norm.weight * (part - part.mean()) / deviation
                    values[patch] += float((twin.model.visual_projection.weight @ read * vector).sum().detach())
        return values

    result = shares(text)
    if len(others) > 1:
        result = result - np.mean([shares(vector) for vector in others], axis=0)
    return result.reshape(GRID, GRID)


def gradient_map(twin: Twin, method: str, text: Tensor) -> np.ndarray:
    """Compute the map of bimodal, legrad or grad_eclip by autograd through whole attention matrices."""
    last = len(twin.layers) - 1
    if method == "bimodal":
        score = cosine(twin.read(twin.streams[-1][0]), text)
        weights = twin.whole.attentions[last]
        (slopes,) = torch.autograd.grad(score, weights, retain_graph=True)
        values = (slopes * weights).relu()[0].mean(0)[0, 1:]
    elif method == "legrad":
        values = torch.zeros(GRID * GRID, dtype=torch.float64)
        for block in (last - 1, last):
            score = cosine(twin.read(twin.whole.hidden_states[block + 1][0].mean(0)), text)
            (slopes,) = torch.autograd.grad(score, twin.whole.attentions[block], retain_graph=True)
            values += slopes.relu()[0].mean((0, 1))[1:]
    else:
        values = _grad_eclip(twin, last, text)
    return values.detach().numpy().reshape(GRID, GRID)


def _grad_eclip(twin: Twin, last: int, text: Tensor) -> Tensor:
    query, key, value = (torch.cat(part, dim=-1).detach() for part in twin.parts(last))
    attention = twin.whole.attentions[last][0].detach()
    heads = [attention[h] @ twin.parts(last)[2][h].detach() for h in range(twin.heads)]
    output = torch.cat(heads, dim=-1)[0].clone().requires_grad_()
    z = twin.streams[last][0].detach() + twin.layers[last].self_attn.out_proj(output)
    score = cosine(twin.read(z + twin.mlp(last, z)), text)
    (slopes,) = torch.autograd.grad(score, output)
    alike = torch.stack([cosine(query[0], key[1 + patch]) for patch in range(GRID * GRID)])
    nearness = (alike - alike.min()) / (alike.max() - alike.min())
    return ((value[1:] * slopes).sum(-1) * nearness).relu()
