"""Slow twins of class-specific relevance, written from the papers with loops and float64.

Nothing here looks at the package. `differentiate` runs a copy of the module in float64 with its fused attention off,
so that the attention stands in the graph and its gradient is asked for by name; the package takes another way.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from tests.helpers.unfused_attention import blocks_of, with_fused_attention

# ------------------------------------------------------------------------------------------------ gradients


@dataclass(frozen=True)
class Differentiated:
    """Derivatives of one class's logit by block, all float64."""

    attention: list[np.ndarray]
    """(windows, heads, T, T)"""
    attention_gradient: list[np.ndarray]
    norm: list[np.ndarray]
    """Outputs of the blocks' first norms, (1, ..., dim)"""
    norm_gradient: list[np.ndarray]
    own_gradient: list[np.ndarray]
    """Gradient of the block's own score (LeGrad) by its attention; empty if the token width changes later"""
    image: np.ndarray
    """(channels, height, width) normalised"""
    image_gradient: np.ndarray


def in_float64(module: nn.Module) -> nn.Module:
    """Copy the module in float64."""
    return copy.deepcopy(module).double()


def differentiate(module: nn.Module, image: Tensor, target: int) -> Differentiated:
    """Run an unfused float64 copy forward and differentiate the logit, and each block's own score, with autograd."""
    twin = with_fused_attention(module, False).double()
    attention, norms, leaving = [], [], []
    for block in blocks_of(twin):
        part = getattr(block, "attn", block)
        part.attn_drop.register_forward_pre_hook(lambda _, inputs: attention.append(inputs[0]))
        first = block.norm1 if hasattr(block, "norm1") else block.in_norm
        first.register_forward_hook(lambda _, inputs, output: norms.append(output))
        block.register_forward_hook(lambda _, inputs, output: leaving.append(output))
    given = image.double().requires_grad_()
    logit = twin(given)[0, target]
    asked = [*attention, *norms, given]
    found = torch.autograd.grad(logit, asked, retain_graph=True, allow_unused=True, materialize_grads=True)
    own = []
    if hasattr(twin, "blocks"):
        for weights, tokens in zip(attention, leaving, strict=True):
            score = twin.head(twin.fc_norm(twin.norm(tokens.mean(1, keepdim=True))))[0, 0, target]
            own += torch.autograd.grad(score, weights, retain_graph=True, allow_unused=True, materialize_grads=True)
    depth = len(attention)
    return Differentiated(
        attention=[a.detach().numpy() for a in attention],
        attention_gradient=[g.numpy() for g in found[:depth]],
        norm=[n.detach().numpy() for n in norms],
        norm_gradient=[g.numpy() for g in found[depth:-1]],
        own_gradient=[g.numpy() for g in own],
        image=given.detach().numpy()[0],
        image_gradient=found[-1].numpy()[0],
    )


# ------------------------------------------------------------------------------------------------ attention


def positive_product(A: np.ndarray, dA: np.ndarray) -> np.ndarray:
    """Compute the mean over heads of relu(dA * A), (heads, N, N) -> (N, N)."""
    heads, queries, keys = A.shape
    E = np.zeros((queries, keys))
    for h in range(heads):
        for i in range(queries):
            for j in range(keys):
                E[i, j] += max(0.0, float(dA[h, i, j]) * float(A[h, i, j])) / heads
    return E


def generic_relevance(matrices: list[np.ndarray]) -> np.ndarray:
    """Compute R = I, then R <- R + E R: Chefer et al. 2021, arXiv 2103.15679, equations 5 and 6."""
    R = np.eye(len(matrices[0]))
    for E in matrices:
        R = R + E @ R
    return R


def row_of(R: np.ndarray, num_prefix: int, reads_class_token: bool) -> np.ndarray:
    """Return the class token's row, or the mean of the patches' rows."""
    return R[0] if reads_class_token else R[num_prefix:].mean(0)


def legrad(own_gradients: list[np.ndarray]) -> np.ndarray:
    """Compute the mean over blocks, heads and queries of relu(ds_l/dA_l), one number per key: arXiv 2404.03214."""
    keys = own_gradients[0].shape[-1]
    out = np.zeros(keys)
    for dA in own_gradients:
        _, heads, queries, _ = dA.shape
        for h in range(heads):
            for i in range(queries):
                for j in range(keys):
                    out[j] += max(0.0, float(dA[0, h, i, j])) / (heads * queries * len(own_gradients))
    return out


