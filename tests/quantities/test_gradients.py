"""Gradients of attention: equal to autograd, one pass for a class, bounded, without a trace."""

from __future__ import annotations

import gc
from dataclasses import replace

from tests.helpers.relevance_cases import TARGET, close, truth_of
from tests.helpers.small_models import capture_small
from vitexplorer.core.cache import BytesCache
from vitexplorer.quantities import gradients as kept_in
from vitexplorer.quantities.gradients import gradients


def test_gradient_of_attention_is_autograds(any_capture):
    expected = truth_of(any_capture)
    gradient = gradients(any_capture, TARGET)
    for block in range(any_capture.depth):
        call = any_capture.call(block)
        close(kept_in.attention_gradient(call, gradient.outputs[block]).numpy(), expected.attention_gradient[block])
        close(gradient.norms[block].numpy(), expected.norm[block])
        close(gradient.norm_gradients[block].numpy(), expected.norm_gradient[block])
    close(gradient.input[0].numpy(), expected.image_gradient)


def test_gradients_go_with_their_capture(monkeypatch):
    cache = BytesCache(1 << 30, lambda entry: entry[1].nbytes)
    monkeypatch.setattr(kept_in, "_CACHE", cache)
    first, second = replace(capture_small("vit")), replace(capture_small("vit"))
    gradient = gradients(first, 1)
    assert gradients(first, 1) is gradient
    assert gradients(second, 1) is not gradient
    gradients(second, 2)
    assert cache.nbytes == 3 * gradient.nbytes
    del second
    gc.collect()
    assert cache.nbytes == gradient.nbytes
    assert gradients(first, 1) is gradient


def test_cached_gradients_are_bounded(monkeypatch):
    captured = replace(capture_small("vit"))
    size = gradients(captured, 0).nbytes
    cache = BytesCache(int(2.5 * size), lambda entry: entry[1].nbytes)
    monkeypatch.setattr(kept_in, "_CACHE", cache)
    first, second = gradients(captured, 0), gradients(captured, 1)
    assert gradients(captured, 0) is first  # used last, so the other one goes
    gradients(captured, 2)
    assert cache.nbytes == 2 * size
    assert gradients(captured, 0) is first
    assert gradients(captured, 1) is not second
    monkeypatch.setattr(kept_in, "MOST_BYTES", size - 1)
    gradients(captured, 3)
    assert cache.nbytes == 2 * size
    assert gradients(captured, 3) is not gradients(captured, 3)
