"""Classifier of a tuned model: timm's own for a number of classes, or a method's replacement."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.models.outline import classifiers


def new_head(module: nn.Module, num_classes: int | None) -> None:
    """Reset timm's classifier, or keep it for None, and let it train; nothing else in `module` is unfrozen.

    Raises SettingError if there is no classifier and `num_classes` is None.
    """
    if num_classes is None and not module.num_classes:
        raise SettingError(
            Text(
                "The model has no classifier: say num_classes, the number of classes (1 for a regression).",
                "模型没有分类头：请给出类别数 num_classes（回归任务为 1）。",
            )
        )
    if num_classes is not None:
        module.reset_classifier(num_classes)
    for name in classifiers(module):
        module.get_submodule(name).requires_grad_(True)


def feature_width(head: nn.Module) -> int:
    """Return the width of a classifier's input. Raises UnsupportedError if it is not a single linear layer."""
    if not isinstance(head, nn.Linear):
        raise UnsupportedError(
            Text(
                "This method needs a classifier that is a single linear layer, not a {kind}.",
                "此方法需要由单个线性层构成的分类头；此模型的分类头是 {kind}。",
            ).format(kind=type(head).__name__)
        )
    return head.in_features


def replace_heads(module: nn.Module, build: Callable[[nn.Linear], nn.Module]) -> None:
    """Put build(classifier) in place of each classifier of `module`."""
    for name in classifiers(module):
        parent, _, own = name.rpartition(".")
        setattr(module.get_submodule(parent), own, build(module.get_submodule(name)))


@torch.no_grad()
def begin_with(module: nn.Module, weight: Tensor, bias: Tensor, centre: Tensor, spread: Tensor) -> bool:
    """Initialise every classifier of `module` to weight (x - centre) / spread + bias; return False if impossible.

    Impossible for a head of several layers: none of them reads the features and also computes the logits.
    """
    heads = [module.get_submodule(name) for name in classifiers(module)]
    if not all(isinstance(head, nn.Linear) or _is_normed(head) for head in heads):
        return False
    plain = weight / spread, bias - weight @ (centre / spread)
    for head in heads:
        if isinstance(head, nn.Sequential):
            head[0].norm.running_mean.copy_(centre)
            head[0].norm.running_var.copy_((spread.square() - head[0].norm.eps).clamp_min(0))
        layer, own = (head[-1], (weight, bias)) if isinstance(head, nn.Sequential) else (head, plain)
        layer.weight.copy_(own[0])
        if layer.bias is not None:
            layer.bias.copy_(own[1])
    return bool(heads)


def _is_normed(head: nn.Module) -> bool:
    return isinstance(head, nn.Sequential) and len(head) == 2 and isinstance(head[0], FeatureNorm)


def output_layers(module: nn.Module) -> list[nn.Linear]:
    """Return the layers that compute the logits: the last linear layer of each classifier."""
    heads = [module.get_submodule(name) for name in classifiers(module)]
    layers = [[part for part in head.modules() if isinstance(part, nn.Linear)] for head in heads]
    return [linear_layers[-1] for linear_layers in layers if linear_layers]


class FeatureNorm(nn.Module):
    """Batch norm without parameters along the last axis: features of MAE and DINO have very unequal spreads."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.BatchNorm1d(width, affine=False)

    def forward(self, features: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
        """Normalise each feature to mean 0 and variance 1 with the training statistics."""
        return self.norm(features.flatten(0, -2)).view_as(features)


@torch.no_grad()
def fold_norms(module: nn.Module) -> None:
    """Fold each `FeatureNorm` before a classifier into the classifier."""
    replace_heads(module, lambda head: _folded(*head) if isinstance(head, nn.Sequential) else head)


def _folded(norm: FeatureNorm, layer: nn.Linear) -> nn.Linear:
    scale = (norm.norm.running_var + norm.norm.eps).rsqrt()
    layer.weight.mul_(scale)
    layer.bias.sub_(layer.weight @ norm.norm.running_mean)
    return layer
