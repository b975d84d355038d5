"""What a browser is told not to do for anybody: run what the page did not come with, show it in a stranger's frame.

`unsafe-eval` is gradio's alone: its HTML component makes functions of its template, its style and its script, and its
events of their JavaScript. Our own scripts and plotly.js do without, and the tests' plain pages forbid it. Styles are
set on elements by gradio and plotly.js. Inline scripts are allowed one by one, by their hashes: a script that somebody
brought into the page is none of them.
"""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(self), microphone=(), geolocation=()",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""the last is for what is no page, and a page says otherwise"""
_INLINE = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval' {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; media-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
)


def page_policy(page: str, frames: str) -> str:
    """The Content-Security-Policy of a page.

    Args:
        page: its HTML, as it is sent.
        frames: who may show it in a frame, as the policy writes sources.
    """
    scripts = dict.fromkeys(hashlib.sha256(found.encode()).digest() for found in _INLINE.findall(page))
    hashes = " ".join(f"'sha256-{base64.b64encode(script).decode()}'" for script in scripts)
    return _POLICY.format(hashes=hashes, frames=frames)


class SafeHeaders:
    """Every answer carries them."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; what an answer says itself stands."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, sent)
