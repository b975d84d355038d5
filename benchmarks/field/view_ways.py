"""Implementations of each map in the section `views`: ours, libraries', and plain code.

A way is prepared once (copies, hooks) and then computes its map of one image. Peers get the network as timm makes it,
with trainable parameters; where attention has to be recorded its fused kernel is off. Peers get the arguments they
need: the grid, the number of prefix tokens, the layer, the class. All compute in float32.

Chefer's relevance has no package; its two ways are written from the paper (arXiv 2103.15679, equations 5 and 6): once
as its own code works, with a backward pass of everything and the whole matrix R, and once asking autograd for the
gradients of the attention alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from captum.attr import IntegratedGradients, Occlusion
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers.unfused_attention import with_fused_attention
from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.controls import AnyTargetControl
from vitexplorer.views import VIEWS

STEPS, BASELINE = 32, "mean"
"""Steps of integrated gradients, and its baseline and occlusion's: zero after normalisation"""
OURS, OURS_AFTER = "ours, from the image", "ours, after a capture"


@dataclass(frozen=True)
class Asked:
    """Image, network and explained class of a comparison."""

    capture: Capture
    target: int

    @property
    def image(self) -> Tensor:
        """Normalised image, (1, channels, height, width)."""
        return self.capture.input.tensor

    @property
    def prefix(self) -> int:
        """Number of prefix tokens."""
        return len(self.capture.prefix_tokens)

    def network(self, fused: bool = True) -> nn.Module:
        """Copy the network; `fused=False` makes attention an explicit softmax, whose dropout accepts hooks."""
        return with_fused_attention(self.capture.model.module, fused).eval().requires_grad_(True)

    def on_the_grid(self, patches: Tensor) -> np.ndarray:
        """Lay values (patches,) out on the grid, (rows, cols)."""
        grid = self.capture.grid(0)
        return patches.detach().reshape(grid.rows, grid.cols).cpu().numpy()

    def sums(self, pixels: Tensor) -> np.ndarray:
        """Sum pixels (1, channels, height, width) over each patch, (rows, cols)."""
        side = self.capture.grid(0).patch_size
        return self.on_the_grid(F.avg_pool2d(pixels.detach().float().sum(1, keepdim=True), side) * side**2)


@dataclass(frozen=True)
class Way:
    """Prepared implementation of a map."""

    run: Callable[[], object]
    """Work that is timed"""
    values: Callable[[], np.ndarray] | None = None
    """Map before the peer rescales it; None for the result of `run`"""

    def map(self) -> np.ndarray:
        """Return the map, (rows, cols)."""
        return np.asarray((self.values or self.run)())


Maker = Callable[[Asked], Way]


def asked(name: str, size: int, device: str) -> Asked:
    """Capture noise of `size` x `size` pixels with random weights, which do not change the arithmetic."""
    model = vx.load_model(name, weights="random", size=size, device=device)
    pixels = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)
    captured = capture_input(model, prepare(model, pixels, fit="squash"))
    return Asked(captured, int(captured.output[0].argmax()))


# ------------------------------------------------------------------------------------------------ ours


def ours(view: str, **settings: object) -> dict[str, Maker]:
    """Return our view with its own capture, and with an existing one; neither has cached gradients."""
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
    """Return the class token's row of the product of rownorm(0.5 mean(A) + 0.5 I), by whole matrices."""
    identity = torch.eye(attention[0].shape[-1], device=attention[0].device)
    R = identity
    for weights in attention:
        A = 0.5 * weights[0].mean(0) + 0.5 * identity
        R = A / A.sum(-1, keepdim=True) @ R
    return R[0, prefix:]


def rollout_by_hooks(given: Asked) -> Way:
    """Compute rollout from hooks on the attention dropouts, as jacobgil/vit-explain does."""
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
    """Compute rollout from timm's AttentionExtract."""
    from timm.utils import AttentionExtract

    extract = AttentionExtract(given.network(fused=False), method="hook")

    @torch.no_grad()
    def run() -> np.ndarray:
        return given.on_the_grid(rolled(list(extract(given.image).values()), given.prefix))

    return Way(run)


