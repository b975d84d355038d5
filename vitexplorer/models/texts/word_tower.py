"""Text half of the bundled models: a small transformer over whole words, English and Chinese in one vocabulary.

As in CLIP (Radford et al. 2021, arXiv 2103.00020, section 2.4) a text's vector is read at a token after its last word
and projected to the joint space; unlike there, every word attends to every other, and a token is a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.models.texts.word_list import WordList

PAD, END = 0, 1
"""Tokens of nothing and of the end of a text; words are counted from 2"""


@dataclass(frozen=True)
class WordTowerConfig:
    """Sizes and words of a text half, as in the model's config.json."""

    vocabulary: tuple[str, ...]
    joint: int
    """Width of the joint space"""
    context: int = 48
    """Most tokens of a text, its end included"""
    width: int = 128
    layers: int = 2
    heads: int = 4
    sigmoid: bool = False
    """True if each pair was trained with a sigmoid, False for a softmax over the texts"""


class WordTower(nn.Module):
    """Texts as tokens to vectors of the joint space, with scale and bias of the cosines in training."""

    def __init__(self, config: WordTowerConfig):
        super().__init__()
        self.config = config
        self.vocabulary = WordList(config.vocabulary, END + 1)
        self.words = nn.Embedding(len(self.vocabulary), config.width)
        self.positions = nn.Parameter(0.02 * torch.randn(config.context, config.width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                config.width, config.heads, 4 * config.width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)
        self.proj = nn.Linear(config.width, config.joint, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(10.0).log())
        self.logit_bias = nn.Parameter(torch.tensor(-10.0 if config.sigmoid else 0.0), requires_grad=config.sigmoid)

    def forward(self, tokens: Int[Tensor, "texts tokens"]) -> Float[Tensor, "texts joint"]:
        """Compute the vectors of texts, not yet at unit length."""
        stream = self.words(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            stream = block(stream, src_key_padding_mask=tokens == PAD)
        ends = (tokens == END).int().argmax(1)
        return self.proj(self.norm(stream[torch.arange(len(tokens)), ends]))

    def tokens(self, texts: Sequence[str]) -> Int[Tensor, "texts tokens"]:
        """Return the tokens of texts, each with its end, padded to the longest. Raises what `WordList.split` does."""
        rows = [torch.tensor([*self.vocabulary.tokens(text), END]) for text in texts]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
