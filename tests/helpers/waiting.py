"""Coroutines of the product in the hands of a test that awaits nothing itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what it gives, on a thread and loop of its own: in that of the tests Playwright's loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
