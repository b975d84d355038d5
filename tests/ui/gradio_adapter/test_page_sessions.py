"""States of open pages: stored for pages in use, and not for made-up session names."""

from __future__ import annotations

import gradio as gr
import pytest

from tests.helpers.waiting import now
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors


@pytest.fixture(scope="module")
def page() -> gr.Blocks:
    async def laid_out() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as page:
            gr.State()
        return page

    return now(laid_out())


@pytest.fixture
def state(page: gr.Blocks) -> int:
    """Return the number of the page's state."""
    (state,) = page.blocks
    return state


def test_a_page_that_opens_is_known_before_it_is_answered(page: gr.Blocks) -> None:
    visitors = Visitors(page, capacity=1)
    visitors.open("page")
    assert "page" in visitors


def test_who_is_there_stays_before_who_has_gone(page: gr.Blocks, state: int) -> None:
    visitors = Visitors(page, capacity=2)
    present = visitors["present"]
    present[state] = visitors["left"][state] = "something"
    visitors.session_data["left"].is_closed = True
    assert visitors["only asked"] not in visitors.session_data.values()
    visitors["new"][state] = "something"
    assert set(visitors.session_data) == {"present", "new"}
    assert visitors["present"] is present


def test_a_flood_of_names_leaves_nothing(page: gr.Blocks, state: int) -> None:
    visitors = Visitors(page, capacity=2)
    visitors["present"][state] = "something"
    for number in range(1000):
        assert visitors[f"made up {number}"][state] is None
    assert (visitors.counts, visitors["present"][state]) == ({"open": 1, "closed": 0}, "something")
    assert len(visitors._unwritten) <= 1


def test_no_configuration_is_stored_for_a_page(page: gr.Blocks, state: int) -> None:
    visitor = Visitors(page, capacity=2)["present"]
    visitor[state] = "something"
    visitor._update_config(state)
    visitor._update_value_in_config(state, "something")
    assert visitor.config_values == {}
