"""Protocol of a capture for controls, the parts of a pass that it keeps, and the refusals that many views share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import PatchGrid

Part = Literal["attention", "values", "stream"]
"""Part of a pass that a capture keeps of each block

attention: what the attention weights follow from, which is queries and keys, or the scores that an explicit softmax
reads. values: what the weights are multiplied with; it brings the attention, with queries and keys beside scores.
stream: the residual stream before and after the block.
"""
PARTS: tuple[Part, ...] = get_args(Part)
Keep = Part | Collection[Part]
"""Choice of the parts that a capture keeps"""
Refusal = Callable[[Any], Text | None]
"""Function from a capture to the reason why a view has no meaning for it, or None"""


@runtime_checkable
class CaptureProtocol(Protocol):
    """The part of a capture that controls read."""

    prefix_tokens: tuple[str, ...]
    change: Any
    """Change of the network or the image; None for the plain run"""
    parts: frozenset[Part]
    """Parts of the pass that it keeps"""
    logits: Any
    """Tensor (classes,); None without a classifier"""
    model: Any
    """A `LoadedModel`; controls read its names and titles of model and classes, and `has_one_output`"""

    @property
    def depth(self) -> int:
        """Number of blocks."""

    def num_heads(self, block: int) -> int:
        """Return the number of heads of one block."""

    def grid(self, block: int) -> PatchGrid:
        """Return the patch grid of one block's queries."""

    def key_grid(self, block: int) -> PatchGrid:
        """Return the patch grid of one block's keys, usually the same."""

    def queries(self, block: int) -> tuple[str, ...]:
        """Name the prefix tokens that are queries in one block, and "mean" if the patches are."""


_PARTS: dict[Part, Text] = {
    "attention": Text("attention", "注意力"),
    "values": Text("values", "值"),
    "stream": Text("residual stream", "残差流"),
}
_MISSING = Text(
    "This capture keeps no {part}. Make another with keep={keep}.",
    "此次捕获没有保留{part}。请用 keep={keep} 重新捕获。",
)
ONLY_ATTENTION = Text(
    "{model}: for the {family} family, only the attention of single blocks can be shown.",
    "{model}：{family} 家族只能显示单个块的注意力。",
)
NO_TOKENS = Text(
    "{model}: its blocks output neither the last sum that they compute nor the norm of that sum, so its tokens "
    "cannot be shown.",
    "{model}：各块的输出既不是块内最后一次求和的结果，也不是其归一化，因此无法显示其标记。",
)
OTHER_NAMES = Text(
    "{model} was wrapped as it is, and which of its parts embed patches, hold positions or form an MLP is not "
    "known. Save its weights and open them with load_model(weights=...) for this.",
    "{model} 是直接包装的模块，无法得知哪些部分是图块嵌入、位置编码或 MLP。请保存其权重，"
    "再用 load_model(weights=...) 打开。",
)
NOT_READ_OUT = Text(
    "{model} does not turn its last tokens into an answer in the usual way (norm, class token or mean, one linear "
    "layer), so no other token can be read like that.",
    "{model} 不是以常见方式（归一化、类别标记或均值、一个线性层）从最后的标记得到输出，"
    "因此无法用同样的方式读出其他标记。",
)


def parts_of(keep: Keep) -> frozenset[Part]:
    """Return the parts that `keep` names; values bring the attention. Raises UnknownNameError for any other name."""
    names = frozenset([keep] if isinstance(keep, str) else keep)
    for name in names:
        if name not in PARTS:
            raise unknown_name("part", name, PARTS)
    return names | {"attention"} if "values" in names else names


def missing_part(capture: CaptureProtocol, *parts: Part) -> Text | None:
    """Refuse a capture that lacks one of the parts; None for one that keeps them all."""
    for part in parts:
        if part not in capture.parts:
            keep = tuple(name for name in PARTS if name in {*capture.parts, *parts})
            return _MISSING.format(part=_PARTS[part], keep=repr(keep))
    return None


def require_part(capture: CaptureProtocol, part: Part) -> None:
    """Raise UnsupportedError where a capture lacks a part."""
    reason = missing_part(capture, part)
    if reason is not None:
        raise UnsupportedError(reason)


def refuse_if(applies: Callable[[Any], bool], reason: Text) -> Refusal:
    """Return the refusal of captures to which a condition applies; `{model}` in the reason becomes the model's name."""
    return lambda capture: reason.format(model=capture.model.title) if applies(capture) else None


def merges_tokens(capture: CaptureProtocol) -> bool:
    """Return True for models that merge tokens between stages."""
    return any(site.windows for site in capture.sites)


def has_one_output(capture: CaptureProtocol) -> bool:
    """Return True where the answer is one number in its own unit, not a probability."""
    return capture.logits is not None and capture.model.has_one_output


def without_classes(capture: CaptureProtocol) -> Text | None:
    """Refuse a model without classes or with one output; None for one that has classes."""
    if not has_one_output(capture):
        return without_classifier(capture)
    return Text(
        "{model} answers with one number, and this is about a choice among classes.",
        "{model} 的答案是一个数值，而这里讨论的是在多个类别中的选择。",
    ).format(model=capture.model.title)


def without_answer(capture: CaptureProtocol) -> Text | None:
    """Refuse a model that neither has a classifier nor reads texts; None for one that does."""
    return None if capture.model.projects else without_classifier(capture)


def without_classifier(capture: CaptureProtocol) -> Text | None:
    """Refuse a model without a classifier; None for one that has it."""
    if capture.logits is not None:
        return None
    return Text(
        "{model} has no classifier, so there is no class to explain.", "{model} 没有分类头，因此没有可以解释的类别。"
    ).format(model=capture.model.title)
