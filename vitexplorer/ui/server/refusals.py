"""How a request that is not answered is told so: a status, and a sentence in the visitor's language."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Scope

from vitexplorer.core.text import Text
from vitexplorer.ui.kit.language import language_of


def refusal(scope: Scope, status: int, text: Text) -> JSONResponse:
    """`error` is where gradio's own scripts look for a sentence."""
    asked = Headers(scope=scope).get("accept-language", "")
    sentence = text.in_(language_of(scope["query_string"].decode("latin-1"), asked))
    return JSONResponse({"error": sentence}, status, {"cache-control": "no-store"})
