"""Gradio's queue, which begins an event when it comes.

Gradio's own looks every now and then whether there is one: often, and an idle server has no rest; seldom, and everybody
waits for the next look.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from gradio.queueing import Event, Queue
from gradio.utils import set_task_name


class PromptQueue(Queue):
    """What is looked for is said: an event has come, or a place for one is free."""

    def __init__(self, *more: Any, **named: Any):
        """Args: as gradio's."""
        super().__init__(*more, **named)
        self._news = asyncio.Event()

    async def push(self, *more: Any, **named: Any) -> Any:
        """As gradio's."""
        answer = await super().push(*more, **named)
        self._news.set()
        return answer

    def close(self) -> None:
        """As gradio's."""
        super().close()
        self._news.set()

    async def start_processing(self) -> None:
        """As gradio's: until it is closed, events in the order in which they came, as many at once as are allowed."""
        try:
            while not self.stopped:
                await self._news.wait()
                self._news.clear()
                await self._begin()
        finally:
            self.stopped = True
            self._cancel_asyncio_tasks()

    async def _begin(self) -> None:
        while None in self.active_jobs:
            async with self.delete_lock:
                found = self.get_events()
            if found is None:
                return
            self._work(*found)

    def _work(self, events: list[Event], batch: bool, concurrency_id: str) -> None:
        self.active_jobs[self.active_jobs.index(None)] = events
        queue, fn, now = self.event_queue_per_concurrency_id[concurrency_id], events[0].fn, time.time()
        queue.current_concurrency += 1
        queue.start_times_per_fn[fn].add(now)
        task = asyncio.create_task(self.process_events(events, batch, now, fn))
        set_task_name(task, events[0].session_hash, fn._id, events[0]._id, batch)
        self._asyncio_tasks.add(task)
        task.add_done_callback(self._ended)
        if self.live_updates:
            self.broadcast_estimations(concurrency_id)

    def _ended(self, task: asyncio.Task) -> None:
        self._asyncio_tasks.discard(task)
        self._news.set()
