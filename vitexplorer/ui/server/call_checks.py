"""Check of API calls: the endpoint's name, and the names or the number of its arguments.

gradio raises a traceback for unknown ones. The endpoint itself validates the values. A stream of answers is opened only
for a call that was made.
"""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs

import gradio as gr
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.text import Text
from vitexplorer.ui.gradio_adapter.events import is_asked, is_followed
from vitexplorer.ui.server.json_bodies import once
from vitexplorer.ui.server.refusals import refusal

_CALL = re.compile(r"/gradio_api/call/(?P<named>v2/)?(?P<name>[^/]+)(?P<answer>/[^/]+)?/?")
_STREAM = "/gradio_api/queue/data"
_NO_ENDPOINT = Text("There is no endpoint of this name. There are {known}.", "没有此名称的接口。可用的有 {known}。")
_NAMES = Text(
    "{name} takes {known}, of which {needed} must be given.", "{name} 的参数为 {known}，其中必须给出 {needed}。"
)
_NUMBER = Text("{name} takes {number} values in `data`: {known}.", "{name} 的 `data` 须有 {number} 个值：{known}。")
_NO_ANSWER = Text("Nobody has asked this, or it was answered.", "没有这一请求，或其已被答复。")


class CallCheck:
    """Middleware that refuses calls of unknown endpoints or with wrong arguments."""

    def __init__(self, app: ASGIApp, page: gr.Blocks):
        """Set up the check.

        Args:
            app: the application behind it.
            page: the page with the endpoints.
        """
        self.app, self.page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 404 or 422, or pass on."""
        call = _CALL.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if call and scope["method"] == "POST":
            body = await Request(scope, receive).body()
            receive = once(body, receive)
            error = self._call_error(call["name"], call["named"] is not None, body)
        elif call and call["answer"]:
            error = None if is_asked(self.page, call["answer"].strip("/")) else (404, _NO_ANSWER)
        elif scope["type"] == "http" and scope["path"] == _STREAM:
            error = None if self._is_followed(scope) else (404, _NO_ANSWER)
        else:
            error = None
        await (refusal(scope, *error) if error else self.app)(scope, receive, send)

    def _call_error(self, name: str, named: bool, body: bytes) -> tuple[int, Text] | None:
        """Return the status and message for an invalid call, else None."""
        endpoints = self.page.get_api_info()["named_endpoints"]
        if f"/{name}" not in endpoints:
            known = ", ".join(endpoint.strip("/") for endpoint in endpoints)
            return 404, _NO_ENDPOINT.format(known=known)
        parameters = endpoints[f"/{name}"]["parameters"]
        known = [parameter["parameter_name"] for parameter in parameters]
        needed = [parameter["parameter_name"] for parameter in parameters if not parameter["parameter_has_default"]]
        arguments = json.loads(body)
        if named and not set(needed) <= set(arguments) <= set(known):
            return 422, _NAMES.format(name=name, known=", ".join(known), needed=", ".join(needed) or "-")
        values = arguments.get("data")
        if not named and (not isinstance(values, list) or len(values) != len(known)):
            return 422, _NUMBER.format(name=name, number=len(known), known=", ".join(known))
        return None

    def _is_followed(self, scope: Scope) -> bool:
        session = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
        return is_followed(self.page, session)
