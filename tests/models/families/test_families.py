"""Families of timm: supported models are exact and in place, others are refused with the reason."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import vitexplorer as vx
from docs.make.tables import families_table, written_tables
from tests.helpers.families_of_timm import TWO_KINDS, files_of_timm, sweep
from tests.helpers.small_families import CASES, capture_case, load_case
from tests.helpers.small_models import attention_outputs
from tests.helpers.unfused_attention import with_fused_attention
from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import PADDING, PatchGrid
from vitexplorer.models.families import FAMILIES, NO_ATTENTION

EXACT = {"rtol": 0, "atol": 2e-5}

every_case = pytest.mark.parametrize("key", CASES)


def blocks_of(key: str) -> list[int]:
    return list(range(capture_case(key).depth))


# ------------------------------------------------------------------------------------------------ exact


@every_case
def test_a_case_is_of_its_family(key):
    model = load_case(key)
    assert model.family.key == CASES[key].family
    assert model.prefix_tokens == CASES[key].prefix_tokens
    modules = dict(model.module.named_modules())
    assert capture_case(key).depth
    assert all(site.name in modules for site in capture_case(key).sites)


@every_case
@torch.no_grad()
def test_output_is_that_of_the_plain_module(key):
    captured = capture_case(key)
    assert torch.equal(captured.output, captured.model.module(captured.input.tensor))


@every_case
def test_attention_times_values_is_what_the_module_goes_on_with(key):
    captured = capture_case(key)
    outputs = attention_outputs(captured)
    for block in blocks_of(key):
        call = captured.call(block)
        torch.testing.assert_close(call.weights() @ call.value, outputs[block], **EXACT)


@every_case
def test_rows_sum_to_one_and_attention_is_not_uniform(key):
    captured = capture_case(key)
    for block in blocks_of(key):
        attention = captured.attention(block)
        sums = attention.sum(-1)
        if captured.site(block).formula.startswith("W"):  # heads mixed by a matrix: no distribution, and it says so
            assert not torch.allclose(sums, torch.ones_like(sums), atol=1e-2)
            assert any("negative" in note.en for note in captured.site(block).notes)
        else:
            torch.testing.assert_close(sums, torch.ones_like(sums), **EXACT)
            assert attention.amax(-1).mean() > 1.2 / attention.shape[-1]


class Softmaxes(TorchFunctionMode):
    """Record the results of every softmax over the last axis while a module runs."""

    def __init__(self, names: dict[str, nn.Module]):
        super().__init__()
        self.seen: dict[str, list[Tensor]] = {}
        self.inside: list[str] = []
        for name, part in names.items():
            part.register_forward_pre_hook(lambda *_, name=name: self.inside.append(name))
            part.register_forward_hook(lambda *_: self.inside.pop() and None)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if function in (F.softmax, torch.softmax, Tensor.softmax) and self.inside:
            self.seen.setdefault(self.inside[-1], []).append(out)
        return out


@torch.no_grad()
def run_explicitly(key: str) -> dict[str, list[Tensor]]:
    """Return, by block, what multiplied the values in a copy without fused attention, seen inside each module.

    One tensor, or one for each head where the heads are computed apart.
    """
    captured, case = capture_case(key), CASES[key]
    twin = with_fused_attention(captured.model.module, False)
    modules = dict(twin.named_modules())
    seen: dict[str, list[Tensor]] = {}
    with Softmaxes({site.name: modules[site.name] for site in captured.sites}) as softmaxes:
        for site in captured.sites:
            if site.mixes:
                modules[f"{site.name}.{case.changed_weights}"].register_forward_hook(
                    lambda part, inputs, output, name=site.name: seen.update({name: [output]})
                )
        twin(captured.input.tensor)
    return {**softmaxes.seen, **seen}


@every_case
def test_attention_is_the_modules_own(key):
    captured, explicit = capture_case(key), run_explicitly(key)
    for block in blocks_of(key):
        site = captured.site(block)
        used = explicit[site.name] if site.heads_apart else explicit[site.name][:1]
        expected = [site.arrange(weights) for weights in used] if site.arrange is not None else used
        result = captured.call(block).weights()
        torch.testing.assert_close(result, torch.cat(expected, dim=1), **EXACT)


# ------------------------------------------------------------------------------------------------ in its place


def changed_slots(one: Tensor, other: Tensor, places: np.ndarray) -> set[int]:
    """Return places of tokens that differ between two calls' queries, keys or values, (windows, heads, tokens, dim)."""
    differs = ((one - other).abs() > 1e-6).any(-1).any(1).numpy()
    return set(places[np.broadcast_to(differs, places.shape)].tolist())


