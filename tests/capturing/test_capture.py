"""Captures: exactly what the model computed, and no trace left in it."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F

from tests.helpers import reference
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import attention_outputs, capture_small, load_small, picture
from tests.helpers.traces import fail_midway, traces
from tests.helpers.unfused_attention import blocks_of, run_explicitly, with_fused_attention
from tests.helpers.waiting import at_once
from vitexplorer.capturing.capture import AttentionCall, AttentionTap, capture, capture_input
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import PADDING
from vitexplorer.tracing.attention_call import held_bytes
from vitexplorer.views import VIEWS, refusal

EXACT = {"rtol": 0, "atol": 1e-5}


def test_output_is_that_of_the_plain_module(any_capture):
    with torch.no_grad():
        plain = any_capture.model.module(any_capture.input.tensor)
    assert torch.equal(any_capture.output, plain)
    if any_capture.model.num_classes:
        assert torch.equal(any_capture.logits, plain[0])
    else:
        assert any_capture.logits is None


def test_attention_is_the_modules_own_softmax(any_capture):
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    assert len(explicit.attention) == any_capture.depth
    for block, expected in enumerate(explicit.attention):
        result = any_capture.attention(block)
        torch.testing.assert_close(result if any_capture.site(block).windows else result[None], expected, **EXACT)


def test_attention_times_values_is_what_the_module_passes_on(any_capture):
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    for block, (expected, output) in enumerate(zip(explicit.product, attention_outputs(any_capture), strict=True)):
        call = any_capture.call(block)
        product = call.weights() @ call.value
        torch.testing.assert_close(product, output, **EXACT)
        torch.testing.assert_close(product.transpose(1, 2).flatten(2), expected, **EXACT)


def test_residual_is_what_enters_and_leaves_each_block(any_capture):
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    for block in range(any_capture.depth):
        before, after = explicit.residual[block], explicit.residual_after[block]
        torch.testing.assert_close(any_capture.residual(block), before.flatten(0, -2), **EXACT)
        torch.testing.assert_close(any_capture.residual_after(block), after.flatten(0, -2), **EXACT)


def test_what_a_model_pools_before_its_norm_is_no_token():
    """Half of maximum plus mean is a sum too, but the norm that would end the last block comes after it."""
    options = {"img_size": 64, "embed_dim": 48, "num_heads": 3, "depth": 2, "num_classes": 7}
    module = timm.create_model("vit_tiny_patch16_224", global_pool="avgmax", **options).eval()
    captured = capture(replace(load_small("vit"), module=module), picture(64, 64), fit="squash")
    expected = run_explicitly(module, captured.input.tensor).residual_after[-1][0]
    torch.testing.assert_close(captured.residual_after(1), expected, **EXACT)


def test_rows_sum_to_one_and_attention_is_not_uniform(any_capture):
    for block in range(any_capture.depth):
        attention = any_capture.attention(block)
        torch.testing.assert_close(attention.sum(-1), torch.ones(attention.shape[:-1]), **EXACT)
        assert attention.amax(-1).mean() > 1.5 / attention.shape[-1]  # or the other tests would see nothing


@pytest.mark.parametrize("fused", [True, False])
def test_fused_or_not_the_capture_is_the_same(any_capture, fused):
    """timm fuses ViT's attention and not Swin's by default; the tap sees both."""
    model = replace(any_capture.model, module=with_fused_attention(any_capture.model.module, fused))
    again = capture(model, any_capture.input.pixels, fit=any_capture.input.fit)
    for block in range(any_capture.depth):
        torch.testing.assert_close(again.attention(block), any_capture.attention(block), **EXACT)
        torch.testing.assert_close(again.call(block).output, any_capture.call(block).output, **EXACT)
        if fused and model.module.__class__.__name__ != "SwinTransformerV2":  # which has no kernel for its cosines
            assert again.call(block).scores is None


def test_every_token_has_its_place(any_capture):
    for block in range(any_capture.depth):
        grid, positions = any_capture.grid(block), any_capture.positions(block)
        assert positions.shape[1] == any_capture.attention(block).shape[-1]
        assert sorted(positions[positions >= 0]) == list(range(grid.num_patches))
        prefix = positions[(positions < 0) & (positions > PADDING)]
        assert list(prefix) == [-1 - i for i in range(len(any_capture.prefix_tokens))]


def test_a_query_gives_all_it_has(any_capture):
    for block in range(any_capture.depth):
        grid = any_capture.grid(block)
        for query in (
            "mean",
            (0, 0),
            (grid.rows - 1, grid.cols - 1),
            *({"cls", "dist"} & {*any_capture.prefix_tokens}),
        ):
            parts = any_capture.attention_from(query, block)
            assert [part.shape[0] for part in parts] == [any_capture.num_heads(block)] * 3
            total = parts[0].sum(1) + parts[1].sum(1) + parts[2]
            torch.testing.assert_close(total, torch.ones(len(total)), **EXACT)


def test_pieces_are_the_whole(any_capture, monkeypatch):
    call = any_capture.call(0)
    whole = call.weights()
    monkeypatch.setattr(
        "vitexplorer.tracing.attention_call.WEIGHTS_AT_ONCE", 3 * whole[..., 0, :].numel()
    )  # three query rows
    pieces = list(call.in_pieces())
    assert len(pieces) == -(-whole.shape[2] // 3)
    torch.testing.assert_close(torch.cat([piece for _, piece in pieces], dim=2), whole, **EXACT)
    shares = torch.rand(whole.shape[0], whole.shape[2], generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(call.from_shares(shares), torch.einsum("wq,whqk->whk", shares, whole), **EXACT)


# ------------------------------------------------------------------------------------------------ no trace


def test_success_leaves_no_trace(any_model):
    before = traces(any_model.module)
    capture(any_model, picture(*any_model.preprocessing.input_size), fit="squash").attention(0)
    assert traces(any_model.module) == before


def test_an_error_in_the_middle_of_the_pass_leaves_no_trace(any_model, monkeypatch):
    image = picture(*any_model.preprocessing.input_size)
    expected = capture(any_model, image, fit="squash")
    before = traces(any_model.module)
    monkeypatch.setattr(blocks_of(any_model.module)[1], "forward", fail_midway)
    with pytest.raises(RuntimeError, match="in the middle"):
        capture(any_model, image, fit="squash")
    monkeypatch.undo()
    assert traces(any_model.module) == before
    assert torch.equal(capture(any_model, image, fit="squash").output, expected.output)


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "beit", "dinov3", "eva02", "swin", "swinv2_padded"])
def test_ten_threads_share_one_model(key):
    model = load_small(key)
    native = model.family.size_multiple(model.module) is not None
    rows, cols = model.preprocessing.input_size
    # every other image has another size, so that a grid remembered by the module would be wrong for its neighbour
    jobs = [
        (picture(rows, cols, seed), "squash") if seed % 2 or not native else (picture(rows, 2 * cols, seed), "native")
        for seed in range(10)
    ]
    serial = [capture(model, *job) for job in jobs]

    def run(job):
        return [capture(model, *job) for _ in range(3)][-1]

    for one, other in zip(serial, at_once(*(partial(run, job) for job in jobs)), strict=True):
        assert torch.equal(one.output, other.output)
        for block in range(one.depth):
            assert torch.equal(one.attention(block), other.attention(block))
            assert torch.equal(one.residual(block), other.residual(block))


def test_a_tap_sees_its_own_thread_only():
    model = load_small("vit")
    with AttentionTap(model.block_of_parameter) as tap, torch.no_grad():
        other = threading.Thread(target=model.module, args=(torch.zeros(1, 3, 64, 64),))
        other.start()
        other.join()
        assert not tap.calls
        model.module(torch.zeros(1, 3, 64, 64))
    assert len(tap.calls) == 3


# ------------------------------------------------------------------------------------------------ attention calls


def kernel_call(**options) -> AttentionCall:
    """Tap one kernel call under `enable_gqa`, with two keys for each of four queries."""
    generator = torch.Generator().manual_seed(0)
    groups = 2 if options.get("enable_gqa") else 1
    query = torch.randn(1, 4, 5, 8, generator=generator)
    key, value = (torch.randn(1, 4 // groups, 5, 8, generator=generator) for _ in range(2))
    with AttentionTap({}, keep_outputs=True) as tap:
        F.scaled_dot_product_attention(query, key, value, **options)
    (calls,) = tap.calls.values()
    return calls[0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": 0.7},
        {"is_causal": True},
        {"attn_mask": torch.linspace(-2, 2, 25).reshape(1, 1, 5, 5)},
        {"attn_mask": torch.linspace(-2, 2, 5)[None]},
        {"attn_mask": torch.eye(5, dtype=torch.bool) | torch.ones(5, 5, dtype=torch.bool).triu()},
        {"enable_gqa": True},
    ],
    ids=lambda options: "+".join(options) or "plain",
)
def test_every_argument_of_the_kernel_counts(options):
    call = kernel_call(**options)
    torch.testing.assert_close(call.weights() @ call.value, call.output, **EXACT)
    rows = torch.tensor([3, 1])
    torch.testing.assert_close(call.weights(rows), call.weights()[:, :, rows], **EXACT)


def test_weights_are_softmax_of_scaled_products_plus_bias():
    bias = torch.linspace(-2, 2, 100).reshape(1, 4, 5, 5)
    call = kernel_call(attn_mask=bias, scale=0.3)
    expected = reference.attention(call.query[0].double().numpy(), call.key[0].double().numpy(), bias[0].numpy(), 0.3)
    np.testing.assert_allclose(call.weights()[0].numpy(), expected, atol=1e-6)


def test_softmax_that_is_no_attention_is_left_alone():
    with AttentionTap({}) as tap:
        torch.ones(1, 3, 4, 4).softmax(-1)  # no product before it
        q = torch.ones(1, 3, 4, 4)
        (q @ q).softmax(1)  # over heads
        (q[0] @ q[0]).softmax(-1)  # three axes
    assert not tap.calls


def test_memory_is_counted_once():
    captured = capture_small("vit")
    call = captured.call(0)
    assert call.query.untyped_storage().data_ptr() == call.value.untyped_storage().data_ptr()  # slices of one qkv
    stream = captured.residual(0).nbytes
    three_blocks = 3 * 3 * stream  # q, k and v, each as wide as the stream
    others = captured.input.pixels.nbytes + captured.input.tensor.nbytes + captured.output.nbytes
    in_between = captured.nbytes - three_blocks - others
    assert 4 * stream <= in_between < 8 * stream  # the stream once at each of four points, not once for each view of it


# ------------------------------------------------------------------------------------------------ sentences


def test_no_such_block():
    with pytest.raises(SettingError, match=r"There is no block 3: this model has blocks 0 to 2\."):
        capture_small("vit").attention(3)
    with pytest.raises(SettingError, match="no block -1"):
        capture_small("vit").attention(-1)


def test_unknown_fit(unchecked):
    with pytest.raises(UnknownNameError, match=r"Unknown fit 'nativ'\. Did you mean 'native'\?"):
        capture(load_small("vit"), picture(64, 64), fit="nativ")


@pytest.mark.parametrize("key", ["beit", "beitv2"])
def test_native_needs_a_model_that_takes_other_sizes(key):
    with pytest.raises(SettingError, match=r'one input size only\. Choose fit "crop"'):
        capture(load_small(key), picture(64, 96), fit="native")


def test_two_attentions_in_a_block_are_named_and_refused():
    model = load_small("vit")
    options = {"img_size": 64, "embed_dim": 48, "num_heads": 3, "depth": 2, "num_classes": 7}
    module = timm.create_model("vit_small_patch16_18x2_224", **options).eval()
    captured = capture(replace(model, name="vit_small_patch16_18x2_224", module=module), picture(64, 64))
    assert captured.logits.shape == (7,)
    with pytest.raises(UnsupportedError) as error:
        captured.attention(1)
    assert str(error.value) == (
        "vit_small_patch16_18x2_224: blocks.1 made 2 attention calls where one was expected, "
        "so its attention cannot be shown."
    )


def test_keys_that_are_not_the_tokens_are_refused():
    captured = capture_small("vit")
    call = captured.call(0)
    pooled = replace(call, key=call.key[:, :, :5], value=call.value[:, :, :5])
    with pytest.raises(UnsupportedError, match=r"blocks\.0 attends to 5 keys where its tokens are 17"):
        replace(captured, calls=((pooled,), *captured.calls[1:])).attention(0)


@pytest.mark.parametrize("surroundings", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu")])
def test_what_surrounds_a_call_changes_no_number(surroundings):
    model, image = load_small("vit"), picture(64, 64)
    plain = capture(model, image)
    with surroundings():
        inside = capture(model, image)
        actual = {view: cheaply(view, inside) for view in VIEWS if refusal(view, inside) is None}
    assert torch.equal(inside.logits, plain.logits)
    for view, result in actual.items():
        np.testing.assert_array_equal(result.values, cheaply(view, plain).values, view)


def test_another_default_type_changes_no_number():
    model, image = load_small("vit"), picture(64, 64)
    expected = capture(model, image).logits
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(capture(model, image).logits, expected)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("key", ["vit", "swin", "dinov3"])
@pytest.mark.parametrize("keep", [(), "attention", "values", "stream", ("stream", "attention")])
def test_a_part_of_a_capture_equals_that_of_the_whole(key, keep):
    whole = capture_small(key)
    slim = capture(whole.model, picture(*whole.input.pixels.shape[:2]), fit="squash", keep=keep)
    assert torch.equal(slim.output, whole.output)
    assert slim.nbytes < whole.nbytes
    for block in range(whole.depth):
        if "attention" in slim.parts:
            assert torch.equal(slim.attention(block), whole.attention(block))
            assert (slim.call(block).value is None) == ("values" not in slim.parts)
        else:
            with pytest.raises(UnsupportedError, match="keeps no attention"):
                slim.attention(block)
        if "stream" in slim.parts:
            assert torch.equal(slim.residual_after(block), whole.residual_after(block))
        else:
            with pytest.raises(UnsupportedError, match="keeps no residual stream"):
                slim.residual(block)
    assert "keeps" in str(slim)
    assert "keeps" not in str(whole)


def test_attention_alone_is_bit_equal_and_holds_nothing_else(any_capture):
    slim = capture_input(any_capture.model, any_capture.input, parts=frozenset({"attention"}))
    for block in range(any_capture.depth):
        call = slim.call(block)
        assert torch.equal(call.weights(), any_capture.call(block).weights())
        needed = [*([call.query, call.key] if call.scores is None else [call.scores]), call.bias, call.mixed]
        assert held_bytes(call.tensors) <= sum(tensor.nbytes for tensor in needed if tensor is not None)


def test_a_part_that_does_not_exist_is_refused():
    with pytest.raises(UnknownNameError, match=r"attenton.*attention"):
        capture(load_small("vit"), picture(64, 64), keep="attenton")


def test_a_graph_keeps_all_parts():
    assert len(capture(load_small("vit"), picture(64, 64), differentiable=True, keep=()).parts) == 3
