"""Where does a word of a caption come from? Three readings of a captioner, from the tokens of one captured pass.

- Cross-attention: the last block's attention from the token that is followed by the word, mean over heads.
- Bi-modal relevance: the rules of Chefer et al. 2021 (arXiv 2103.15679, equations 5 to 10) for the logit of the word.
  The image's tokens count as inputs: their relevance to each other begins and stays the identity.
- Token activation map (Li et al. 2025, arXiv 2506.23270): the word's positive scores in each image token alone, minus
  the share that earlier words explain, then a rank Gaussian filter. In the paper's models image tokens stand in the
  sentence and are read by its logit lens; here they are read as the last block's cross-attention brings them there
  (`Captioner.read_alone`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Language, Text
from vitexplorer.models.texts.captioner import Captioner


@dataclass(frozen=True)
class Caption:
    """Written caption of an image and the tokens that it was written from."""

    captioner: Captioner
    image: Float[Tensor, "keys dim"]
    """Final tokens of the image, prefix tokens first"""
    prefix: int
    """Number of prefix tokens"""
    grid: tuple[int, int]
    """Rows and columns of the patches"""
    tokens: tuple[int, ...]
    """Begin, then the words"""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the caption."""
        return self.captioner.words_of(self.tokens)

    def logits(self) -> Float[Tensor, "tokens vocabulary"]:
        """Score the next word after each token."""
        with torch.no_grad():
            return self.captioner(self.given(), self.image[None]).logits[0]

    def probabilities(self) -> Float[np.ndarray, " words"]:
        """Return the probability of each word after those before it."""
        shares = self.logits()[:-1].softmax(-1)
        return shares[range(len(self.words)), list(self.tokens[1:])].cpu().numpy()

    def given(self) -> Int[Tensor, "1 tokens"]:
        """Return the tokens as a batch."""
        return torch.tensor([self.tokens], device=self.image.device)


def caption_of(capture: Capture, language: Language) -> Caption:
    """Let the capture's model write its caption."""
    model, captioner = capture.model, capture.model.captioner
    with torch.no_grad():
        image = model.family.final_norm(model.module, capture.residual_after(capture.depth - 1)[None])[0]
    grid = capture.grid(capture.depth - 1)
    tokens = tuple(captioner.write(image, language))
    return Caption(captioner, image, len(capture.prefix_tokens), (grid.rows, grid.cols), tokens)


@torch.no_grad()
def cross_attention(caption: Caption) -> Float[np.ndarray, "words patches"]:
    """Return the last block's attention to each patch when each word is chosen, mean over heads."""
    weights = caption.captioner(caption.given()[:, :-1], caption.image[None]).to_image[-1]
    return weights[0].mean(0)[:, caption.prefix :].cpu().numpy()


def bimodal(caption: Caption) -> Float[np.ndarray, "words patches"]:
    """Return the relevance of each patch for the logit of each word, all words in one batch."""
    tokens = torch.tensor(caption.tokens, device=caption.image.device)
    count = len(tokens) - 1
    rows = torch.arange(count)
    with torch.enable_grad():
        stream = caption.captioner.embed(tokens[None, :-1]).expand(count, -1, -1).detach().requires_grad_()
        run = caption.captioner.run(stream, caption.image.expand(count, -1, -1))
        score = run.logits[rows, rows, tokens[1:]].sum()
        slopes = torch.autograd.grad(score, (*run.among_words, *run.to_image))
    depth = len(run.among_words)
    among = torch.eye(count, device=tokens.device).expand(count, -1, -1)
    to_image = torch.zeros_like(run.to_image[0][:, 0])
    for block in range(depth):
        own = _weighed(run.among_words[block], slopes[block])
        cross = _weighed(run.to_image[block], slopes[depth + block])
        to_image = to_image + own @ to_image
        among = among + own @ among
        to_image = to_image + _by_rows(among).transpose(1, 2) @ cross
    return to_image[rows, rows, caption.prefix :].detach().cpu().numpy()


