"""SSF: a scale and a shift after every operation, y = gamma y + beta (Lian et al. 2022, arXiv 2210.08823).

After patch embedding, both norms, projection to q, k, v, output projection and both layers of the MLP of every block,
and after the final norm: 22 D L + 4D parameters in a plain ViT. Swin has two operations in its patch embedding, the
projection and the norm after it, each with a scale and a shift, and one after the norm of each merging of patches; the
reduction beside that norm has none. The authors' code (dongzelian/SSF, `models/swin_transformer.py`) intends the same,
but its merging compares a list of modes with one mode and so gets none: its Swin-B at 224 pixels has 267,264
parameters, this one 274,432. Everything merges into the preceding layers. If the projection has separate biases (BEiT,
EVA, Swin V2), scale and shift come before them: the same functions, parametrised differently. Initialised to gamma 1
and beta 0; the paper draws N(1, 0.02) and N(0, 0.02), an option here.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.controls import Switch
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.hanging import hang, hung, take_down
from vitexplorer.models.anatomy import block_parts, call_projection
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline

_SPREAD = 0.02


class ScaleShift(nn.Module):
    """Scale and shift, gamma y + beta, for each channel."""

    def __init__(self, width: int, drawn: bool, axes_after: int = 0):
        """Begin near 1 and 0 if `drawn`, else at 1 and 0; an image has 2 axes after the channels."""
        super().__init__()
        spread = _SPREAD if drawn else 0.0
        self._shape = (width, *(1,) * axes_after)
        self.gamma = nn.Parameter(1 + spread * torch.randn(width))
        self.beta = nn.Parameter(spread * torch.randn(width))

    def forward(self, made: Float[Tensor, "*any"], given: Tensor) -> Float[Tensor, "*any"]:
        """Return gamma made + beta."""
        return torch.addcmul(self.beta.view(self._shape), made, self.gamma.view(self._shape))


def inject(model: LoadedModel, drawn: bool) -> LoadedModel:
    """Add a scale and a shift to every operation."""
    module = model.module
    parts = outline(module)
    places = ["patch_embed", *parts.ending]
    for name in parts.blocks:
        block = block_parts(module, name)
        call_projection(module, name)
        places += [*block.norms, *block.projections, block.proj, *block.expand, block.reduce]
    for place in (*places, *_of_stages(module)):
        part = module.get_submodule(place)
        hang(part, "ssf", ScaleShift(_outputs(part), drawn, 2 if isinstance(part, nn.Conv2d) else 0))
    return model


def _of_stages(module: nn.Module) -> tuple[str, ...]:
    """Name Swin's extra operations: the projection before the patch embedding's norm, the norms of the mergings."""
    merging = tuple(f"{name}.norm" for names in outline(module).leading.values() for name in names)
    return ("patch_embed.proj", *merging) if _layer(module.patch_embed) is not module.patch_embed.proj else merging


def absent(module: nn.Module) -> dict[str, Tensor]:
    """Return scales of 1 and shifts of 0 for the operations that earlier versions left out."""
    parts = {f"{place}.ssf": module.get_submodule(f"{place}.ssf") for place in _of_stages(module)}
    scales = {f"{name}.gamma": torch.ones_like(part.gamma) for name, part in parts.items()}
    return scales | {f"{name}.beta": torch.zeros_like(part.beta) for name, part in parts.items()}


def _outputs(part: nn.Module) -> int:
    """Return the output width of a layer, a norm or the patch embedding."""
    if isinstance(part, nn.Linear):
        return part.out_features
    if hasattr(part, "proj"):
        return part.feature_dim if isinstance(part.proj, nn.Identity) else part.proj.out_channels
    return part.weight.shape[0]


# ---------------------------------------------------------------------------------------------- merging


@torch.no_grad()
def merge(module: nn.Module) -> None:
    """Fold each scale and shift into the layer it follows.

    Raises UnsupportedError, with nothing changed, if that layer is an RMS norm, which cannot shift, or if the patch
    embedding does not end in a layer of its own (hybrids whose convolutions have the network's width).
    """
    parts = hung(module, "ssf")
    for layer in (_layer(part) for part, _ in parts):
        if isinstance(layer, nn.Identity):
            raise UnsupportedError(
                Text(
                    "The shift of the patch embedding cannot be merged: it does not end in a layer of its own.",
                    "图块嵌入的末端不是它自己的层，其平移量无法合并。",
                )
            )
        if not isinstance(layer, (nn.Linear, nn.Conv2d)) and getattr(layer, "bias", None) is None:
            raise UnsupportedError(
                Text(
                    "The shift of an RMS norm cannot be merged: it has no bias.",
                    "RMS 归一化没有偏置，其平移量无法合并。",
                )
            )
    attentions = {id(part.qkv): part for part in module.modules() if getattr(part, "q_bias", None) is not None}
    for part, ssf in parts:
        _put_in(_layer(part), ssf, attentions.get(id(part)))
        take_down(part, "ssf")


def _layer(part: nn.Module) -> nn.Module:
    """Return the layer to merge into; a patch embedding ends in a convolution or, in Swin, in a norm."""
    if not hasattr(part, "proj"):
        return part
    norm = getattr(part, "norm", None)
    return norm if norm is not None and not isinstance(norm, nn.Identity) else part.proj


def _put_in(layer: nn.Module, ssf: ScaleShift, attention: nn.Module | None) -> None:
    gamma, beta = ssf.gamma.detach(), ssf.beta.detach()
    layer.weight.mul_(gamma.view(-1, *(1,) * (layer.weight.ndim - 1)))
    if attention is not None:
        _shift(attention, beta)
    elif layer.bias is None:
        layer.bias = nn.Parameter(beta.clone(), requires_grad=layer.weight.requires_grad)
    else:
        layer.bias.mul_(gamma).add_(beta)


def _shift(attention: nn.Module, beta: Tensor) -> None:
    """Shift the separate biases; the keys' bias becomes a persistent buffer, so that files include it."""
    query, key, value = beta.chunk(3)
    attention.q_bias.add_(query)
    attention.v_bias.add_(value)
    attention.register_buffer("k_bias", attention.k_bias + key)


METHOD = Method(
    title=Text("SSF", "SSF（缩放与平移）"),
    sentence=Text(
        "Scales and shifts the output of every operation, channel by channel, and merges into the weights afterwards.",
        "对每个运算的输出逐通道缩放和平移，训练后可合并进权重。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(Switch("drawn", Text("Begin at random near 1 and 0", "在 1 与 0 附近随机初始化")),),
    paper=Paper("Lian et al. 2022", "https://arxiv.org/abs/2210.08823"),
    merge=merge,
    absent=absent,
)