def grad_cam(activations: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Compute relu(sum over channels of the mean gradient times the activation): (patches, dim) -> (patches,)."""
    patches, channels = activations.shape
    out = np.zeros(patches)
    for c in range(channels):
        weight = sum(float(gradients[p, c]) for p in range(patches)) / patches
        for p in range(patches):
            out[p] += weight * float(activations[p, c])
    return np.maximum(out, 0)


# ------------------------------------------------------------------------------------------------ pixels


def patch_sums(pixels: np.ndarray, rows: int, cols: int, size: int) -> np.ndarray:
    """Sum (channels, height, width) over each patch, (rows, cols)."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            out[r, c] = pixels[:, r * size : (r + 1) * size, c * size : (c + 1) * size].sum()
    return out


def integrated_gradients(
    gradient: Callable[[np.ndarray], np.ndarray], image: np.ndarray, start: np.ndarray, steps: int
) -> np.ndarray:
    """Compute (image - start) times the gradient averaged on the line between them: arXiv 1703.01365, equation 1."""
    nodes, weights = np.polynomial.legendre.leggauss(steps)  # on -1 ... 1
    mean = np.zeros_like(image)
    for node, weight in zip(nodes, weights, strict=True):
        mean += weight / 2 * gradient(start + (node + 1) / 2 * (image - start))
    return (image - start) * mean


def blurred(image: np.ndarray, sigma: int) -> np.ndarray:
    """Blur (channels, height, width) by a Gaussian, three sigma to either side, mirrored at the edges."""
    reach = 3 * sigma
    kernel = np.array([np.exp(-0.5 * (d / sigma) ** 2) for d in range(-reach, reach + 1)])
    kernel /= kernel.sum()
    out = image.astype(float)
    for axis in (1, 2):
        widths = [(reach, reach) if a == axis else (0, 0) for a in range(3)]
        out = np.apply_along_axis(np.convolve, axis, np.pad(out, widths, mode="reflect"), kernel, mode="valid")
    return out


def covered(image: np.ndarray, other: np.ndarray, patches: Iterable[int], cols: int, size: int) -> np.ndarray:
    """Replace some patches of an image, numbered row by row, by those of another."""
    out = image.copy()
    for patch in patches:
        top, left = patch // cols * size, patch % cols * size
        out[:, top : top + size, left : left + size] = other[:, top : top + size, left : left + size]
    return out


# ------------------------------------------------------------------------------------------------ faithfulness


def curve(
    probability: Callable[[np.ndarray], float],
    image: np.ndarray,
    other: np.ndarray,
    order: list[int],
    counts: list[int],
    cols: int,
    size: int,
) -> list[float]:
    """Compute deletion: the probability of a class after replacing the first 0, ..., all patches of the order.

    Insertion is the same with exchanged images: `image` is then the blurred one and `other` the true one.
    """
    return [probability(covered(image, other, order[:count], cols, size)) for count in counts]


def area(values: list[float], shares: list[float]) -> float:
    """Compute the area under a curve by trapezoids."""
    return sum((shares[k + 1] - shares[k]) * (values[k + 1] + values[k]) / 2 for k in range(len(values) - 1))


# ------------------------------------------------------------------------------------------------ AttnLRP


def attn_lrp(module: nn.Module, image: Tensor, target: int) -> tuple[np.ndarray, dict[str, float]]:
    """Compute AttnLRP of a class token's logit in a plain timm ViT, rule by rule, without gradients (arXiv 2402.05602).

    Returns the relevance of every pixel (channels, height, width), and the relevance absorbed by parts: biases of
    linear maps and norms, softmax, prefix tokens and positions. The sum of everything is the logit.
    """
    net = in_float64(module)
    absorbed: dict[str, float] = {}

    def keep(name: str, value: float) -> None:
        absorbed[name] = absorbed.get(name, 0.0) + value

    def array(parameter: Tensor) -> np.ndarray:
        return parameter.detach().numpy()

    def through_linear(layer: nn.Module, x: np.ndarray, out: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Epsilon rule without its epsilon: R_i = sum_j x_i w_ji / z_j R_j; the bias keeps b_j / z_j R_j."""
        w, b = array(layer.weight), 0 if layer.bias is None else array(layer.bias)
        keep("bias", float((b / out * R).sum()))
        back = np.zeros_like(x)
        for token in range(len(x)):
            for i in range(x.shape[1]):
                back[token, i] = sum(x[token, i] * w[:, i] / out[token] * R[token])
        return back

    def through_norm(layer: nn.Module, x: np.ndarray, out: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Gain and bias by the epsilon rule, the division by the identity rule, the mean by the epsilon rule."""
        w, b = array(layer.weight), array(layer.bias)
        keep("bias", float((b / out * R).sum()))
        centred, dim = x - x.mean(1, keepdims=True), x.shape[1]
        share = (out - b) / out * R / centred
        return x * w / w * (share - share.sum(1, keepdims=True) / dim)

    def through_attention(q, k, v, bias, scale, R):
        """One head: R (tokens, dim) of O = softmax(s) v, s = scale q k + bias -> of q, k and v."""
        scores = scale * q @ k.T + bias
        A = np.exp(scores - scores.max(1, keepdims=True))
        A /= A.sum(1, keepdims=True)
        out, n = A @ v, len(q)
        of_A, of_v = np.zeros((n, n)), np.zeros_like(v)
        for i in range(n):
            for j in range(n):
                part = A[i, j] * v[j] / (2 * out[i]) * R[i]  # uniform rule: half to either side
                of_A[i, j] += part.sum()
                of_v[j] += part
        of_s = np.zeros((n, n))
        for i in range(n):
            of_s[i] = scores[i] * (of_A[i] - A[i] * of_A[i].sum())
        keep("softmax", float((of_A - of_s).sum()))
        of_q, of_k = np.zeros_like(q), np.zeros_like(k)
        for i in range(n):
            for j in range(n):
                part = scale * q[i] * k[j] / (2 * scores[i, j]) * of_s[i, j]
                of_q[i] += part
                of_k[j] += part
        return of_q, of_k, of_v

    with torch.no_grad():
        x = net._pos_embed(net.patch_embed(image.double()))
        steps = []
        for block in net.blocks:
            normed = block.norm1(x)
            qkv = block.attn.qkv(normed)
            mixed = block.attn(normed)
            mid = x + mixed
            normed2 = block.norm2(mid)
            hidden = block.mlp.fc1(normed2)
            active = block.mlp.act(hidden)
            out = block.mlp.fc2(active)
            steps.append([part[0].numpy() for part in (x, normed, qkv, mixed, mid, normed2, hidden, active, out)])
            x = mid + out
        last = net.norm(x)
        logits = net.head(last[:, 0])

    last, x = last[0].numpy(), x[0].numpy()
    R_out = np.zeros_like(logits.numpy())
    R_out[0, target] = float(logits[0, target])
    R = np.zeros_like(last)
    R[0] = through_linear(net.head, last[:1], logits.numpy(), R_out)[0]
    R = through_norm(net.norm, x, last, R)
    for block, (x, normed, qkv, mixed, mid, normed2, hidden, active, out) in reversed(
        list(zip(net.blocks, steps, strict=True))
    ):
        after = mid + out
        R_out, R = out / after * R, mid / after * R
        R_active = through_linear(block.mlp.fc2, active, out, R_out)
        R_mlp = through_linear(block.mlp.fc1, normed2, hidden, R_active)  # GELU: the identity rule
        R = R + through_norm(block.norm2, mid, normed2, R_mlp)
        R_mixed, R = mixed / mid * R, x / mid * R
        heads, n, dim = block.attn.num_heads, len(x), x.shape[1]
        q, k, v = qkv.reshape(n, 3, heads, -1).transpose(1, 2, 0, 3)
        product = np.zeros((n, heads, dim // heads))
        for h in range(heads):
            scores = q[h] @ k[h].T * block.attn.scale
            A = np.exp(scores - scores.max(1, keepdims=True))
            product[:, h] = A / A.sum(1, keepdims=True) @ v[h]
        R_product = through_linear(block.attn.proj, product.reshape(n, dim), mixed, R_mixed).reshape(product.shape)
        R_qkv = np.zeros((3, heads, n, dim // heads))
        for h in range(heads):
            R_qkv[:, h] = through_attention(q[h], k[h], v[h], 0, block.attn.scale, R_product[:, h])
        R_normed = through_linear(block.attn.qkv, normed, qkv, R_qkv.transpose(2, 0, 1, 3).reshape(n, 3 * dim))
        R = R + through_norm(block.norm1, x, normed, R_normed)
    keep("prefix", float(R[0].sum()))
    tokens = net.patch_embed(image.double())[0].detach().numpy()
    keep("positions", float((array(net.pos_embed)[0, 1:] / steps[0][0][1:] * R[1:]).sum()))
    R_tokens = tokens / steps[0][0][1:] * R[1:]
    conv, pixels = net.patch_embed.proj, image[0].double().numpy()
    keep("bias", float((array(conv.bias) / tokens * R_tokens).sum()))
    size, cols = conv.kernel_size[0], image.shape[-1] // conv.kernel_size[0]
    found = np.zeros_like(pixels)
    for patch in range(len(tokens)):
        top, left = patch // cols * size, patch % cols * size
        square = np.s_[:, top : top + size, left : left + size]
        weights = np.tensordot(R_tokens[patch] / tokens[patch], array(conv.weight), 1)
        found[square] = pixels[square] * weights
    return found, absorbed