def _weighed(weights: Tensor, slopes: Tensor) -> Float[Tensor, "texts tokens keys"]:
    """Return the mean over heads of the positive part of gradient times attention (equation 5)."""
    return (slopes * weights).relu().mean(1)


def _by_rows(relevance: Float[Tensor, "texts tokens tokens"]) -> Float[Tensor, "texts tokens tokens"]:
    """Divide what attention added to the identity by the sums of its rows, where they are not zero (equations 8, 9)."""
    identity = torch.eye(relevance.shape[-1], device=relevance.device)
    added = relevance - identity
    sums = added.sum(-1, keepdim=True)
    return torch.where(sums > 0, added / sums.where(sums > 0, 1), 0) + identity


def token_activation(caption: Caption) -> Float[np.ndarray, "words patches"]:
    """Return the token activation map of each word."""
    words = list(caption.tokens[1:])
    with torch.no_grad():
        alone = caption.captioner.read_alone(caption.image[caption.prefix :]).relu()
    maps = alone[:, words].T.double().cpu().numpy()
    read = caption.logits().relu().double().cpu().numpy()[1:]
    cleaned = []
    for number, word in enumerate(words):
        earlier = [other for other in range(number) if words[other] != word]
        cleaned.append(_unexplained(maps[number], read[earlier, word] @ maps[earlier]))
    return np.stack([rank_gaussian(each.reshape(caption.grid)).ravel() for each in cleaned])


def _unexplained(
    activation: Float[np.ndarray, " patches"], interference: Float[np.ndarray, " patches"]
) -> Float[np.ndarray, " patches"]:
    """Subtract the multiple of the earlier words' map that comes nearest to the activation, and drop what is negative.

    The earlier words' maps are weighted by the word's positive score at each of them. The sum of the weights, by which
    the paper divides, cancels.
    """
    power = interference @ interference
    if power == 0:
        return activation
    return (activation - activation @ interference / power * interference).clip(min=0)


def rank_gaussian(values: Float[np.ndarray, "rows cols"]) -> Float[np.ndarray, "rows cols"]:
    """Smooth a map by a Gaussian over the ranks in each window of 3 x 3, as wide as its standard deviation over mean.

    The border is mirrored; a window whose numbers are equal keeps them, one whose mean is not positive becomes 0.
    """
    padded = np.pad(values, 1, mode="reflect") if min(values.shape) > 1 else np.pad(values, 1, mode="edge")
    ranked = np.sort(np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*values.shape, 9), axis=-1)
    mean = ranked.mean(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = ranked.std(-1) / mean
        weights = np.exp(-(np.arange(-4, 5) ** 2) / (2 * spread[..., None] ** 2))
    weights[spread == 0] = 1  # 0 / 0
    weighted = (ranked * weights).sum(-1) / weights.sum(-1)
    return np.where(mean > 0, weighted, 0)


@dataclass(frozen=True)
class Reading:
    """One way from a word of a caption to the patches."""

    title: Text
    unit: Text
    says: Text
    """Sentence on what it reads"""
    maps: Callable[[Caption], Float[np.ndarray, "words patches"]]


READINGS: Mapping[str, Reading] = {
    "cross_attention": Reading(
        Text("Cross-attention", "交叉注意力"),
        Text("attention share", "注意力占比"),
        Text("Where the last block looks as it chooses the word.", "最后一个块选词时看向哪里。"),
        cross_attention,
    ),
    "bimodal": Reading(
        Text("Bi-modal relevance", "双模态相关性"),
        Text("relevance", "相关性"),
        Text("Attention of all blocks, weighted by its effect on the word.", "所有块的注意力，按其对该词的影响加权。"),
        bimodal,
    ),
    "token_activation": Reading(
        Text("Token activation map", "词元激活图"),
        Text("score of the word", "该词的得分"),
        Text(
            "What each patch alone says for the word, without the share of earlier words.",
            "每个图块单独对该词的支持，减去前面的词已能解释的部分。",
        ),
        token_activation,
    ),
}
