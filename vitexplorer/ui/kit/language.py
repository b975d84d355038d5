"""Language of a visit: `?lang=` if given, else the browser's.

Gradio translates all words by `navigator.language` and has no URL parameter for it. A middleware writes the language
into the page before any script runs, so that browser and server always agree. It also compresses the page, which gradio
does only for its scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import Language, Text, normalise_language, text_of
from vitexplorer.ui.kit.static_responses import compressed, encoding_of
from vitexplorer.ui.kit.words import UI_WORDS

_PREFIX = "vx_"
"""Prefix of our keys, which keeps them apart from gradio's own, such as "image", which would take precedence"""

LOCALES: dict[Language, str] = {"en": "en", "zh": "zh-CN"}
"""Tags of browsers and gradio"""


def language_of(query: str, accept_language: str) -> Language:
    """Return the language of a visit from its query string and its Accept-Language header."""
    requested = parse_qs(query).get("lang")
    return normalise_language(requested[0] if requested else re.split("[,;]", accept_language)[0].strip())


def language_of_request(request: HTTPConnection | None) -> Language:
    """Return the language of the page that made a request; English where a script made it."""
    if request is None:
        return "en"
    return language_of(request.scope["query_string"].decode("latin-1"), request.headers.get("accept-language", ""))


_NAMES = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
"""Headers from which gradio reads its own address, which it writes into the page"""
_PAGES = 4 << 20
"""Bytes of cached pages"""


class LanguageMiddleware:
    """Middleware that sets `lang` on <html>, and `navigator.language` to the language of the address.

    A page is the same for every visitor with the same address and language, and is cached.
    """

    def __init__(
        self,
        app: ASGIApp,
        head: Callable[[Language], str] = lambda language: "",
        policy: Callable[[str], str] = lambda page: "",
    ):
        """Wrap an application; only its pages are changed.

        `head` makes the markup for the beginning of <head>, `policy` the Content-Security-Policy for a page's HTML.
        """
        self.app = app
        self.head = head
        self.policy = policy
        self._cached: BytesCache[Hashable, tuple[dict, dict]] = BytesCache(_PAGES, lambda page: len(page[1]["body"]))

    async def __call__(self, scope, receive, send) -> None:
        """Pass a request on; write the language into the answer if it is a page."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        language = language_of(
            scope["query_string"].decode("latin-1"), headers.get(b"accept-language", b"").decode("latin-1")
        )
        encoding = encoding_of(headers.get(b"accept-encoding", b"").decode("latin-1"))
        address = (scope["scheme"], scope.get("root_path"), scope["path"], *map(headers.get, _NAMES))
        key = (language, encoding, *address)
        start: dict | None = None
        body = b""

        async def rewrite(message):
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = self._page(start, body.decode(), language, encoding)
                    if start["status"] == 200:
                        self._cached.put(key, page)
                    await _send(page, send)

        if page := self._cached.get(key):
            await _send(page, send)
        else:
            await self.app(scope, receive, rewrite)

    def _page(self, start: dict, page: str, language: Language, encoding: str) -> tuple[dict, dict]:
        """Make the two ASGI messages of a page."""
        html = with_language(page, language, self.head(language))
        body = compressed(html.encode(), encoding, quality=4)
        headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        headers.append((b"vary", b"accept-encoding"))
        headers.append((b"content-security-policy", self.policy(html).encode()))
        if encoding:
            headers.append((b"content-encoding", encoding.encode()))
        headers.append((b"content-length", str(len(body)).encode()))
        return {**start, "headers": headers}, {"type": "http.response.body", "body": body}


async def _send(page: tuple[dict, dict], send) -> None:
    start, body = page
    await send({**start, "headers": [*start["headers"]]})  # a copy, since other middleware adds headers
    await send(body)


def _is_page(message: dict) -> bool:
    """Return True for a page of gradio's; a file that is finished has its own policy or encoding."""
    headers = {name.lower(): value for name, value in message["headers"]}
    is_finished = b"content-encoding" in headers or b"content-security-policy" in headers
    return headers.get(b"content-type", b"").startswith(b"text/html") and not is_finished


def with_language(page: str, language: Language, head: str = "") -> str:
    """Return the HTML page with its language set for browsers, screen readers and gradio, and `head` behind that."""
    tag = LOCALES[language]
    script = (
        "<script>for (const [name, value] of "
        f"[['language', '{tag}'], ['languages', ['{tag}']]]) "
        "Object.defineProperty(navigator, name, {get: () => value, configurable: true});</script>"
    )
    page = re.sub(r"<html\b[^>]*>", f'<html lang="{tag}">', page, count=1)
    return re.sub(r"<head\b[^>]*>", lambda start: start.group() + script + head, page, count=1)


class Translations:
    """Texts for gradio's own components: `t(text)` is a label in the visitor's language."""

    def __init__(self):
        self._keys: dict[Text, str] = {}

    def __call__(self, text: Text) -> Any:
        """Return a placeholder that the browser replaces by the text in its language."""
        return gr.I18n()(self._keys.setdefault(text, f"{_PREFIX}{len(self._keys)}"))

    @property
    def i18n(self) -> gr.I18n:
        """All texts so far, which gradio sends with the page."""
        return gr.I18n(
            **{tag: {key: text.in_(code) for text, key in self._keys.items()} for code, tag in LOCALES.items()}
        )


word = partial(text_of, UI_WORDS)
"""Return one of the page's words in a language, with its values filled in, see `text_of`"""
