"""Static responses: files that never change at their address, compressed once and cached by browsers for good.

These are gradio's scripts, whose names contain a hash, plotly.js under its version, and examples under the hash of
their pixels. Gradio itself compresses scripts for every visitor, which took more time than the visitor's first picture.
Files are read at the first request.
"""

from __future__ import annotations

import gzip
import mimetypes
import re
from functools import cache
from pathlib import Path

import brotli
import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.core.text import Language
from vitexplorer.models.examples import Example, examples

_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}
NO_STORE = {"cache-control": "no-store"}
_TEXTS = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
"""Suffixes that are worth compressing, with their MIME types"""


def encoding_of(accept_encoding: str) -> str:
    """Choose the best compression that the client accepts, by its name in HTTP; empty for none."""
    return next((encoding for encoding in ("br", "gzip") if encoding in re.findall(r"\w+", accept_encoding)), "")


def compressed(content: bytes, encoding: str, quality: int) -> bytes:
    """Compress content at a quality of 1 to 9."""
    if encoding == "br":
        return brotli.compress(content, quality=quality)
    return gzip.compress(content, quality, mtime=0) if encoding else content


def immutable_response(request: Request, content: bytes, kind: str) -> Response:
    """Make the response of a file that never changes; `kind` is its MIME type."""
    headers = {**IMMUTABLE, "vary": "accept-encoding"}
    encoding = encoding_of(request.headers.get("accept-encoding", ""))
    if kind not in _TEXTS.values() or not encoding:
        return Response(content, media_type=kind, headers=headers)
    return Response(_compressed(content, encoding), media_type=kind, headers={**headers, "content-encoding": encoding})


@cache
def _compressed(content: bytes, encoding: str) -> bytes:
    return compressed(content, encoding, quality=6)


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def assets_route(folder: Path) -> Route:
    """Make the route that serves one of gradio's folders in place of gradio's own route."""

    @cache
    def names() -> frozenset[str]:
        return frozenset(path.name for path in folder.iterdir() if path.is_file())

    async def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in names():
            return PlainTextResponse("Not found", 404, NO_STORE)
        kind = _TEXTS.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return immutable_response(request, _content(folder / name), kind)

    return Route("/assets/{name}", serve)


async def _serve_plotly(request: Request) -> Response:
    return immutable_response(request, _content(_PLOTLY), "text/javascript")


def example_url(example: Example) -> str:
    """Return an example's URL, relative to the page."""
    return f"./examples/{example.hash}/{example.path.name}"


def example_item(example: Example, language: Language) -> dict[str, str]:
    """Return an example as the browser lists it: `id`, `title` and the URL of its `image`."""
    return {"id": example.id, "title": example.title.in_(language), "image": example_url(example)}


async def _serve_example(request: Request) -> Response:
    url = "./examples/{hash}/{name}".format(**request.path_params)
    path = next((example.path for example in examples().values() if example_url(example) == url), None)
    return FileResponse(path, headers=IMMUTABLE) if path else PlainTextResponse("Not found", 404, NO_STORE)


PLOTLY = f"/plotly/{plotly.__version__}.js"
"""Route of plotly.js, as the plotly package ships it"""
LIBRARIES = (Route(PLOTLY, _serve_plotly), Route("/examples/{hash}/{name}", _serve_example))
