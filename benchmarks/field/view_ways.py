"""Every way to the same map that the section `views` compares: ours, and what a person would write or install instead.

A way is prepared once (copies, hooks) and then asked for its map of one image. Peers get the network as timm makes it,
its parameters free to train; where attention has to be seen its fused kernel is off. What a peer needs said is said:
the grid, the number of prefix tokens, the layer, the class. All computed in float32.

Chefer's relevance has no package; its two ways are written from the paper (arXiv 2103.15679, equations 5 and 6): once
as its own code works, with a backward pass of everything and the whole matrix R, and once asking autograd for the
gradients of the attention alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from captum.attr import IntegratedGradients, Occlusion
from torch import Tensor, nn

import vitexplorer as vx
from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.controls import AnyTargetControl
from vitexplorer.views import VIEWS

STEPS, BASELINE = 32, "mean"
"""of integrated gradients, and what stands for nothing in it and in occlusion: zero after normalisation"""
OURS, OURS_AFTER = "ours, from the image", "ours, after a capture"


@dataclass(frozen=True)
class Asked:
    """One image, the network that sees it, and the class that is explained."""

    capture: Capture
    target: int

    @property
    def image(self) -> Tensor:
        """(1, channels, height, width) normalised."""
        return self.capture.input.tensor

    @property
    def prefix(self) -> int:
        """Tokens before the patches."""
        return len(self.capture.prefix_tokens)

    def network(self, fused: bool = True) -> nn.Module:
        """A copy as timm makes it; `fused=False`: attention is an explicit softmax, whose dropout a hook can watch."""
        twin = copy.deepcopy(self.capture.model.module).eval().requires_grad_(True)
        for part in twin.modules():
            if hasattr(part, "fused_attn"):
                part.fused_attn = fused
        return twin

    def on_the_grid(self, patches: Tensor) -> np.ndarray:
        """(patches,) -> (rows, cols)."""
        grid = self.capture.grid(0)
        return patches.detach().reshape(grid.rows, grid.cols).cpu().numpy()

    def sums(self, pixels: Tensor) -> np.ndarray:
        """(1, channels, height, width) -> the sum over each patch, (rows, cols)."""
        side = self.capture.grid(0).patch_size
        return self.on_the_grid(F.avg_pool2d(pixels.detach().float().sum(1, keepdim=True), side) * side**2)


@dataclass(frozen=True)
class Way:
    """One way, ready to run."""

    run: Callable[[], object]
    """the work that is timed"""
    values: Callable[[], np.ndarray] | None = None
    """the map as it is before the peer rescales it; None: what `run` returns"""

    def map(self) -> np.ndarray:
        """(rows, cols)."""
        return np.asarray((self.values or self.run)())


Maker = Callable[[Asked], Way]


def asked(name: str, size: int, device: str) -> Asked:
    """Noise at `size` x `size` pixels seen by a network of random weights: neither changes the arithmetic."""
    model = vx.load_model(name, weights="random", size=size, device=device)
    pixels = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)
    captured = capture_input(model, prepare(model, pixels, fit="squash"))
    return Asked(captured, int(captured.output[0].argmax()))


# ------------------------------------------------------------------------------------------------ ours


def ours(view: str, **settings: object) -> dict[str, Maker]:
    """Our view, once with the capture it needs and once with a capture at hand; neither finds gradients kept."""
    record = VIEWS[view]
    explains = any(isinstance(control, AnyTargetControl) for control in record.controls)

    def computed(given: Asked, capture: Capture) -> np.ndarray:
        target = {"target": given.target} if explains else {}
        return vx.compute(view, capture, **target, **settings).values

    def from_image(given: Asked) -> Way:
        model, image = given.capture.model, given.capture.input
        return Way(lambda: computed(given, capture_input(model, image, differentiable=record.goes_back)))

    def after(given: Asked) -> Way:
        return Way(lambda: computed(given, replace(given.capture)))

    return {OURS: from_image, OURS_AFTER: after}


# ------------------------------------------------------------------------------------------------ rollout


def rolled(attention: list[Tensor], prefix: int) -> Tensor:
    """The class token's row of the product of rownorm(0.5 mean(A) + 0.5 I), whole matrices as it is usually written."""
    identity = torch.eye(attention[0].shape[-1], device=attention[0].device)
    R = identity
    for weights in attention:
        A = 0.5 * weights[0].mean(0) + 0.5 * identity
        R = A / A.sum(-1, keepdim=True) @ R
    return R[0, prefix:]


