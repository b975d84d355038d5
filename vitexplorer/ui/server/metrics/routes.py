"""Routes for operators: `/healthz` for readiness, `/metrics` for Prometheus."""

from __future__ import annotations

import asyncio

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.service.engine import Engine
from vitexplorer.ui.server.metrics.measures import Measures
from vitexplorer.ui.server.static_files import version

_FRESH = {"cache-control": "no-store"}


def watching_routes(engine: Engine, measures: Measures) -> list[Route]:
    """Return the routes `/healthz` and `/metrics`."""

    async def health(request: Request) -> Response:
        is_ready = engine.is_warm  # read once: the warm-up ends on another thread
        status = {"ready": is_ready, "device": _device() if is_ready else None, "version": version()}
        return JSONResponse(status, 200 if is_ready else 503, _FRESH)

    async def metrics(request: Request) -> Response:
        text = await asyncio.to_thread(measures.exposition)
        return Response(text, headers=_FRESH, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return [Route("/healthz", health), Route("/metrics", metrics)]


def _device() -> str:
    from vitexplorer.models.loading import usual_device

    return usual_device()
