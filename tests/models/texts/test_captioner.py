"""Captioner: the network against its formula, and its sentences against all that it could write."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.helpers.small_captioner import HEADS, WIDTH, image_tokens, small_captioner
from vitexplorer.models.texts.captioner import BEGIN, END, captioner_at


@pytest.fixture(scope="module")
def captioner():
    return small_captioner()


@pytest.fixture(scope="module")
def image():
    return image_tokens(5)


def norm(x, layer):
    return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias)


def attended(layer, stream, source, heads, *, causal):
    """Slow twin: one head and one word after the other."""
    q, k, v = layer.query(stream), layer.key(source), layer.value(source)
    size = q.shape[-1] // heads
    rows = []
    for word in range(len(stream)):
        until = word + 1 if causal else len(source)
        parts = []
        for head in range(heads):
            at = slice(head * size, (head + 1) * size)
            scores = torch.stack([q[word, at] @ k[other, at] / math.sqrt(size) for other in range(until)])
            parts.append(scores.softmax(-1) @ v[:until, at])
        rows.append(torch.cat(parts))
    return layer.out(torch.stack(rows))


def test_the_network_is_its_formula(captioner, image):
    tokens = torch.tensor([BEGIN["en"], 4, 5, 6])
    x = captioner.words.weight[tokens] + captioner.positions[:4]
    for block in captioner.blocks:
        words = norm(x, block.norm1)
        x = x + attended(block.among_words, words, words, HEADS, causal=True)
        x = x + attended(block.to_image, norm(x, block.norm2), image, HEADS, causal=False)
        x = x + block.mlp(norm(x, block.norm3))
    expected = norm(x, captioner.norm) @ captioner.head.weight.T
    assert torch.allclose(captioner(tokens[None], image[None]).logits[0], expected, atol=1e-5)


def test_a_later_word_changes_nothing_before_it(captioner, image):
    one, other = (captioner(torch.tensor([[2, 4, last]]), image[None]).logits for last in (5, 6))
    assert torch.equal(one[:, :2], other[:, :2])
    assert not torch.allclose(one[:, 2], other[:, 2])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_word_is_the_likeliest_after_those_before_it(captioner, image, language):
    tokens = captioner.write(image, language)
    assert tokens[0] == BEGIN[language]
    assert len(tokens) <= captioner.config.context
    for at in range(1, len(tokens)):
        scores = captioner(torch.tensor([tokens[:at]]), image[None]).logits[0, -1]
        assert tokens[at] == scores.argmax() != END
    if len(tokens) < captioner.config.context:
        assert captioner(torch.tensor([tokens]), image[None]).logits[0, -1].argmax() == END


def test_tokens_are_words_again(captioner):
    assert captioner.words_of([BEGIN["en"], *captioner.vocabulary.tokens("a red gear")]) == ("a", "red", "gear")


def test_read_alone_is_attention_to_one_token(captioner, image):
    """Attention that rests on one token adds the output projection of its value and nothing else."""
    layer = captioner.blocks[-1].to_image
    for number, scores in enumerate(captioner.read_alone(image)):
        added, _ = layer(torch.zeros(1, 1, WIDTH), image[None, number : number + 1])
        assert torch.allclose(captioner.head(captioner.norm(added[0, 0])), scores, atol=1e-5)


def test_a_folder_without_a_captioner_has_none(tmp_path):
    assert captioner_at(tmp_path) is None