def attention_dropouts(network: nn.Module) -> list[nn.Module]:
    """Return the dropout after the softmax of each block, in order."""
    return [part for name, part in network.named_modules() if name.endswith("attn_drop")]


# ------------------------------------------------------------------------------------------------ relevance


def relevance(attention: list[Tensor], gradients: list[Tensor], prefix: int) -> Tensor:
    """Return the class token's row of R: R = I, then R <- R + mean over heads of relu(dA * A) R."""
    R = torch.eye(attention[0].shape[-1], device=attention[0].device)
    for weights, slope in zip(attention, gradients, strict=True):
        R = R + (slope[0] * weights[0].detach()).clamp(min=0).mean(0) @ R
    return R[0, prefix:]


def relevance_by_backward(given: Asked) -> Way:
    """Compute relevance as the paper's code does: by hooks and a backward pass to every parameter."""
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
    """Compute relevance by `autograd.grad` with respect to the attention only."""
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
    """Reshape tokens (batch, tokens, dim) for packages made for convolutions, (batch, dim, rows, cols)."""
    grid = given.capture.grid(0)
    return tokens[:, given.prefix :].unflatten(1, (grid.rows, grid.cols)).permute(0, 3, 1, 2)


def grad_cam_by_jacobgil(given: Asked) -> Way:
    """Run pytorch-grad-cam at the first norm of the last block; its map is compared before rescaling and resizing."""
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    network = given.network()
    layer, targets = network.blocks[-1].norm1, [ClassifierOutputTarget(given.target)]
    peer = GradCAM(network, [layer], reshape_transform=lambda tokens: _as_image(given, tokens))

    def values() -> np.ndarray:
        peer(given.image, targets)
        recorded = peer.activations_and_grads
        parts = (part[0].detach().cpu().numpy() for part in (recorded.activations, recorded.gradients))
        return np.maximum(peer.get_cam_image(given.image, layer, targets, *parts)[0], 0)

    return Way(lambda: peer(given.image, targets), values)


def grad_cam_by_torchcam(given: Asked) -> Way:
    """Run torchcam at the same layer."""
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
    """Return captum's integrated gradients, all steps in one batch by default, or `at_once` of them."""

    def made(given: Asked) -> Way:
        peer = IntegratedGradients(given.network())

        def run() -> np.ndarray:
            found = peer.attribute(given.image.clone(), 0, given.target, n_steps=STEPS, internal_batch_size=at_once)
            return given.sums(found)

        return Way(run)

    return made


def occlusion_by_captum(at_once: int) -> Maker:
    """Return captum's occlusion with a window of one patch; its default runs one image at a time."""

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
    """Return a plain loop: copies of the image with one patch blanked each, a batch at a time."""

    def made(given: Asked) -> Way:
        network, grid, side = given.network(), given.capture.grid(0), given.capture.grid(0).patch_size

        @torch.no_grad()
        def run() -> np.ndarray:
            logit, falls = network(given.image)[0, given.target], []
            for patches in torch.arange(grid.num_patches).split(at_once):
                occluded = given.image.repeat(len(patches), 1, 1, 1)
                for copied, patch in zip(occluded, patches.tolist(), strict=True):
                    top, left = (side * at for at in divmod(patch, grid.cols))
                    copied[:, top : top + side, left : left + side] = 0
                falls.append(logit - network(occluded)[:, given.target])
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
    "grad_cam": {**ours("grad_cam"), "pytorch-grad-cam": grad_cam_by_jacobgil, "torchcam": grad_cam_by_torchcam},
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
"""View -> way -> its maker; ours from the image first, the unit of all times"""
PEER_OF = {"timm AttentionExtract, product": "timm", "pytorch-grad-cam": "pytorch-grad-cam", "torchcam": "torchcam"}
"""Way -> the package that it needs"""
