"""Text half of the bundled models: tokens, and the network against its formula."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from vitexplorer.models.seeding import seeded
from vitexplorer.models.texts.word_tower import END, PAD, WordTower, WordTowerConfig

WORDS = ("a", "red", "gear", "一个", "红色", "红", "的", "齿轮")


@pytest.fixture(scope="module")
def tower():
    with seeded(0):
        return WordTower(WordTowerConfig(WORDS, joint=6, context=12, width=16, layers=2, heads=4)).eval()


def test_tokens_end_and_are_padded(tower):
    assert tower.tokens(["gear", "a red gear"]).tolist() == [[4, END, PAD, PAD], [2, 3, 4, END]]


def test_vectors_do_not_depend_on_other_texts(tower):
    alone = tower(tower.tokens(["red"]))
    together = tower(tower.tokens(["red", "a red gear", "一个红色的齿轮"]))
    assert torch.allclose(alone[0], together[0], atol=1e-6)


def test_the_network_is_its_formula(tower):
    """Slow twin: pre-norm blocks with attention head by head, read at the end."""
    tokens = tower.tokens(["a red gear"])[0]
    x = tower.words.weight[tokens] + tower.positions[: len(tokens)]
    for block in tower.blocks:
        u = F.layer_norm(x, x.shape[-1:], block.norm1.weight, block.norm1.bias)
        q, k, v = (u @ block.self_attn.in_proj_weight.T + block.self_attn.in_proj_bias).chunk(3, -1)
        heads = []
        for head in range(4):
            at = slice(4 * head, 4 * head + 4)
            scores = torch.stack([torch.stack([q[i, at] @ k[j, at] / 2 for j in range(4)]) for i in range(4)])
            heads.append(scores.softmax(-1) @ v[:, at])
        x = x + block.self_attn.out_proj(torch.cat(heads, -1))
        u = F.layer_norm(x, x.shape[-1:], block.norm2.weight, block.norm2.bias)
        x = x + block.linear2(F.gelu(block.linear1(u)))
    expected = tower.proj(F.layer_norm(x[-1], x.shape[-1:], tower.norm.weight, tower.norm.bias))
    assert torch.allclose(tower(tokens[None])[0], expected, atol=1e-5)
