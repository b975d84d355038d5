"""Notebook displays of results, captures and models: readable with no server and no network."""

import dataclasses
import re

import numpy as np
import plotly.io
import pytest

import vitexplorer as vx
from tests.helpers.app import PATIENCE
from tests.helpers.small_models import capture_small, load_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Result
from vitexplorer.figures.inline import KIND
from vitexplorer.figures.page import RANDOM
from vitexplorer.notebook.capture_card import capture_card


@pytest.fixture
def result() -> Result:
    return vx.compute("attention_rollout", capture_small("vit"))


@pytest.mark.thorough
def test_a_result_draws_itself_on_a_page_without_a_network(result, chromium):
    with chromium.new_context(offline=True) as context:
        page = context.new_page()
        page.set_content(f"<!doctype html><body>{result._repr_html_()}{result._repr_html_()}")
        page.wait_for_function(
            "() => document.querySelectorAll('.js-plotly-plot .main-svg').length > 1", timeout=PATIENCE
        )
        assert page.get_by_text("Attention rollout").count() == 2
        drawn = page.evaluate(
            "[...document.querySelectorAll('.js-plotly-plot')].at(-1)"
            "._fullData.find(({type}) => type === 'heatmap').z.map((row) => [...row])"
        )
    np.testing.assert_allclose(drawn, result.values, rtol=1e-5)


def test_a_notebook_with_plotly_of_its_own_gets_the_numbers_alone(result, monkeypatch):
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    known = result._repr_mimebundle_()
    assert {"data", "layout", "config"} == known[KIND].keys()
    assert len(known["text/html"]) < 20_000
    assert vx.reading(result) in known["text/plain"]
    monkeypatch.setattr(plotly.io.renderers, "default", "colab")
    assert KIND not in result._repr_mimebundle_()
    assert "DecompressionStream" in result._repr_mimebundle_()["text/html"]


def test_a_comparison_has_a_card_although_it_is_no_view():
    captured = capture_small("vit")
    compared = vx.compare("answers", captured, captured)
    assert compared.title.en in compared._repr_mimebundle_()["text/plain"]


def test_a_capture_says_what_it_is_of():
    captured = capture_small("vit")
    bundle = captured._repr_mimebundle_()
    assert str(captured.grid(0).rows) in bundle["text/plain"]
    likeliest = int(captured.logits.argmax())
    share = 100 * float((captured.logits - captured.logits.logsumexp(0)).exp().max())
    assert f"class {likeliest} {share:.1f}\u00a0%" in bundle["text/plain"]
    assert RANDOM.en in bundle["text/plain"]
    assert 'role="alert"' in bundle["text/html"]
    assert not re.search(r'(src|href)="(?!data:)', bundle["text/html"])


def test_names_are_text_in_a_card():
    captured = capture_small("vit")
    names = tuple(f"<b>{n}</b>" for n in range(captured.model.num_classes))
    named: Capture = dataclasses.replace(captured, model=dataclasses.replace(captured.model, class_names=names))
    assert "<b>" not in named._repr_html_()
    assert "&lt;b&gt;" in named._repr_html_()
    assert capture_card(named).html("zh").count("答案") == 1


def test_a_tuned_model_says_what_it_trains():
    model = load_small("vit")
    tuned = vx.attach(model, "lora", num_classes=3, r=2)
    trained = sum(parameter.numel() for parameter in tuned.module.parameters() if parameter.requires_grad)
    assert f"Trained: {trained:,} (" in tuned._repr_mimebundle_()["text/plain"]
    assert "Trained" not in model._repr_mimebundle_()["text/plain"]
    assert RANDOM.en in model._repr_html_()
