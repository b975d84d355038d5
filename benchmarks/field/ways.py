"""The ways to get the attention of a model: ours, and what a person would pick instead.

All run the same architecture with random weights, which do not change the arithmetic. The plain pass is timm's own
module with its fused kernels. Ours keeps queries, keys, values and the residual stream and computes a block's attention
on demand; "attention alone" keeps queries and keys, for no more than the peers show; a third row computes the attention
of all blocks, one after the other. The peers store the attention of every block:

timm          `AttentionExtract`, by module, on a copy with the fused kernels switched off: with them it gives nothing
transformers  its own model of the architecture, `attn_implementation="eager"`, `output_attentions=True`; of a Swin that
              is one block for each stage
hooks         a plain loop that registers a hook on every `attn_drop` of such a copy: what the code of the papers does
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

import vitexplorer as vx
from benchmarks.field.peers import peers
from benchmarks.field.timing import Work
from vitexplorer.capturing.capture import Capture, ModelInput, prepare
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.models.loading import LoadedModel

PLAIN = "plain pass"
OURS, OURS_ATTENTION, OURS_ALL = "ours", "ours, attention alone", "ours, every block's weights"
PEERS = ("timm AttentionExtract", "transformers, eager", "loop of hooks")


@dataclass(frozen=True)
class Subject:
    """Model at an input size, and its images."""

    model: LoadedModel
    given: ModelInput
    batch: int

    @property
    def pixels(self) -> Tensor:
        return self.given.tensor.expand(self.batch, -1, -1, -1)

    @property
    def tokens(self) -> int:
        """Tokens of the first block."""
        grid = self.model.blocks(self.given.tensor.shape[-2:])[0].grid
        return grid.num_patches + grid.num_prefix_tokens


def subject(name: str, size: int, batch: int, device: str = "cpu", dtype: str = "float32") -> Subject:
    """Load a model with random weights, with noise as the image."""
    model = vx.load_model(name, weights="random", device=device, size=size)
    model.module.to(getattr(torch, dtype))
    image = np.random.default_rng(0).integers(0, 256, (*model.preprocessing.input_size, 3), dtype=np.uint8)
    given = prepare(model, image, fit="squash")
    return Subject(model, replace(given, tensor=given.tensor.to(getattr(torch, dtype))), batch)


# ------------------------------------------------------------------------------------------------- ours


def plain(it: Subject) -> Work:
    """Return the plain forward pass."""

    def work() -> Tensor:
        with torch.no_grad():
            return it.model.module(it.pixels)

    return work


def ours(it: Subject) -> Work:
    """Return the capture of each image."""
    return lambda: capture_inputs(it.model, [it.given] * it.batch)


def ours_attention(it: Subject) -> Work:
    """Return the capture of each image that keeps the attention alone, as the peers do."""
    return lambda: capture_inputs(it.model, [it.given] * it.batch, parts=frozenset({"attention"}))


def ours_all(it: Subject) -> Work:
    """Return the captures followed by all attention, a block at a time."""

    def work() -> list[Capture]:
        captures = capture_inputs(it.model, [it.given] * it.batch)
        for captured in captures:
            for block in range(captured.depth):
                captured.attention(block)
        return captures

    return work


# ------------------------------------------------------------------------------------------------- theirs


def unfused(module: nn.Module) -> nn.Module:
    """Copy a module, sharing its parameters, with explicit softmax instead of fused attention where timm has both."""
    shared = {id(tensor): tensor for tensor in (*module.parameters(), *module.buffers())}
    twin = copy.deepcopy(module, shared)
    for part in twin.modules():
        if hasattr(part, "fused_attn"):
            part.fused_attn = False
    return twin


def extracted(it: Subject) -> Work:
    """Return a pass with timm's `AttentionExtract`."""
    from timm.utils import AttentionExtract

    extract = AttentionExtract(unfused(it.model.module), method="hook")

    def work() -> dict[str, Tensor]:
        with torch.no_grad():
            return extract(it.pixels)

    return work


def hooked(it: Subject) -> Work:
    """Return a pass with a forward hook on every attention dropout."""
    twin = unfused(it.model.module)
    recorded: dict[str, Tensor] = {}
    for name, part in twin.named_modules():
        if name.endswith("attn_drop"):
            part.register_forward_hook(lambda _, inputs, output, name=name: recorded.update({name: output}))

    def work() -> dict[str, Tensor]:
        with torch.no_grad():
            twin(it.pixels)
        attention = dict(recorded)
        recorded.clear()
        return attention

    return work


def in_transformers(it: Subject) -> Work:
    """Return a pass of the same architecture in transformers with `output_attentions=True`."""
    module = transformers_twin(it)

    def work() -> object:
        with torch.no_grad():
            return module(it.pixels, output_attentions=True)

    return work


def transformers_twin(it: Subject) -> nn.Module:
    """Make the transformers model of the same sizes, with random weights."""
    import transformers

    module, (height, _) = it.model.module, it.model.preprocessing.input_size
    sites = it.model.blocks((height, height))
    shared = {"image_size": height}
    if type(module).__name__ == "SwinTransformer":
        depths = [len(stage.blocks) for stage in module.layers]
        heads = [stage.blocks[0].attn.num_heads for stage in module.layers]
        window = sites[0].windows.window_size[0]
        config = transformers.SwinConfig(
            embed_dim=module.embed_dim, depths=depths, num_heads=heads, window_size=window, drop_path_rate=0.0, **shared
        )
        twin = transformers.SwinModel(config, add_pooling_layer=False)
    else:
        block = module.blocks[0]
        sizes = {
            "hidden_size": module.embed_dim,
            "num_hidden_layers": len(module.blocks),
            "num_attention_heads": block.attn.num_heads,
            "intermediate_size": block.mlp.fc1.out_features,
            "patch_size": module.patch_embed.patch_size[0],
        }
        if getattr(module, "rope", None) is not None:
            registers = sites[0].grid.num_prefix_tokens - 1
            config = transformers.DINOv3ViTConfig(num_register_tokens=registers, **sizes, **shared)
            twin = transformers.DINOv3ViTModel(config)
        elif hasattr(block, "ls1") and not isinstance(block.ls1, nn.Identity):
            twin = transformers.Dinov2Model(transformers.Dinov2Config(**_without_width(sizes), **shared))
        else:
            twin = transformers.ViTModel(transformers.ViTConfig(**sizes, **shared), add_pooling_layer=False)
    twin.set_attn_implementation("eager")
    return twin.eval().to(it.pixels.device, it.pixels.dtype)


def _without_width(sizes: dict[str, int]) -> dict[str, int]:
    ratio = sizes["intermediate_size"] // sizes["hidden_size"]
    return {**{key: value for key, value in sizes.items() if key != "intermediate_size"}, "mlp_ratio": ratio}


MAKES: dict[str, tuple[str, Callable[[Subject], Work]]] = {
    PLAIN: ("", plain),
    OURS: ("", ours),
    OURS_ATTENTION: ("", ours_attention),
    OURS_ALL: ("", ours_all),
    PEERS[0]: ("timm", extracted),
    PEERS[1]: ("transformers", in_transformers),
    PEERS[2]: ("", hooked),
}
"""Column -> the peer that must be installed, and the function that prepares its work"""


def here() -> dict[str, Callable[[Subject], Work]]:
    """Return the ways whose library is installed."""
    known = peers()
    return {name: make for name, (peer, make) in MAKES.items() if not peer or peer in known}
