"""A call waits for its turn on the model like everybody on the page."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import TypeVar

from vitexplorer.ui.background import Done, Report
from vitexplorer.ui.engine import Engine

T = TypeVar("T")


async def in_turn(engine: Engine, work: Callable[[Report], T]) -> T:
    """What `work` returns or raises, done when its turn has come. Two calls of one client do not stop each other."""

    def last() -> T:
        *_, done = engine.background.run(secrets.token_hex(8), work)
        assert isinstance(done, Done)
        return done.result

    return await asyncio.to_thread(last)
