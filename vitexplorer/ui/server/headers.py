"""Security headers of every response, above all the Content-Security-Policy.

Only gradio needs `unsafe-eval`: it compiles the templates, styles and scripts of HTML components, and the JavaScript of
events. Our own scripts and plotly.js do without, and the tests' plain pages forbid it. Inline styles are allowed since
gradio and plotly.js set them. Inline scripts are allowed by their hashes, so an injected script does not run.
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
"""Default headers; a page replaces the last by its own policy"""
_INLINE = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval' {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; media-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
)


def page_policy(page: str, frames: str) -> str:
    """Return the Content-Security-Policy of a page.

    Args:
        page: its HTML, as it is sent.
        frames: sites that may frame the page, as `frame-ancestors` writes them.
    """
    digests = dict.fromkeys(hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page))
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return _POLICY.format(hashes=hashes, frames=frames)


class SecurityHeaders:
    """Middleware that adds the default headers to every response."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; headers that the response sets itself stay."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
