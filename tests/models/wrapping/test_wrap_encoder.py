"""`nn.TransformerEncoder` wrapped, pre-norm and post-norm, both axis orders: every view against float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers import reference, reference_relevance
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import UnsupportedError
from vitexplorer.models.seeding import seeded
from vitexplorer.quantities.perturbation import baseline_image
from vitexplorer.views.activation_patching import middle_half

PICTURE = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
DIM, HEADS, DEPTH, SIDE, CLASSES, TARGET = 16, 2, 3, 4, 5, 2
CASES = [
    (norms, axes, holder) for norms in ("pre", "post") for axes in ("batch", "tokens") for holder in ("own", "list")
]


class Encoder(nn.Module):
    """Plain ViT of torch's own layers, with the class token first."""

    def __init__(self, norms: str, axes: str, holder: str):
        super().__init__()

        def layer() -> nn.Module:
            how = {"batch_first": axes == "batch", "norm_first": norms == "pre", "activation": "gelu"}
            return nn.TransformerEncoderLayer(DIM, HEADS, 2 * DIM, **how)

        self.cut, self.head, self.axes = nn.Conv2d(3, DIM, 8, 8), nn.Linear(DIM, CLASSES), axes
        self.cls_token = nn.Parameter(torch.randn(1, 1, DIM))
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + SIDE**2, DIM))
        self.norm = nn.LayerNorm(DIM)
        self.blocks = nn.ModuleList(layer() for _ in range(DEPTH))
        if holder == "own":
            self.blocks = nn.TransformerEncoder(layer(), DEPTH, enable_nested_tensor=False)

    def layers(self) -> nn.ModuleList:
        return getattr(self.blocks, "layers", self.blocks)

    def forward(self, images: Tensor) -> Tensor:
        x = torch.cat([self.cls_token.expand(len(images), -1, -1), self.cut(images).flatten(2).mT], 1) + self.pos_embed
        x = x if self.axes == "batch" else x.transpose(0, 1)
        for block in [self.blocks] if isinstance(self.blocks, nn.TransformerEncoder) else self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0] if self.axes == "batch" else x[0]))


@cache
def wrapped(norms: str, axes: str, holder: str) -> Capture:
    with seeded(0), torch.no_grad():
        module = Encoder(norms, axes, holder).eval()
        for parameter in module.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return vx.capture(vx.wrap(module, image_size=32), PICTURE)


# ---------------------------------------------------------------------------------------------- by hand


@dataclass
class Run:
    """Run one image through the formulas of the two papers, in float64 and in one graph."""

    attention: list[Tensor]
    entering: list[Tensor]
    leaving: list[Tensor]
    """Tokens after each block"""
    norms: list[Tensor]
    """Output of each block's first norm"""
    logits: Tensor


def norm_of(part: nn.LayerNorm, x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + part.eps).sqrt() * part.weight + part.bias


def by_hand(module: Encoder, image: Tensor, put: dict[int, tuple[int, Tensor]] | None = None) -> Run:
    """`put`: a token and what it is replaced by, at the entry of a block."""
    with torch.no_grad():
        x = module.cut(image).flatten(2)[0].T.double()
    x = (torch.cat([module.cls_token[0], x]) + module.pos_embed[0]).requires_grad_()
    run = Run([], [], [], [], x)
    for number, layer in enumerate(module.layers()):
        if number in (put or {}):
            token, vector = put[number]
            x = x.clone()
            x[token] = vector
        run.entering.append(x)
        pre, own = layer.norm_first, layer.self_attn

        def attend(tokens: Tensor, own: nn.MultiheadAttention = own) -> Tensor:
            q, k, v = (
                (tokens @ own.in_proj_weight.T + own.in_proj_bias).unflatten(-1, (3, HEADS, -1)).permute(1, 2, 0, 3)
            )
            weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
            run.attention.append(weights)
            return (weights @ v).transpose(0, 1).flatten(1) @ own.out_proj.weight.T + own.out_proj.bias

        def mlp(tokens: Tensor, layer: nn.Module = layer) -> Tensor:
            return (
                F.gelu(tokens @ layer.linear1.weight.T + layer.linear1.bias) @ layer.linear2.weight.T
                + layer.linear2.bias
            )

        if pre:
            run.norms.append(norm_of(layer.norm1, x))
            x = x + attend(run.norms[-1])
            x = x + mlp(norm_of(layer.norm2, x))
        else:
            run.norms.append(norm_of(layer.norm1, x + attend(x)))
            x = norm_of(layer.norm2, run.norms[-1] + mlp(run.norms[-1]))
        run.leaving.append(x)
    run.logits = read(module, x)[0]
    return run