def rollout_by_hooks(given: Asked) -> Way:
    """A hook on every dropout after a softmax (jacobgil/vit-explain works so), and the product."""
    network, seen = given.network(fused=False), []
    for part in attention_dropouts(network):
        part.register_forward_hook(lambda _, inputs, output: seen.append(output))

    @torch.no_grad()
    def run() -> np.ndarray:
        seen.clear()
        network(given.image)
        return given.on_the_grid(rolled(seen, given.prefix))

    return Way(run)


def rollout_by_timm(given: Asked) -> Way:
    """timm's AttentionExtract, and the product."""
    from timm.utils import AttentionExtract

    extract = AttentionExtract(given.network(fused=False), method="hook")

    @torch.no_grad()
    def run() -> np.ndarray:
        return given.on_the_grid(rolled(list(extract(given.image).values()), given.prefix))

    return Way(run)


def attention_dropouts(network: nn.Module) -> list[nn.Module]:
    """What the softmax of each block goes through, in order."""
    return [part for name, part in network.named_modules() if name.endswith("attn_drop")]


# ------------------------------------------------------------------------------------------------ relevance


def relevance(attention: list[Tensor], gradients: list[Tensor], prefix: int) -> Tensor:
    """R = I, then R <- R + mean over heads of relu(dA * A) R; the class token's row."""
    R = torch.eye(attention[0].shape[-1], device=attention[0].device)
    for weights, slope in zip(attention, gradients, strict=True):
        R = R + (slope[0] * weights[0].detach()).clamp(min=0).mean(0) @ R
    return R[0, prefix:]


def relevance_by_backward(given: Asked) -> Way:
    """As the paper's own code: hooks keep attention and its gradient, and the backward pass goes to every parameter."""
    network, seen, slopes = given.network(fused=False), [], []

    def watch(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        seen.append(inputs[0])
        inputs[0].register_hook(slopes.append)

    for part in attention_dropouts(network):
        part.register_forward_pre_hook(watch)

    def run() -> np.ndarray:
        seen.clear()
        slopes.clear()
        network.zero_grad()
        network(given.image)[0, given.target].backward()
        return given.on_the_grid(relevance(seen, slopes[::-1], given.prefix))

    return Way(run)


def relevance_by_autograd(given: Asked) -> Way:
    """The gradients of the attention by name, and of nothing else."""
    network, seen = given.network(fused=False), []
    for part in attention_dropouts(network):
        part.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))

    def run() -> np.ndarray:
        seen.clear()
        slopes = torch.autograd.grad(network(given.image)[0, given.target], seen)
        return given.on_the_grid(relevance(seen, list(slopes), given.prefix))

    return Way(run)


# ------------------------------------------------------------------------------------------------ Grad-CAM


def _as_image(given: Asked, tokens: Tensor) -> Tensor:
    """Tokens (batch, tokens, dim) as packages for convolutions want them, (batch, dim, rows, cols)."""
    grid = given.capture.grid(0)
    return tokens[:, given.prefix :].unflatten(1, (grid.rows, grid.cols)).permute(0, 3, 1, 2)


def grad_cam_by_jacobgil(given: Asked) -> Way:
    """pytorch-grad-cam at the first norm of the last block; its map is compared before it is rescaled and enlarged."""
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    network = given.network()
    layer, targets = network.blocks[-1].norm1, [ClassifierOutputTarget(given.target)]
    peer = GradCAM(network, [layer], reshape_transform=lambda tokens: _as_image(given, tokens))

    def values() -> np.ndarray:
        peer(given.image, targets)
        kept = peer.activations_and_grads
        parts = (part[0].detach().cpu().numpy() for part in (kept.activations, kept.gradients))
        return np.maximum(peer.get_cam_image(given.image, layer, targets, *parts)[0], 0)

    return Way(lambda: peer(given.image, targets), values)


