"""Treemap of parameters: modules count as torch counts them, rectangles fit into their parents."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.figures import render


def inside(result, index: int) -> list[int]:
    return [child for child, parent in enumerate(result.parents) if parent == index]


def test_each_module_counts_what_it_holds(any_capture):
    """Count one by one: a module's own parameters and those below it, or the elements of a tensor."""
    result, module = vx.compute("parameter_tree", any_capture), any_capture.model.module
    assert result.total == sum(parameter.numel() for parameter in module.parameters())
    assert len(set(result.modules)) == len(result.modules) == len(result.names)
    modules, tensors = dict(module.named_modules()), dict(module.named_parameters())
    for path, count in zip(result.modules, result.values.tolist(), strict=True):
        held = [tensors[path]] if path in tensors else modules[path].parameters()
        assert count == sum(parameter.numel() for parameter in held) > 0


def test_what_is_inside_adds_up(any_capture):
    result = vx.compute("parameter_tree", any_capture)
    assert sum(result.values[inside(result, -1)]) == result.total
    for index, parent in enumerate(result.parents):
        assert parent < index
        if children := inside(result, index):
            assert len(children) > 1
            assert sum(result.values[children]) == result.values[index]


def test_every_block_is_there_and_numbered_over_the_network(any_capture):
    result = vx.compute("parameter_tree", any_capture)
    blocks = [path for path, name in zip(result.modules, result.names, strict=True) if name.startswith("block ")]
    assert blocks == [site.name for site in any_capture.sites]
    assert [name for name in result.names if name.startswith("block ")] == [f"block {n}" for n in range(len(blocks))]


def test_names_of_a_vit_by_hand():
    result = vx.compute("parameter_tree", capture_small("vit"))
    top = [result.names[index] for index in inside(result, -1)]
    assert top == ["cls_token", "pos_embed", "patch_embed", "block 0", "block 1", "block 2", "norm", "head"]
    first = [result.names[index] for index in inside(result, top.index("block 0"))]
    assert first == ["norm1", "attn", "norm2", "mlp"]
    assert result.values[result.modules.index("blocks.0.attn.qkv")] == 3 * 48 * 48 + 3 * 48


def test_names_of_a_swin_by_hand():
    result = vx.compute("parameter_tree", capture_small("swin"))
    top = [result.names[index] for index in inside(result, -1)]
    assert top == ["patch_embed", "stage 0", "stage 1", "stage 2", "norm", "head"]
    second = [result.names[index] for index in inside(result, result.modules.index("layers.1"))]
    assert second == ["downsample 1", "block 2", "block 3"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_figure_has_a_rectangle_for_each_in_its_place(language):
    result = vx.compute("parameter_tree", capture_small("swin"))
    figure = render(result, language=language)
    (tree,) = (trace for trace in figure.data if trace.type == "treemap")
    np.testing.assert_array_equal(tree.values, result.values)
    assert tree.branchvalues == "total"
    named = dict(zip(tree.ids, tree.labels, strict=True))
    at = result.modules.index("layers.1.blocks.0.attn.qkv")
    chain = []
    while at >= 0:
        chain.append(named[str(at)])
        at = -1 if tree.parents[at] == "" else int(tree.parents[at])
    words = {
        "en": ["queries, keys, values", "attention", "block 2", "stage 1"],
        "zh": ["查询、键、值", "注意力", "块 2", "阶段 1"],
    }
    assert chain == words[language]
    (left, right), (bottom, top) = tree.domain.x, tree.domain.y
    assert 0 < left < right < 1
    assert 0 < bottom < top < 1
    assert figure.layout.uniformtext.minsize == 13