def probe_of(key: str, name: str) -> tuple[str, bool]:
    """Return the name of the module poked for a block, and whether at its output."""
    probe, parent = CASES[key].probe, name.rsplit(".", 1)[0]
    if probe == "":
        return name, False
    if probe == "..":
        return parent, False
    if probe.startswith("."):
        return f"{name}{probe}", True
    if probe == "level":
        return f"{name.split('.transformer')[0]}.pool", True
    if probe == "block":
        return f"{name.split('.transformer')[0]}.conv_1x1", True
    if name.startswith("blocks.") and name.count(".") == 1:  # the block itself is named
        parent = name
    return f"{parent}.{probe}", True


class Poke:
    """Add to one cell of a module's feature map: the first tensor of its input, or its output."""

    def __init__(self, part: nn.Module, at_output: bool, grid: PatchGrid, cell: tuple[int, int] | None):
        self.grid, self.cell = grid, cell
        self.part, self.at_output = part, at_output

    def _poked(self, features: Tensor) -> Tensor:
        features = features.clone()
        size = max(1.0, float(features.std()))  # beside what a deep random network makes, 1 would be nothing
        rows, cols = self.grid.rows, self.grid.cols
        (row, col), draw = self.cell, torch.Generator().manual_seed(0)
        if features.ndim == 3:
            place = features[:, features.shape[1] - rows * cols + row * cols + col]
        elif features.shape[1:3] == (rows, cols):
            place = features[:, row, col]
        else:
            assert features.shape[2:] == (rows, cols), (features.shape, self.grid)
            place = features[:, :, row, col]
        place += size * torch.randn(place.shape[-1], generator=draw)
        return features

    def on(self):
        def before(_, inputs):
            return (self._poked(inputs[0]), *inputs[1:])

        def after(_, inputs, output):
            return self._poked(output)

        return self.part.register_forward_hook(after) if self.at_output else self.part.register_forward_pre_hook(before)