def grad_cam_by_torchcam(given: Asked) -> Way:
    """torchcam at the same layer."""
    from torchcam.methods import GradCAM

    network = given.network()
    layer = network.blocks[-1].norm1
    peer = GradCAM(network, layer, reshape_transform=lambda tokens: _as_image(given, tokens))

    def run() -> np.ndarray:
        scores = network(given.image)
        return peer(given.target, scores, normalized=False)[0][0].cpu().numpy()

    return Way(run)


# ------------------------------------------------------------------------------------------------ many runs


def integrated_by_captum(at_once: int | None) -> Maker:
    """captum's, all steps in one batch as it comes, or a few at once."""

    def made(given: Asked) -> Way:
        peer = IntegratedGradients(given.network())

        def run() -> np.ndarray:
            found = peer.attribute(given.image.clone(), 0, given.target, n_steps=STEPS, internal_batch_size=at_once)
            return given.sums(found)

        return Way(run)

    return made


def occlusion_by_captum(at_once: int) -> Maker:
    """captum's sliding window, one patch large and moved by a patch; it runs one image at a time as it comes."""

    def made(given: Asked) -> Way:
        peer, grid = Occlusion(given.network()), given.capture.grid(0)
        window = (given.image.shape[1], grid.patch_size, grid.patch_size)

        @torch.no_grad()
        def run() -> np.ndarray:
            found = peer.attribute(
                given.image, window, strides=window, target=given.target, perturbations_per_eval=at_once
            )
            return given.on_the_grid(found[0, 0, :: grid.patch_size, :: grid.patch_size])

        return Way(run)

    return made


def occlusion_by_loop(at_once: int) -> Maker:
    """What one writes: copies of the image, a patch of each blank, a batch at a time."""

    def made(given: Asked) -> Way:
        network, grid, side = given.network(), given.capture.grid(0), given.capture.grid(0).patch_size

        @torch.no_grad()
        def run() -> np.ndarray:
            logit, falls = network(given.image)[0, given.target], []
            for patches in torch.arange(grid.num_patches).split(at_once):
                shown = given.image.repeat(len(patches), 1, 1, 1)
                for copied, patch in zip(shown, patches.tolist(), strict=True):
                    top, left = (side * at for at in divmod(patch, grid.cols))
                    copied[:, top : top + side, left : left + side] = 0
                falls.append(logit - network(shown)[:, given.target])
            return given.on_the_grid(torch.cat(falls))

        return Way(run)

    return made


WAYS: dict[str, dict[str, Maker]] = {
    "attention_rollout": {
        **ours("attention_rollout"),
        "timm AttentionExtract, product": rollout_by_timm,
        "hooks, product (vit-explain)": rollout_by_hooks,
    },
    "generic_relevance": {
        **ours("generic_relevance"),
        "hooks, backward (Chefer's code)": relevance_by_backward,
        "hooks, autograd.grad": relevance_by_autograd,
    },
    "grad_cam": {
        **ours("grad_cam"),
        "pytorch-grad-cam": grad_cam_by_jacobgil,
        "torchcam": grad_cam_by_torchcam,
    },
    "integrated_gradients": {
        **ours("integrated_gradients", baseline=BASELINE, steps=STEPS),
        "captum": integrated_by_captum(None),
        "captum, 4 at once": integrated_by_captum(4),
    },
    "occlusion": {
        **ours("occlusion", baseline=BASELINE),
        "captum": occlusion_by_captum(1),
        "captum, 16 at once": occlusion_by_captum(16),
        "a loop, 16 at once": occlusion_by_loop(16),
    },
}
"""view -> way -> what prepares it; ours from the image first, which all others are told in multiples of"""
PEER_OF = {
    "timm AttentionExtract, product": "timm",
    "pytorch-grad-cam": "pytorch-grad-cam",
    "torchcam": "torchcam",
}
"""way -> the package that it needs"""