def read(module: Encoder, tokens: Tensor) -> Tensor:
    return norm_of(module.norm, tokens) @ module.head.weight.T + module.head.bias


def twin_of(captured: Capture) -> Encoder:
    with seeded(0):
        twin = Encoder(*next(case for case in CASES if wrapped(*case) is captured)).double().eval()
    twin.load_state_dict(captured.model.module.wrapped.state_dict())
    twin.cut.float()
    return twin


@pytest.fixture(params=CASES, ids="-".join)
def captured(request) -> Capture:
    return wrapped(*request.param)


def close(found: np.ndarray, expected: Tensor | np.ndarray) -> None:
    expected = np.asarray(expected.detach() if isinstance(expected, Tensor) else expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4 * float(np.abs(expected).max()))


def on_grid(row: np.ndarray) -> np.ndarray:
    return row[1:].reshape(SIDE, SIDE)


# ---------------------------------------------------------------------------------------------- views


def test_what_flows_between_blocks(captured: Capture) -> None:
    module = twin_of(captured)
    run = by_hand(module, captured.input.tensor)
    close(captured.logits.numpy(), run.logits)
    lens = vx.compute("logit_lens", captured, token="cls")
    for block, (weights, tokens) in enumerate(zip(run.attention, run.leaving, strict=True)):
        close(captured.attention(block).numpy(), weights)
        close(captured.residual_after(block).numpy(), tokens)
        close(lens.values[block], read(module, tokens)[0])
        similar = vx.compute("patch_similarity", captured, block=block, query=(1, 2))
        close(similar.values, on_grid(F.cosine_similarity(tokens, tokens[1 + 6][None]).detach().numpy()))
    close(vx.compute("token_norms", captured).values, torch.stack(run.leaving).norm(dim=-1))


def test_rollout_of_an_encoder(captured: Capture) -> None:
    weights = [one.detach().numpy() for one in by_hand(twin_of(captured), captured.input.tensor).attention]
    close(vx.compute("attention_rollout", captured, query="cls").values, on_grid(reference.rollout(weights)[0]))


def test_gradients_of_attention(captured: Capture) -> None:
    module = twin_of(captured)
    run = by_hand(module, captured.input.tensor)
    asked = [*run.attention, *run.norms]
    result = torch.autograd.grad(
        run.logits[TARGET], asked, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    pairs = list(zip((a.detach().numpy() for a in run.attention), (g.numpy() for g in result[:DEPTH]), strict=True))
    R = reference_relevance.generic_relevance([reference_relevance.positive_product(A, dA) for A, dA in pairs])
    close(vx.compute("generic_relevance", captured, target=TARGET).values, on_grid(R[0]))
    R = reference.rollout([np.maximum(A * dA, 0) for A, dA in pairs])
    close(vx.compute("grad_rollout", captured, target=TARGET).values, on_grid(R[0]))
    expected = reference_relevance.grad_cam(run.norms[1].detach().numpy()[1:], result[DEPTH + 1].numpy()[1:])
    close(vx.compute("grad_cam", captured, target=TARGET, block=1).values.ravel(), expected.ravel())
    own = [
        torch.autograd.grad(read(module, tokens.mean(0))[TARGET], weights, retain_graph=True)[0].numpy()[None]
        for weights, tokens in zip(run.attention, run.leaving, strict=True)
    ]
    close(vx.compute("legrad", captured, target=TARGET).values, on_grid(reference_relevance.legrad(own)))


def test_patching_puts_tokens_of_one_run_into_another(captured: Capture) -> None:
    module, image = twin_of(captured), captured.input.tensor
    result = vx.compute("activation_patching", captured, target=TARGET, baseline="black").values
    black = baseline_image(captured, "black")
    entering, before = by_hand(module, image).entering, by_hand(module, black).logits[TARGET]
    for patch in (0, 6, 15):
        put = {block: (1 + patch, entering[block][1 + patch].detach()) for block in middle_half(DEPTH)}
        rise = by_hand(module, black, put).logits[TARGET] - before
        assert result.ravel()[patch] == pytest.approx(float(rise.detach()), abs=1e-4)


def test_logit_attribution_needs_a_sum(captured: Capture) -> None:
    if captured.model.module.wrapped.layers()[0].norm_first:
        result = vx.compute("logit_attribution", captured, target=TARGET)
        assert result.values.sum() == pytest.approx(float(captured.logits[TARGET]), abs=1e-4)
        return
    with pytest.raises(UnsupportedError, match=r"ends with a norm \(post-norm\)") as refused:
        vx.compute("logit_attribution", captured, target=TARGET)
    assert "后归一化" in refused.value.text.zh
