"""Model families, one file each, looked up by the class of a timm module, and the refusals of other classes."""

from __future__ import annotations

from functools import cache

from torch import nn

from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.models.family import ModelFamily

NO_ATTENTION = Text("it has no attention between the places of an image", "它在图像各位置之间没有注意力")
NOT_STATED = Text(
    "the places of its attention's tokens in the image have not been stated and checked",
    "其注意力中各标记在图像中的位置尚未确定和核对",
)
_CHANNELS = Text(
    "its attention is between channels, so no patch has weights on other patches",
    "它的注意力作用于通道之间，图块之间没有权重",
)
_NO_SOFTMAX = Text(
    "its attention is linear: no softmax gives a patch weights on other patches",
    "它的注意力是线性的：没有 softmax，得不到图块之间的权重",
)
_LAYERS = Text(
    "it is a convolutional network, and where it has lambda, bilinear, separable or pooling attention "
    "that attention has not been stated and checked",
    "它是卷积网络；其中的 lambda、双线性、可分离或池化注意力（如果有）尚未确定和核对",
)

REASONS: dict[str, Text] = {
    "byoanet": _LAYERS,
    "byobnet": _LAYERS,
    "coat": Text(
        "its attention is factorised: the softmax runs over the keys alone, and no query has weights of its own",
        "它的注意力是因子分解的：softmax 只对键进行，各查询没有自己的权重",
    ),
    "deepseek_vit": NOT_STATED,
    "edgenext": _CHANNELS,
    "efficientvim": Text(
        "it mixes places with a state space, not with attention", "它用状态空间模型而不是注意力来混合各位置的信息"
    ),
    "efficientvit_mit": _NO_SOFTMAX,
    "gemma4_vit": NOT_STATED,
    "mobilenetv5": NOT_STATED,
    "qwen3_vit": NOT_STATED,
    "swiftformer": Text(
        "its attention is additive: all patches share one query, and no softmax over keys is made",
        "它的注意力是加性的：所有图块共用一个查询，也没有对键的 softmax",
    ),
}
"""Reasons for refusing models of other architectures, by the timm file that defines them; the files that are not listed
define networks without attention between the places of an image"""

FAMILIES: Registry[ModelFamily] = Registry("model family", __name__, "FAMILY")


@cache
def families_of_class() -> dict[type[nn.Module], tuple[ModelFamily, ...]]:
    """Return the families of every supported class: one, or several that attend by different parts."""
    kinds = {kind for family in FAMILIES.values() for kind in family.of}
    return {kind: tuple(family for family in FAMILIES.values() if kind in family.of) for kind in kinds}


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """Return the family of `module`, by its class or the nearest base class.

    Raises:
        UnsupportedError: there is none, or the module has no attention to show; the message names the architecture.
    """
    families = families_of_class()
    candidates = next((families[kind] for kind in type(module).__mro__ if kind in families), ())
    for family in candidates:
        if family.attends(module):
            return family
    raise UnsupportedError(
        Text("{name} is a {kind}: {reason}.", "{name} 属于 {kind}：{reason}。").format(
            name=name, kind=type(module).__name__, reason=_reason_for(module)
        )
    )


def _reason_for(module: nn.Module) -> Text:
    file = type(module).__module__.rsplit(".", 1)[-1]
    known = type(module).__module__.startswith("timm.")
    return REASONS.get(file, NO_ATTENTION if known else NOT_STATED)
