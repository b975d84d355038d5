"""Check of API calls: the endpoint's name, and the names or the number of its arguments.

gradio raises a traceback for unknown ones. The endpoint itself validates the values. A stream of answers is opened only
for a call that was made.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.types import Scope

from vitexplorer.core.text import Text
from vitexplorer.ui.gradio_adapter.events import is_asked, is_followed
from vitexplorer.ui.server.refusals import RefusedError

_CALL = re.compile(r"/gradio_api/call/(?P<named>v2/)?(?P<name>[^/]+)(?P<answer>/[^/]+)?/?")
_STREAM = "/gradio_api/queue/data"
_NO_ENDPOINT = Text("There is no endpoint of this name. There are {known}.", "没有此名称的接口。可用的有 {known}。")
_NAMES = Text("{name} takes {known}; {needed} must be given.", "{name} 的参数为 {known}，其中必须给出 {needed}。")
_NUMBER = Text("{name} takes {number} values in `data`: {known}.", "{name} 的 `data` 须有 {number} 个值：{known}。")
_NO_ANSWER = Text("There is no such request, or it was already answered.", "没有这一请求，或该请求已得到答复。")


@dataclass(frozen=True)
class CallCheck:
    """Refuses calls of unknown endpoints or with wrong arguments."""

    page: gr.Blocks

    async def __call__(self, scope: Scope, body: bytes | None) -> None:
        """Raise RefusedError with 404 or 422 for an invalid call."""
        call = _CALL.fullmatch(scope["path"])
        if call and body is not None:
            self._check_call(call["name"], call["named"] is not None, json.loads(body))
        elif call and call["answer"]:
            if not is_asked(self.page, call["answer"].strip("/")):
                raise RefusedError(404, _NO_ANSWER)
        elif scope["path"] == _STREAM:
            session = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
            if not is_followed(self.page, session):
                raise RefusedError(404, _NO_ANSWER)

    def _check_call(self, name: str, named: bool, arguments: dict[str, Any]) -> None:
        endpoints = self.page.get_api_info()["named_endpoints"]
        if f"/{name}" not in endpoints:
            known = ", ".join(endpoint.strip("/") for endpoint in endpoints)
            raise RefusedError(404, _NO_ENDPOINT.format(known=known))
        parameters = endpoints[f"/{name}"]["parameters"]
        known = [parameter["parameter_name"] for parameter in parameters]
        needed = [parameter["parameter_name"] for parameter in parameters if not parameter["parameter_has_default"]]
        if named and not set(needed) <= set(arguments) <= set(known):
            names = _NAMES.format(name=name, known=", ".join(known), needed=", ".join(needed) or "-")
            raise RefusedError(422, names)
        values = arguments.get("data")
        if not named and (not isinstance(values, list) or len(values) != len(known)):
            raise RefusedError(422, _NUMBER.format(name=name, number=len(known), known=", ".join(known)))
