"""Order of a backbone's parts: stem, blocks, the modules after them, classifier.

Fine-tuning needs it for transformers and for convolutional networks. A convolutional block is a residual block of
timm's ResNet or an inverted bottleneck of its EfficientNet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from timm.layers import DropPath, calculate_drop_path_rates
from timm.models.efficientnet import EfficientNet
from timm.models.resnet import ResNet
from timm.models.swin_transformer import SwinTransformer
from timm.models.swin_transformer_v2 import SwinTransformerV2
from torch import nn

from vitexplorer.models.dino_txt import DinoTxt

CONVOLUTIONAL = (ResNet, EfficientNet)
_NORMS_AT_THE_END = ("norm", "fc_norm")
_DROPS = ("drop_path", "drop_path1", "drop_path2")


@dataclass(frozen=True)
class Outline:
    """Names of a module's parts in the order of the forward pass."""

    blocks: tuple[str, ...]
    ending: tuple[str, ...]
    """Modules with parameters after the last block, without pooling and classifier: the final norm"""
    classifiers: tuple[str, ...]
    """One classifier, or two in a distilled DeiT"""
    leading: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Modules directly before a block, by block: Swin's patch merging, the backbone's norm in a dino.txt"""

    def place(self, name: str) -> int:
        """Return the block that a parameter belongs to; -1 before all blocks, `len(blocks)` after them."""
        for block, own in enumerate(self.blocks):
            if any(_within(name, part) for part in (own, *self.leading.get(block, ()))):
                return block
        after = (*self.ending, *self.classifiers, "attn_pool")
        return len(self.blocks) if any(_within(name, part) for part in after) else -1


def _within(name: str, part: str) -> bool:
    """Return True if `name` is `part` or below it; `blocks.1` does not contain `blocks.10`."""
    return name == part or name.startswith(f"{part}.")


def outline(module: nn.Module) -> Outline:
    """Return the outline of a timm module; it has no blocks if the module has no `blocks`."""
    leading: dict[int, tuple[str, ...]] = {}
    ending = tuple(name for name in _NORMS_AT_THE_END if has_parameters(getattr(module, name, None)))
    if isinstance(module, (SwinTransformer, SwinTransformerV2)):
        blocks: list[str] = []
        for s, stage in enumerate(module.layers):
            if has_parameters(stage.downsample):
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
    if isinstance(module, DinoTxt):
        leading[len(blocks)] = ending
        blocks += [f"vision_head.blocks.{b}" for b in range(len(module.vision_head.blocks))]
        ending = ("vision_head.norm", "vision_head.proj")
    return Outline(tuple(blocks), ending, classifiers(module), leading)


def classifiers(module: nn.Module) -> tuple[str, ...]:
    """Return the names of the modules that compute the logits, timm's placeholders for them included."""
    heads = module.get_classifier()
    heads = heads if isinstance(heads, tuple) else (heads,)
    return tuple(name for name, part in module.named_modules() if any(part is head for head in heads))


def is_drop_path(part: nn.Module) -> bool:
    """Return True if a module skips a branch at random during training."""
    return isinstance(part, DropPath)


def set_drop_path(module: nn.Module, rate: float) -> None:
    """Set the stochastic depth of a transformer's blocks, from 0 in the first to `rate` in the last.

    Huang et al. 2016, arXiv 1603.09382, with timm's linear rule. Children and forward hooks of a replaced module, such
    as an adapter, move to the new one.
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


def has_parameters(part: nn.Module | None) -> bool:
    """Return True for a module with parameters of its own or of a child; None has none."""
    return part is not None and next(part.parameters(), None) is not None
