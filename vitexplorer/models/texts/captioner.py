"""Writer of captions beside an image tower: one word after the other, from the tower's final tokens.

A transformer decoder (Vaswani et al. 2017, arXiv 1706.03762, section 3.1) with the norms first: each block has causal
attention among the words so far, attention from the words to the image's tokens, and an MLP. A sentence begins with a
token for its language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.core.text import Language
from vitexplorer.models.texts.word_list import WordList
from vitexplorer.storage.checked_reading import read_tensors

FILE = "captioner.safetensors"
"""File of a bundled model's captioner; its sizes and words are in `captioner` of config.json"""
PAD, END = 0, 1
"""Tokens of nothing and of the end of a sentence"""
BEGIN: Mapping[Language, int] = {"en": 2, "zh": 3}
"""Token that begins a sentence in a language; words are counted from 4"""


@dataclass(frozen=True)
class CaptionerConfig:
    """Sizes and words of a captioner, as in the model's config.json."""

    vocabulary: tuple[str, ...]
    dim: int
    """Width of the image's tokens"""
    context: int = 32
    """Most tokens of a sentence, its begin and end included"""
    width: int = 128
    layers: int = 2
    heads: int = 4


@dataclass(frozen=True)
class CaptionPass:
    """One pass over the beginnings of sentences."""

    logits: Float[Tensor, "texts tokens words"]
    """Scores of the next word after each token"""
    among_words: tuple[Float[Tensor, "texts heads tokens tokens"], ...]
    """Attention among the words, for each block"""
    to_image: tuple[Float[Tensor, "texts heads tokens keys"], ...]
    """Attention from the words to the image's tokens, for each block"""


class Captioner(nn.Module):
    """Tokens of an image and the beginning of a sentence to scores of the next word."""

    def __init__(self, config: CaptionerConfig):
        super().__init__()
        self.config = config
        self.vocabulary = WordList(config.vocabulary, max(BEGIN.values()) + 1)
        self.words = nn.Embedding(len(self.vocabulary), config.width)
        self.positions = nn.Parameter(0.02 * torch.randn(config.context, config.width))
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, len(self.vocabulary), bias=False)

    def forward(self, tokens: Int[Tensor, "texts tokens"], image: Float[Tensor, "texts keys dim"]) -> CaptionPass:
        """Score the next word after every token of each sentence, from the tokens of its image."""
        return self.run(self.embed(tokens), image)

    def embed(self, tokens: Int[Tensor, "texts tokens"]) -> Float[Tensor, "texts tokens width"]:
        """Return the words' vectors with those of their positions."""
        return self.words(tokens) + self.positions[: tokens.shape[1]]

    def run(self, stream: Float[Tensor, "texts tokens width"], image: Float[Tensor, "texts keys dim"]) -> CaptionPass:
        """Score the next word from embedded tokens."""
        among, to_image = [], []
        for block in self.blocks:
            stream, own, cross = block(stream, image)
            among.append(own)
            to_image.append(cross)
        return CaptionPass(self.head(self.norm(stream)), tuple(among), tuple(to_image))

    @torch.no_grad()
    def write(self, image: Float[Tensor, "keys dim"], language: Language) -> list[int]:
        """Return the tokens of a sentence with its begin, always the likeliest word next, until it ends."""
        tokens = [BEGIN[language]]
        while len(tokens) < self.config.context:
            following = torch.tensor([tokens], device=image.device)
            best = int(self(following, image[None]).logits[0, -1].argmax())
            if best == END:
                break
            tokens.append(best)
        return tokens

    def words_of(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the words of tokens after the begin."""
        return tuple(self.vocabulary.words[token - self.vocabulary.first] for token in tokens[1:])

    def read_alone(self, image: Float[Tensor, "keys dim"]) -> Float[Tensor, "keys words"]:
        """Score the words for each of the image's tokens alone: the logit lens of what the last block reads there.

        It is the last block's output projection of the token's values, then final norm and vocabulary.
        """
        cross = self.blocks[-1].to_image
        return self.head(self.norm(cross.out(cross.value(image))))


class _Attention(nn.Module):
    """Attention with its weights in sight."""

    def __init__(self, width: int, heads: int, dim: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key, self.value = nn.Linear(dim, width), nn.Linear(dim, width)
        self.out = nn.Linear(width, width)

    def forward(self, stream: Tensor, source: Tensor, *, causal: bool = False) -> tuple[Tensor, Tensor]:
        """Return what is added to the stream, and the weights (texts, heads, queries, keys)."""
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query(stream), self.key(source), self.value(source))
        )
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        weights = scores.softmax(-1)
        return self.out((weights @ value).transpose(1, 2).flatten(2)), weights


class _Block(nn.Module):
    def __init__(self, config: CaptionerConfig):
        super().__init__()
        width, heads = config.width, config.heads
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.among_words = _Attention(width, heads, width)
        self.to_image = _Attention(width, heads, config.dim)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, stream: Tensor, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        words = self.norm1(stream)
        added, own = self.among_words(words, words, causal=True)
        stream = stream + added
        added, cross = self.to_image(self.norm2(stream), image)
        stream = stream + added
        return stream + self.mlp(self.norm3(stream)), own, cross


def captioner_at(folder: Path) -> Captioner | None:
    """Load the captioner beside a bundled model's weights, in eval mode; None if there is none."""
    if not (folder / FILE).is_file():
        return None
    stated: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))["captioner"]
    captioner = Captioner(CaptionerConfig(**stated | {"vocabulary": tuple(stated["vocabulary"])}))
    captioner.load_state_dict(read_tensors(folder / FILE)[0])
    return captioner.eval().requires_grad_(False)
