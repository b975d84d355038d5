"""Gradio's queue where nobody looks into it: an event begins when it comes, and no more at once than are allowed."""

import asyncio

import gradio as gr
from gradio.data_classes import PredictBodyInternal

from tests.helpers.app import run_apart
from vitexplorer.ui.gradio_adapter.prompt_queue import PromptQueue


def test_an_event_begins_at_once_and_the_next_where_there_is_room(monkeypatch):
    begun, ends = [], [asyncio.Event() for _ in range(3)]

    async def process(queue, events, _batch, _now, _fn):
        begun.append(events[0].data.data[0])
        await ends[len(begun) - 1].wait()
        queue.active_jobs[queue.active_jobs.index(events)] = None
        queue.event_queue_per_concurrency_id[events[0].concurrency_id].current_concurrency -= 1

    async def whatever_needs_no_clock():
        for _ in range(9):
            await asyncio.sleep(0)

    async def turns():
        with gr.Blocks(analytics_enabled=False) as page:
            gr.Button().click(print, concurrency_limit=2)
        queue = PromptQueue(True, 9, 1, 9, page)
        queue.start()
        await whatever_needs_no_clock()
        for word in "abc":
            await queue.push(PredictBodyInternal(data=[word], fn_index=0, session_hash=word), None, None)
        for waited in ("ab", "abc"):
            await whatever_needs_no_clock()
            assert "".join(begun) == waited
            ends[0].set()
        assert len(queue) == 0
        queue.close()

    monkeypatch.setattr(PromptQueue, "process_events", process)
    run_apart(turns())
