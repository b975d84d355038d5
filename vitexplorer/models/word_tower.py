"""Text half of the bundled models: a small transformer over whole words, English and Chinese in one vocabulary.

As in CLIP (Radford et al. 2021, arXiv 2103.00020, section 2.4) a text's vector is read at a token after its last word
and projected to the joint space; unlike there, every word attends to every other, and a token is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.core.text import SettingError, Text

PAD, END = 0, 1
"""Tokens of nothing and of the end of a text; words are counted from 2"""
_PIECES = re.compile(r"[\u4e00-\u9fff]+|[^\W\d_\u4e00-\u9fff]+|\S")
"""A run of Chinese characters, a word of letters, or one other character"""
_UNKNOWN = Text(
    "This model does not know {words}. It was trained on short sentences about drawn things: a red gear.",
    "该模型不认识{words}。它只用关于合成物体的短句训练过：一个红色的齿轮。",
)
_NO_WORDS = Text("There is no word in {text}.", "{text} 中没有文字。")


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
        self.numbers = {word: number for number, word in enumerate(config.vocabulary, END + 1)}
        self.longest = max(map(len, config.vocabulary))
        self.words = nn.Embedding(len(config.vocabulary) + END + 1, config.width)
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

    def split(self, text: str) -> list[str]:
        """Split a text into words of the vocabulary; Chinese ones are the longest that match from the left.

        Raises:
            SettingError: a word is not in the vocabulary, or there is none.
        """
        words: list[str] = []
        for piece in _PIECES.findall(text):
            if "\u4e00" <= piece[0] <= "\u9fff":
                words += self._longest_matches(piece)
            elif not unicodedata.category(piece[0]).startswith("P"):  # punctuation
                words.append(piece.lower())
        if not words:
            raise SettingError(_NO_WORDS.format(text=repr(text)[:60]))
        if unknown := dict.fromkeys(word for word in words if word not in self.numbers):
            listed = [f"“{word[:40]}”" for word in unknown][:5]
            raise SettingError(_UNKNOWN.format(words=Text(", ".join(listed), "".join(listed))))
        return words

    def _longest_matches(self, piece: str) -> list[str]:
        words = []
        while piece:
            lengths = range(min(self.longest, len(piece)), 0, -1)
            length = next((length for length in lengths if piece[:length] in self.numbers), 1)
            words.append(piece[:length])
            piece = piece[length:]
        return words

    def tokens(self, texts: Sequence[str]) -> Int[Tensor, "texts tokens"]:
        """Return the tokens of texts, each with its end, padded to the longest. Raises what `split` raises."""
        rows = [torch.tensor([*(self.numbers[word] for word in self.split(text)), END]) for text in texts]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
