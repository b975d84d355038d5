"""What controls and refusals need to know of a capture, and the refusals that many views share."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from vitexplorer.types import PatchGrid
from vitexplorer.words import Text


@runtime_checkable
class Explored(Protocol):
    """What controls need to know of a capture."""

    prefix_tokens: tuple[str, ...]
    logits: Any
    """Tensor (classes,), or None without a classifier"""
    model: Any
    """has `name`, `class_names`, `class_names_zh` and `class_texts`"""

    @property
    def depth(self) -> int:
        """Number of blocks."""

    def num_heads(self, block: int) -> int:
        """Heads of one block."""

    def grid(self, block: int) -> PatchGrid:
        """Patch grid of one block."""

    def query_tokens(self, block: int) -> tuple[str, ...]:
        """Names of the prefix tokens that look in one block."""


def only_attention(name: str, family: Text) -> Text:
    """Why a view refuses a model of whose blocks only the attention is stated."""
    return Text(
        "{model}: of the {family} family only the attention of single blocks can be shown.",
        "{model}：{family} 家族只能显示单个块的注意力。",
    ).format(model=name, family=family)


def without_classifier(capture: Explored) -> Text | None:
    """Why a view that explains a class refuses a model without a classifier; None for one that has it."""
    if capture.logits is not None:
        return None
    return Text(
        "{model} has no classifier, so there is no class to explain.", "{model} 没有分类头，因此没有可以解释的类别。"
    ).format(model=capture.model.name)
