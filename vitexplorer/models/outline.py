"""The order of a backbone's parts: what comes before the blocks, the blocks, what follows them, the classifier.

Fine-tuning asks this of transformers and of convolutional networks alike. A convolutional block is a residual block
of timm's ResNet or an inverted bottleneck of its EfficientNet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from timm.layers import DropPath, calculate_drop_path_rates
from timm.models.efficientnet import EfficientNet
from timm.models.resnet import ResNet
from timm.models.swin_transformer import SwinTransformer
from timm.models.swin_transformer_v2 import SwinTransformerV2
from torch import nn

CONVOLUTIONAL = (ResNet, EfficientNet)
_NORMS_AT_THE_END = ("norm", "fc_norm")
_DROPS = ("drop_path", "drop_path1", "drop_path2")


@dataclass(frozen=True)
class Outline:
    """Names of a module's parts in the order of the forward pass."""

    blocks: tuple[str, ...]
    ending: tuple[str, ...]
    """what follows the last block and has parameters, without pooling and classifier: the final norm"""
    classifiers: tuple[str, ...]
    """one, or two in a distilled DeiT"""
    leading: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """by block: what is between it and the block before; Swin's merging of patches"""

    def place(self, name: str) -> int:
        """The block that a parameter belongs to; -1 before all of them, `len(blocks)` after."""
        for block, own in enumerate(self.blocks):
            if any(_within(name, part) for part in (own, *self.leading.get(block, ()))):
                return block
        after = (*self.ending, *self.classifiers, "attn_pool")
        return len(self.blocks) if any(_within(name, part) for part in after) else -1


def _within(name: str, part: str) -> bool:
    """Whether a name is a part or below it; `blocks.1` holds nothing of `blocks.10`."""
    return name == part or name.startswith(f"{part}.")


def outline(module: nn.Module) -> Outline:
    """The outline of a timm module; without blocks where it has none by that name."""
    leading: dict[int, tuple[str, ...]] = {}
    ending = tuple(name for name in _NORMS_AT_THE_END if _learns(getattr(module, name, None)))
    if isinstance(module, (SwinTransformer, SwinTransformerV2)):
        blocks: list[str] = []
        for s, stage in enumerate(module.layers):
            if _learns(stage.downsample):
                leading[len(blocks)] = (f"layers.{s}.downsample",)
            blocks += [f"layers.{s}.blocks.{b}" for b in range(len(stage.blocks))]
    elif isinstance(module, ResNet):
        stages = ("layer1", "layer2", "layer3", "layer4")
        blocks = [f"{stage}.{b}" for stage in stages for b in range(len(module.get_submodule(stage)))]
    elif isinstance(module, EfficientNet):
        blocks = [f"blocks.{s}.{b}" for s, stage in enumerate(module.blocks) for b in range(len(stage))]
        ending = ("conv_head", "bn2")
    else:
        blocks = [f"blocks.{b}" for b in range(len(getattr(module, "blocks", ())))]
    return Outline(tuple(blocks), ending, classifiers(module), leading)


def classifiers(module: nn.Module) -> tuple[str, ...]:
    """Names of the modules that give the logits; also where there are none yet and timm keeps their place."""
    found = module.get_classifier()
    found = found if isinstance(found, tuple) else (found,)
    return tuple(name for name, part in module.named_modules() if any(part is one for one in found))


def is_drop_path(part: nn.Module) -> bool:
    """Whether a module skips a branch at random while it trains."""
    return isinstance(part, DropPath)


def set_drop_path(module: nn.Module, rate: float) -> None:
    """Let the blocks of a transformer skip a branch at random while they train, from 0 in the first to `rate`.

    Stochastic depth (Huang et al. 2016, arXiv 1603.09382) with the linear rule of timm. What hangs on the module that
    stands there, an adapter, hangs on the new one as well.
    """
    blocks = [module.get_submodule(name) for name in outline(module).blocks]
    for block, share in zip(blocks, calculate_drop_path_rates(rate, len(blocks)), strict=True):
        for name in _DROPS:
            old = getattr(block, name, None)
            if not isinstance(old, (nn.Identity, DropPath)):
                continue
            new = DropPath(share) if share > 0 else nn.Identity()
            new.train(old.training)
            for key, part in old.named_children():
                new.add_module(key, part)
            new._forward_hooks.update(old._forward_hooks)
            setattr(block, name, new)


def _learns(part: nn.Module | None) -> bool:
    return part is not None and next(part.parameters(), None) is not None
