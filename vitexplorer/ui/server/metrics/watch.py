"""Setup of the metrics of a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gradio as gr
from starlette.middleware import Middleware
from starlette.routing import Route

from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import uploads
from vitexplorer.ui.server.guards import Guards
from vitexplorer.ui.server.metrics.events import watch_events
from vitexplorer.ui.server.metrics.lines import Lines
from vitexplorer.ui.server.metrics.measures import Measures
from vitexplorer.ui.server.metrics.requests import Watched
from vitexplorer.ui.server.metrics.routes import watching_routes


@dataclass(frozen=True)
class Watch:
    """Middleware and routes that the application adds."""

    middleware: Middleware
    routes: list[Route]


def watch(settings: Settings, engine: Engine, page: gr.Blocks, guards: Guards) -> Watch:
    """Start to measure the events of `page`, and report sizes of the engine's and the guards' stores."""
    measures, lines = Measures(), Lines(settings.log_requests)
    watch_events(page, measures, lines)
    caches = {**engine.caches, "uploads": uploads}
    measures.now(
        "cache_bytes", "Memory of what is kept to answer from", "cache", _of(caches, lambda cache: cache.nbytes)
    )
    measures.now("cache_entries", "How much of it there is", "cache", _of(caches, len))
    measures.now("waiting", "What waits for a turn or has begun", "queue", _of(engine.queues, len))
    measures.now("trainings", "Trainings, by what they do", "state", lambda: {"running": engine.places.running()})
    measures.now(
        "sent_bytes",
        "What visitors sent: on the disk after the last sweep, and within the last hour",
        "what",
        lambda: {"on_disk": guards.folder.held.size, "last_hour": guards.budgets.of_all},
    )
    measures.now(
        "stored_bytes",
        "Trainings, images and tuned models, after the last sweep",
        "what",
        lambda: {"all": guards.stored.held.size},
    )
    measures.now("visitors", "Pages that are remembered", "state", lambda: guards.visitors.counts)
    return Watch(Middleware(Watched, measures=measures, lines=lines), watching_routes(engine, measures))


def _of(caches: dict, amount: Callable) -> Callable[[], dict[str, float]]:
    return lambda: {name: amount(cache) for name, cache in caches.items()}
