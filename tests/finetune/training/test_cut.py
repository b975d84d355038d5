"""A network cut in two computes what the whole computes."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.small_models import load_small
from tests.helpers.thorough import in_turn
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.training.cut import Below, Tail
from vitexplorer.finetune.training.cut_search import find_cut

HEADS = [("linear", {}), ("linear", {"norm": True}), ("mlp_k", {}), ("partial_k", {})]
GEOMETRIES = ["vit", "deit_distilled", "siglip", "hybrid", "beit", "eva02", "dinov3", "swin", "swinv2_padded"]


@pytest.mark.parametrize(("key", "head"), in_turn(GEOMETRIES, HEADS, ["vit", "swin"]))
def test_the_tail_is_the_same_network(key, head):
    method, options = head
    model = load_small(key)
    tuned = attach(model, method, 5, **options)
    images = torch.randn(3, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    cut = find_cut(tuned, images[:2])
    assert cut is not None
    with torch.no_grad():
        whole = tuned.module(images)
        part = Tail(tuned.module, cut, torch.zeros_like(images[:1]))(Below(tuned.module, cut)(images))
    assert torch.allclose(whole, part, atol=1e-5)
    if method == "partial_k":
        assert cut.name == model.blocks(model.preprocessing.input_size)[-1].name
    else:
        assert cut.is_last or key == "deit_distilled", "features, not tokens, are kept"


@pytest.mark.parametrize("method", ["lora", "bitfit", "vpt_shallow", "full"])
def test_what_learns_from_the_start_has_no_cut(method):
    tuned = attach(load_small("vit"), method, 5)
    assert find_cut(tuned, torch.zeros(2, 3, 64, 64)) is None


def test_the_tail_leaves_no_trace():
    tuned = attach(load_small("swin"), "partial_k", 5)
    images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    before = tuned.module(images)
    cut = find_cut(tuned, images)
    Tail(tuned.module, cut, images[:1])(Below(tuned.module, cut)(images))
    assert torch.equal(tuned.module(images), before)
    assert not any(part._forward_pre_hooks or "forward" in vars(part) for part in tuned.module.modules())
