"""Convolutional backbones, fine-tuned for comparison with transformers; they have no attention to show."""

from __future__ import annotations

from torch import nn

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families import family_of
from vitexplorer.models.families.attention_only import AttentionOnlyFamily
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.outline import CONVOLUTIONAL


class ConvolutionalFamily(AttentionOnlyFamily):
    """timm's ResNet and EfficientNet, for fine-tuning only."""

    key = "convolutional"
    title = Text("convolutional network", "卷积网络")
    of = CONVOLUTIONAL

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Refuse: there are no tokens.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            Text(
                "{model} is a convolutional network: it can be fine-tuned, but has no tokens and no attention to show.",
                "{model} 是卷积网络：可以微调，但没有可以显示的标记和注意力。",
            ).format(model=type(module).__name__)
        )


_FAMILY = ConvolutionalFamily()


def family_of_backbone(module: nn.Module, name: str) -> ModelFamily:
    """Return the family of a backbone for fine-tuning.

    Raises:
        UnsupportedError: it belongs to no family.
    """
    return _FAMILY if isinstance(module, _FAMILY.of) else family_of(module, name)