def features_grid(captured: Capture, block: int) -> PatchGrid:
    """Return the grid of the poked features, before attention reduces queries or keys."""
    site = captured.site(block)
    part = module_of(captured, site.name)
    stride = 1
    for strided in (getattr(part, name, None) for name in ("stride_conv", "pool_q")):  # EfficientFormerV2, MViTv2
        if strided is not None:
            stride *= getattr(strided, "conv", strided).stride[0]
    stride *= getattr(part, "att_stride", 1)  # LowFormer, CPUBone
    whole = PatchGrid(site.grid.rows * stride, site.grid.cols * stride, site.grid.patch_size // stride)
    return min(captured.key_grid(block), whole, key=lambda grid: grid.patch_size)


def module_of(captured: Capture, name: str) -> nn.Module:
    return dict(captured.model.module.named_modules())[name]


def reached(cell: tuple[int, int], fine: PatchGrid, coarse: PatchGrid, reach: int, leans: bool = False) -> set[int]:
    """Return the cells of a coarser grid that a change at `cell` of a finer one reaches.

    reach 0: a coarse cell is made of all the cells it covers; above: of those so far from its own, as a convolution
    with a stride does it; not to the left of it nor above where that `leans`.
    """
    least = 0 if leans else -reach
    ratio = coarse.patch_size // fine.patch_size
    rows, cols = (
        [place for place in range(limit) if (least <= place * ratio - at <= reach if reach else place == at // ratio)]
        for at, limit in zip(cell, (coarse.rows, coarse.cols), strict=True)
    )
    return {row * coarse.cols + col for row in rows for col in cols}


def is_aligned(cell: tuple[int, int], fine: PatchGrid, coarse: PatchGrid) -> bool:
    """Return whether a strided choice of cells takes this one."""
    return all(at % (coarse.patch_size // fine.patch_size) == 0 for at in cell)


POKED = [key for key in CASES if key not in ("hiera", "efficientvit_msra")]
"""but for one whose tokens are in no grid's order and one whose heads read each other: see below"""


def _geometry(captured: Capture, block: int) -> tuple[str, bytes, bytes]:
    kind = type(module_of(captured, captured.site(block).name)).__name__
    return kind, captured.positions(block).tobytes(), captured.query_positions(block).tobytes()


@pytest.mark.parametrize("key", POKED)
@torch.no_grad()
def test_a_cell_changes_the_query_and_the_key_that_lie_on_it(key):
    """Poke one cell of the features that attention reads: only the tokens at that place change."""
    captured, case = capture_case(key), CASES[key]
    first = {}
    for block in blocks_of(key):
        name, at_output = probe_of(key, captured.site(block).name)
        first.setdefault((name, captured.site(block).name if at_output and case.probe == "norm1" else name), block)
    distinct = {_geometry(captured, block): (name, block) for (name, _), block in first.items()}
    for name, block in distinct.values():
        fine = features_grid(captured, block)
        for cell in {(fine.rows - 1, 0), (0, fine.cols - 1), (fine.rows // 3, fine.cols // 2)}:
            with Poke(module_of(captured, name), probe_of(key, captured.site(block).name)[1], fine, cell).on():
                poked = capture_input(captured.model, captured.input)
            before, after = captured.call(block), poked.call(block)
            keys = changed_slots(before.key, after.key, captured.positions(block))
            values = changed_slots(before.value, after.value, captured.positions(block))
            queries = changed_slots(before.query, after.query, captured.query_positions(block))
            reaches = range(case.reach + 1)
            assert keys == values
            assert keys in [reached(cell, fine, captured.key_grid(block), reach, case.leans) for reach in reaches]
            asked = captured.query_positions(block)
            if (asked < 0).all() or any("same queries" in note.en for note in captured.site(block).notes):
                assert not queries
                continue
            coarse = captured.grid(block)
            possible = [reached(cell, fine, coarse, reach, case.leans) for reach in reaches]
            assert queries in possible or not (queries or is_aligned(cell, fine, coarse))


@torch.no_grad()
def test_a_cell_changes_every_head_of_a_cascade_at_its_place():
    """Poke one cell in the channels that a head adds to what the head before gave: its tokens there change.

    Queries are convolved inside of their window; the heads before stay as they were.
    """
    captured = capture_case("efficientvit_msra")
    for block in blocks_of("efficientvit_msra"):
        grid, positions, before = captured.grid(block), captured.positions(block), captured.call(block)
        part = module_of(captured, captured.site(block).name)
        cell = (grid.rows - 1, grid.cols // 2)
        here = cell[0] * grid.cols + cell[1]
        for head in range(before.num_heads):

            def poke(part, inputs, head=head, cell=cell):
                features = inputs[0].clone()
                features.chunk(len(part.attn.qkvs), dim=1)[head][..., *cell] += features.std()
                return (features,)

            with part.register_forward_pre_hook(poke):
                after = capture_input(captured.model, captured.input).call(block)
            keys, queries, values = (
                [changed_slots(one[:, at, None], other[:, at, None], positions) for at in range(head + 1)]
                for one, other in ((getattr(before, name), getattr(after, name)) for name in ("key", "query", "value"))
            )
            near = beside(here, positions, part.attn.dws[head].conv.kernel_size[0] // 2)
            assert keys == values == [set()] * head + [{here}]
            assert queries == [set()] * head + [near]


def beside(place: int, positions: np.ndarray, reach: int) -> set[int]:
    """Return the cells of the same square window up to a distance from a place, padding included."""
    ((window, at),) = np.argwhere(positions == place)
    square = positions[window].reshape(math.isqrt(positions.shape[1]), -1)
    row, col = divmod(int(at), len(square))
    return set(square[max(0, row - reach) : row + reach + 1, max(0, col - reach) : col + reach + 1].flatten().tolist())


@torch.no_grad()
def test_the_order_of_hiera_is_the_one_its_own_reroll_undoes():
    captured = capture_case("hiera")
    module = captured.model.module
    for block in blocks_of("hiera"):
        grid = captured.grid(block)
        units = captured.query_positions(block)
        sequence = torch.from_numpy(np.ascontiguousarray(units.T)).flatten()  # mask units are the fast axis
        rolled = module.reroll(sequence[None, :, None].double(), block)
        assert rolled.flatten().tolist() == list(range(grid.num_patches))


@torch.no_grad()
def test_pooled_queries_of_hiera_are_maxima_over_their_cells():
    """The keys' places put the unpooled queries on the grid; their 2 x 2 maxima are the pooled ones at their places."""
    captured, pooled_blocks = capture_case("hiera"), 0
    module = captured.model.module
    read: dict[int, Tensor] = {}
    for i, block in enumerate(module.blocks):
        with block.attn.qkv.register_forward_hook(lambda _, x, y, i=i: read.update({i: y})):
            module(captured.input.tensor)
    for i in read:
        fine, coarse, call = captured.key_grid(i), captured.grid(i), captured.call(i)
        keys, queries = captured.positions(i), captured.query_positions(i)
        heads, dim = call.query.shape[1], call.query.shape[-1]
        by_place = read[i][0].reshape(-1, 3, heads, dim)[:, 0]
        order = torch.from_numpy(np.ascontiguousarray(keys.T)).flatten()
        on_grid = torch.empty_like(by_place).index_copy_(0, order, by_place)
        on_grid = on_grid.reshape(fine.rows, fine.cols, heads, dim)
        ratio = fine.rows // coarse.rows
        pooled = on_grid.unflatten(0, (coarse.rows, ratio)).unflatten(2, (coarse.cols, ratio)).amax((1, 3))
        expected = pooled.flatten(0, 1)[torch.from_numpy(queries)]  # windows, queries, heads, dim
        torch.testing.assert_close(call.query.transpose(1, 2), expected, **EXACT)
        pooled_blocks += ratio > 1
    assert pooled_blocks == 3


@every_case
def test_every_token_has_its_place(key):
    captured = capture_case(key)
    for block in blocks_of(key):
        call = captured.call(block)
        for places, tokens, grid in (
            (captured.positions(block), call.key, captured.key_grid(block)),
            (captured.query_positions(block), call.query, captured.grid(block)),
        ):
            assert places.shape[1] == tokens.shape[-2]
            assert places.shape[0] == len(tokens)
            result = places[places >= 0]
            assert sorted(set(result)) in (list(range(grid.num_patches)), [])
            assert len(set(result)) == len(result) or (CASES[key].overlapping and tokens is call.key)
            named = places[(places < 0) & (places > PADDING)]
            assert list(named) in ([], [-1 - i for i in range(len(captured.prefix_tokens))])


# ------------------------------------------------------------------------------------------------ seen as a map


@every_case
def test_maps_lie_on_the_keys_and_keep_their_mass(key):
    captured = capture_case(key)
    for block in blocks_of(key):
        grid, site = captured.key_grid(block), captured.site(block)
        result = vx.compute("attention_map", captured, block=block)
        assert result.values.shape == (grid.rows, grid.cols)
        assert result.grid == grid
        gallery = vx.compute("head_gallery", captured, block=block)
        assert gallery.values.shape == (captured.num_heads(block), grid.rows, grid.cols)
        np.testing.assert_allclose(gallery.values.mean(0), result.values, atol=1e-6)
        assert any(site.name in note.en for note in result.notes)
        has_note = any("lies on the keys" in note.en for note in result.notes)
        assert has_note == ((grid.rows, grid.cols) != (site.grid.rows, site.grid.cols))
        if not site.formula.startswith("W"):
            assert result.values.sum() + result.prefix_mass + result.padding_mass == pytest.approx(1, abs=1e-5)


def test_a_row_of_a_map_by_hand():
    """A dilated grid (MaxViT): 10 columns in 5 groups of 2, so that tokens are 2 cells apart."""
    captured = capture_case("maxvit")
    block = next(b for b in blocks_of("maxvit") if "attn_grid" in captured.site(b).name)
    grid = captured.grid(block)
    side = math.isqrt(captured.call(block).num_tokens)
    step = grid.rows // side
    values = vx.compute("attention_map", captured, block=block, query=(1, 2), head=0).values
    rows, cols = np.nonzero(values)
    assert {row % step for row in rows} == {1 % step}
    assert {col % step for col in cols} == {2 % step}


def test_a_class_block_has_one_query():
    captured = capture_case("cait")
    last = captured.depth - 1
    assert captured.attention(last).shape == (3, 1, 17)
    assert vx.compute("attention_map", captured).settings["query"] == "cls"
    assert vx.compute("attention_map", captured, block=0).settings["query"] == "mean"
    with pytest.raises(SettingError, match="Block 3 has no such query: its queries are the class token"):
        vx.compute("attention_map", captured, query=(0, 0))
    with pytest.raises(SettingError, match="Block 0 has no such query: its queries are the patches"):
        vx.compute("attention_map", captured, block=0, query="cls")


@pytest.mark.parametrize("key", ["cait", "maxvit", "levit"])
def test_whatever_joins_blocks_is_refused(key):
    captured = capture_case(key)
    for name, view in vx.views().items():
        if not view.any_family:
            with pytest.raises(UnsupportedError, match="only the attention of single blocks can be shown"):
                vx.compute(name, captured)
    for read in (captured.residual, captured.residual_after):
        with pytest.raises(UnsupportedError):
            read(0)
    assert not captured.read
    assert not captured.made


# ------------------------------------------------------------------------------------------------ all of timm


def test_every_model_of_timm_is_supported_or_refused_with_a_reason():
    families = sweep()
    assert set(files_of_timm()) <= set(families)
    for name, (family, support, reason) in families.items():
        assert family
        assert bool(reason) == (support in ("refused", "attention maps, partly")), name
    support = {family for family, how, _ in families.values() if how != "refused"}
    assert support == {family.title.en for family in FAMILIES.values()}


def test_the_documentation_says_so():
    assert written_tables()["families"] == families_table(), "python -m docs.make.tables"


def test_only_models_that_never_weigh_places_are_refused_as_without_attention():
    """Refused files without attention neither call the kernel nor name an attention over tokens."""
    for file, (_, support, reason) in sweep().items():
        if support == "refused" and reason == NO_ATTENTION.en and file not in TWO_KINDS.values():
            source = Path(importlib.import_module(f"timm.models.{file}").__file__).read_text(encoding="utf-8")
            assert "scaled_dot_product_attention(" not in source, file
            assert not re.search(r"@ k\b|@ k\.transpose", source), file
