"""Files that never change under their address: compressed once, and kept by a browser for good.

gradio's own scripts are such files, for their names hold a hash, and so is plotly.js under its version, and an example
under the hash of its pixels; gradio would compress scripts anew for every visitor, which took more of the server's time
than to show the visitor's first picture. They are read when somebody wants them.
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

from vitexplorer.models.examples import Example, examples

_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
FOR_GOOD, NOT_KEPT = {"cache-control": "public, max-age=31536000, immutable"}, {"cache-control": "no-store"}
_TEXTS = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
"""what is worth compressing, and what it is"""


def encoding_of(accept_encoding: str) -> str:
    """The best compression that the other side reads, as HTTP names it; empty for none."""
    return next((encoding for encoding in ("br", "gzip") if encoding in re.findall(r"\w+", accept_encoding)), "")


def compressed(content: bytes, encoding: str, quality: int) -> bytes:
    """The content in that compression, of a quality of 1 to 9."""
    if encoding == "br":
        return brotli.compress(content, quality=quality)
    return gzip.compress(content, quality, mtime=0) if encoding else content


def lasting(request: Request, content: bytes, kind: str) -> Response:
    """The answer with a file's content and its kind, text/css for one."""
    headers = {**FOR_GOOD, "vary": "accept-encoding"}
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
    """The files of a folder of gradio's, in place of gradio's own route of this name."""

    @cache
    def names() -> frozenset[str]:
        return frozenset(path.name for path in folder.iterdir() if path.is_file())

    async def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in names():
            return PlainTextResponse("Not found", 404, NOT_KEPT)
        kind = _TEXTS.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return lasting(request, _content(folder / name), kind)

    return Route("/assets/{name}", serve)


async def _serve_plotly(request: Request) -> Response:
    return lasting(request, _content(_PLOTLY), "text/javascript")


def example_url(example: Example) -> str:
    """Where the browser finds it, relative to the page."""
    return f"./examples/{example.hash}/{example.path.name}"


async def _serve_example(request: Request) -> Response:
    asked = "./examples/{hash}/{name}".format(**request.path_params)
    path = next((example.path for example in examples().values() if example_url(example) == asked), None)
    return FileResponse(path, headers=FOR_GOOD) if path else PlainTextResponse("Not found", 404, NOT_KEPT)


PLOTLY = f"/plotly/{plotly.__version__}.js"
"""where plotly.js is, as the plotly package ships it"""
LIBRARIES = (
    Route(PLOTLY, _serve_plotly),
    Route("/examples/{hash}/{name}", _serve_example),
)
