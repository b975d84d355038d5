"""A script's question to an endpoint is read here first: its name, and the names or the number of its arguments.

gradio ends in a traceback where one of them is none that it knows. What the arguments are is read by the endpoint
itself. Of answers that nobody waits for there is no stream either.
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


class ReadCalls:
    """Passes on calls of endpoints that there are."""

    def __init__(self, app: ASGIApp, page: gr.Blocks):
        """Args: app: what is behind; page: whose endpoints they are."""
        self.app, self.page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 404 or 422, or pass on."""
        call = _CALL.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if call and scope["method"] == "POST":
            body = await Request(scope, receive).body()
            receive = once(body, receive)
            wrong = self._wrong_call(call["name"], call["named"] is not None, body)
        elif call and call["answer"]:
            wrong = None if is_asked(self.page, call["answer"].strip("/")) else (404, _NO_ANSWER)
        elif scope["type"] == "http" and scope["path"] == _STREAM:
            wrong = None if self._is_followed(scope) else (404, _NO_ANSWER)
        else:
            wrong = None
        await (refusal(scope, *wrong) if wrong else self.app)(scope, receive, send)

    def _wrong_call(self, name: str, named: bool, body: bytes) -> tuple[int, Text] | None:
        """The status and sentence for a call that cannot be answered."""
        endpoints = self.page.get_api_info()["named_endpoints"]
        if f"/{name}" not in endpoints:
            known = ", ".join(endpoint.strip("/") for endpoint in endpoints)
            return 404, _NO_ENDPOINT.format(known=known)
        parameters = endpoints[f"/{name}"]["parameters"]
        known = [one["parameter_name"] for one in parameters]
        needed = [one["parameter_name"] for one in parameters if not one["parameter_has_default"]]
        given = json.loads(body)
        if named and not set(needed) <= set(given) <= set(known):
            return 422, _NAMES.format(name=name, known=", ".join(known), needed=", ".join(needed) or "-")
        values = given.get("data")
        if not named and (not isinstance(values, list) or len(values) != len(known)):
            return 422, _NUMBER.format(name=name, number=len(known), known=", ".join(known))
        return None

    def _is_followed(self, scope: Scope) -> bool:
        session = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
        return is_followed(self.page, session)
