"""Names of the parts of a transformer block that fine-tuning methods attach to.

timm's blocks use the same names, with exceptions: BEiT, EVA and Swin V2 read the weight of their fused projection
instead of calling it, EVA-02 has separate projections for queries and values, gated MLPs have two first layers, and
in Swin V2 the norm comes last. A parallel block (ViT-22B) has no MLP of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

from timm.layers import RmsNorm
from timm.models.eva import EvaBlockPostNorm
from timm.models.swin_transformer_v2 import SwinTransformerV2Block
from timm.models.vision_transformer import ParallelScalingBlock, ResPostBlock
from torch import nn

from vitexplorer.core.text import Text, UnsupportedError

_NORM_LAST = (ResPostBlock, EvaBlockPostNorm, SwinTransformerV2Block)
_NORMS = (nn.LayerNorm, nn.GroupNorm, nn.modules.batchnorm._BatchNorm, RmsNorm, nn.RMSNorm)


@dataclass(frozen=True)
class Rows:
    """Rows of a linear layer's weight: the outputs that are queries, keys or values."""

    layer: str
    start: int
    stop: int


@dataclass(frozen=True)
class BlockParts:
    """Names of the parts of a block, `blocks.3.attn`, ...; lists are in the order of the forward pass."""

    name: str
    width: int
    """Numbers per token"""
    attention: str
    projections: tuple[str, ...]
    """Layers that compute queries, keys and values: one fused layer or three"""
    proj: str
    mlp: str
    expand: tuple[str, ...]
    """First layer of the MLP; two in a gated MLP"""
    reduce: str
    norms: tuple[str, str]
    """Norms of the attention and of the MLP"""
    norm_first: bool
    """False where the norm follows its branch"""
    end: str
    """Last module of the MLP's branch before the sum with the tokens"""


def block_parts(module: nn.Module, name: str) -> BlockParts:
    """Return the parts of the block `name`.

    Raises:
        UnsupportedError: the block is not attention followed by an MLP.
    """
    block = module.get_submodule(name)
    if not all(hasattr(block, part) for part in ("norm1", "attn", "norm2", "mlp", "drop_path2")):
        raise UnsupportedError(
            Text(
                "{block} is not the usual attention followed by an MLP.", "{block} 不是常见的“先注意力、后 MLP”结构。"
            ).format(block=f"{name} ({type(block).__name__})")
        )
    gated = hasattr(block.mlp, "fc1_g")
    return BlockParts(
        name=name,
        width=block.mlp.fc2.out_features,
        attention=f"{name}.attn",
        projections=tuple(f"{name}.attn.{part}" for part in _projections(block.attn)),
        proj=f"{name}.attn.proj",
        mlp=f"{name}.mlp",
        expand=tuple(f"{name}.mlp.{part}" for part in (("fc1_g", "fc1_x") if gated else ("fc1",))),
        reduce=f"{name}.mlp.fc2",
        norms=(f"{name}.norm1", f"{name}.norm2"),
        norm_first=not isinstance(block, _NORM_LAST),
        end=f"{name}.drop_path2",
    )


def _projections(attention: nn.Module) -> tuple[str, ...]:
    fused = getattr(attention, "qkv", None)
    return ("qkv",) if fused is not None else ("q_proj", "k_proj", "v_proj")


def projected_rows(module: nn.Module, name: str) -> tuple[Rows, Rows, Rows]:
    """Return the rows of the layers that compute queries, keys and values of the block `name`.

    Raises:
        UnsupportedError: the block has no such layer.
    """
    block = module.get_submodule(name)
    if isinstance(block, ParallelScalingBlock):
        edges = list(accumulate(block.in_split))
        return tuple(Rows(f"{name}.in_proj", start, stop) for start, stop in pairwise(edges))
    attention = getattr(block, "attn", None)
    if attention is None or not any(hasattr(attention, part) for part in ("qkv", "q_proj")):
        raise UnsupportedError(
            Text(
                "{block} has no projection to queries and values that could be changed.",
                "{block} 没有可以修改的查询与值投影。",
            ).format(block=f"{name} ({type(block).__name__})")
        )
    if _projections(attention) == ("qkv",):
        width = attention.qkv.out_features // 3
        return tuple(Rows(f"{name}.attn.qkv", n * width, (n + 1) * width) for n in range(3))
    return tuple(
        Rows(f"{name}.attn.{part}", 0, getattr(attention, part).out_features) for part in _projections(attention)
    )


def reads_weight(module: nn.Module, name: str) -> bool:
    """Return True if a block's attention reads the weight of its fused projection instead of calling it."""
    attention = getattr(module.get_submodule(name), "attn", None)
    return getattr(attention, "q_bias", None) is not None and not attention.qkv_bias_separate


def call_projection(module: nn.Module, name: str) -> None:
    """Make an attention that `reads_weight` call its projection, so that adapters on it take effect (timm's switch)."""
    if reads_weight(module, name):
        module.get_submodule(name).attn.qkv_bias_separate = True


def norms(module: nn.Module) -> dict[str, nn.Module]:
    """Return every norm with parameters by name: layer, RMS, group and batch norms."""
    return {
        name: part
        for name, part in module.named_modules()
        if isinstance(part, _NORMS) and next(part.parameters(recurse=False), None) is not None
    }


def biases(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return every bias by name, with BEiT's `q_bias` and `v_bias`, without relative position bias tables."""
    return {
        name: parameter
        for name, parameter in module.named_parameters()
        if (own := name.rpartition(".")[2]) == "bias" or own.endswith("_bias")
    }


def position_tables(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return every relative position bias table by name."""
    named = module.named_parameters()
    return {name: parameter for name, parameter in named if name.endswith("relative_position_bias_table")}
