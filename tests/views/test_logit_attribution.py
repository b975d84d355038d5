"""Logit attribution: every bar equals hooks on timm's own module, and the bars add up to the logit."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers.expected_refusals import is_refused
from tests.helpers.readings import checked_reading
from tests.helpers.small_models import RECIPES, capture_small
from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.core.text import UnsupportedError, same
from vitexplorer.core.types import ContributionsResult, Provenance
from vitexplorer.quantities.frozen_norm import frozen_at

TARGET = 3
SUPPORTED = [key for key in RECIPES if not is_refused("logit_attribution", key)]


class Twin:
    """Slow twin: a float64 copy of the module, its branches' outputs, and its head with the norms' scale fixed."""

    def __init__(self, captured: Capture):
        self.module = copy.deepcopy(captured.model.module).double()
        self.prefix = len(captured.prefix_tokens)
        self.terms: list[tuple[str, Tensor]] = []
        for number, block in enumerate(self.module.blocks):
            if number == 0:
                block.register_forward_pre_hook(lambda _, inputs: self.terms.append(("embedding", inputs[0])))
            for name, branch in (("drop_path1", "attn"), ("drop_path2", "mlp"), ("drop_path", "attn + mlp")):
                if hasattr(block, name):
                    getattr(block, name).register_forward_hook(self.keep(f"block {number} {branch}"))
        with torch.no_grad():
            self.logit = float(self.module(captured.input.tensor.double())[0, TARGET])
        self.last = sum(term for _, term in self.terms)

    def keep(self, name: str):
        return lambda _, inputs, output: self.terms.append((name, output))

    def normed(self, norm: nn.Module, x: Tensor, whole: Tensor) -> Tensor:
        """Compute gain (x - mean x) / deviation of the whole; RMSNorm does not subtract the mean."""
        if isinstance(norm, nn.Identity):
            return x
        if isinstance(norm, nn.LayerNorm):
            x, whole = x - x.mean(-1, keepdim=True), whole - whole.mean(-1, keepdim=True)
        return norm.weight * x / (whole.square().mean(-1, keepdim=True) + norm.eps).sqrt()

    def pooled(self, tokens: Tensor) -> list[Tensor]:
        if hasattr(self.module, "head_dist"):
            return [tokens[0, 0], tokens[0, 1]]
        return [tokens[0, 0] if self.module.global_pool == "token" else tokens[0, self.prefix :].mean(0)]

    @torch.no_grad()
    def bars(self) -> dict[str, float]:
        heads = [self.module.head, *([self.module.head_dist] if hasattr(self.module, "head_dist") else [])]
        whole = self.pooled(self.normed(self.module.norm, self.last, self.last))
        bars: dict[str, float] = {}
        for name, term in self.terms:
            tokens = self.pooled(self.normed(self.module.norm, term, self.last))
            rows = zip(heads, tokens, whole, strict=True)
            logits = [head.weight[TARGET] @ self.normed(self.module.fc_norm, one, all_) for head, one, all_ in rows]
            bars[name] = float(sum(logits)) / len(logits)
        return bars


@pytest.mark.parametrize("key", SUPPORTED)
def test_bars_are_what_the_branches_of_timms_module_add(key):
    captured, twin = capture_small(key), Twin(capture_small(key))
    result, expected = vx.compute("logit_attribution", captured, target=TARGET), twin.bars()
    assert result.parts == (*expected, "constant")
    largest = max(map(abs, result.values.tolist()))
    np.testing.assert_allclose(result.values[:-1], list(expected.values()), rtol=0, atol=2e-4 * largest)
    assert result.values[-1] == pytest.approx(twin.logit - sum(expected.values()), abs=2e-4 * largest)
    assert result.logit == pytest.approx(float(captured.logits[TARGET]), abs=1e-6 * largest)
    assert result.values.sum() == pytest.approx(result.logit, abs=1e-12 * largest)


@pytest.mark.parametrize(("key", "message"), [("siglip", "non-linear step"), ("swin", "between its stages")])
def test_what_is_no_sum_is_refused_with_the_reason(key, message):
    with pytest.raises(UnsupportedError, match=message):
        vx.compute("logit_attribution", capture_small(key))


class NormAfterTheSum(nn.Module):
    """Block whose output is normed once more, as in the original transformer."""

    def __init__(self, block: nn.Module):
        super().__init__()
        self.attn, self.block, self.after = block.attn, block, nn.LayerNorm(48)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.block(x))


def test_a_stream_that_is_normed_between_blocks_is_refused():
    captured = capture_small("vit")
    module = copy.deepcopy(captured.model.module)
    module.blocks[1] = NormAfterTheSum(module.blocks[1])
    changed = capture_input(replace(captured.model, module=module), captured.input)
    with pytest.raises(UnsupportedError, match="does not read what the block leaves"):
        vx.compute("logit_attribution", changed)


def test_a_changed_run_is_attributed_as_it_ran():
    changed = vx.intervene(capture_small("vit"), "temperature")
    result = vx.compute("logit_attribution", changed, target=TARGET)
    assert result.logit == pytest.approx(float(changed.logits[TARGET]), abs=1e-5)


def test_a_norm_is_held_by_hand():
    """By hand: x = (3, 1), mean 2, deviation 1. Part (1, 0) has mean 0.5, so it is (0.5, -0.5) / 1, times (2, 4)."""
    norm = nn.LayerNorm(2, eps=0.0).double()
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([2.0, 4.0]))
        norm.bias.copy_(torch.tensor([10.0, 20.0]))
    frozen = frozen_at(norm, torch.tensor([[[3.0, 1.0]]]))
    assert frozen(torch.tensor([[[1.0, 0.0]]])).tolist() == [[[11.0, 18.0]]]
    assert frozen(torch.zeros(1, 1, 2)).tolist() == [[[10.0, 20.0]]]


def attributed(**parts: float) -> ContributionsResult:
    names = tuple(name.replace("_", " ").replace("both", "attn + mlp") for name in parts)
    values = np.array(list(parts.values()))
    return ContributionsResult(
        view="logit_attribution", title=same(""), values=values, axes=("parts",), unit=same(""), formula="",
        provenance=Provenance("tiny", "random", "seed 0"), settings={"target": 3}, parts=names,
        logit=float(values.sum()),
    )  # fmt: skip


def test_reading_of_logit_attribution():
    two = attributed(embedding=9, block_0_attn=0.5, block_0_mlp=-2, block_1_attn=1.5, block_1_mlp=3, constant=-1)
    assert checked_reading(two) == (
        "Of the logit 11.0 of class 3, the MLP of block 1 adds the most (+3.00) and the MLP of block 0 the least "
        "(−2.00). All attention together adds +2.00, all MLPs +1.00.",
        "在类别“3”的 logit（11.0）中，块 1 的 MLP 贡献最大（+3.00），块 0 的 MLP 最小（−2.00）。"
        "所有注意力合计 +2.00，所有 MLP 合计 +1.00。",
    )
    assert checked_reading(attributed(embedding=0, block_0_both=0.5, block_1_both=1, constant=0))[0] == (
        "Of the logit 1.50 of class 3, both branches of block 1 add the most (+1.00) and both branches of block "
        "0 the least (+0.500)."
    )


def test_figure_has_a_bar_for_each_part_in_the_colours_of_attention_and_mlp():
    result = attributed(embedding=1, block_0_attn=-2, block_0_mlp=3, constant=0.5)
    (bars,) = [trace for trace in vx.render(result).data if trace.type == "bar"]
    wide = np.array(bars.x)
    np.testing.assert_allclose(wide / wide[2], np.abs(result.values) / 3)
    assert bars.base[1] + wide[1] == pytest.approx(bars.base[2]), "to the left and to the right of zero"
    assert bars.marker.color[1:3] == ("#31688e", "#a8521f")
