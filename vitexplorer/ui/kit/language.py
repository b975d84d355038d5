"""Language of a visit: `?lang=` if given, else the browser's.

gradio translates all words by `navigator.language`, and knows no URL parameter. A middleware writes the
language into the page before any script runs, so that the browser and the server always agree on it. The page goes out
compressed, which gradio does for its scripts alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.types import ASGIApp

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import Language, Text, normalise_language
from vitexplorer.ui.kit.static_responses import compressed, encoding_of
from vitexplorer.ui.kit.words import UI_WORDS

_PREFIX = "vx_"
"""Keeps our keys apart from gradio's own, such as "image", which would win"""

LOCALES: dict[Language, str] = {"en": "en", "zh": "zh-CN"}


def locale_of(language: Language) -> str:
    """Return the tag of browsers and gradio: en, zh-CN."""
    return LOCALES[language]


def language_of(query: str, accept_language: str) -> Language:
    """Return the language of a visit from its query string and its Accept-Language header."""
    asked = parse_qs(query).get("lang")
    return normalise_language(asked[0] if asked else re.split("[,;]", accept_language)[0].strip())


def language_of_request(request: gr.Request | None) -> Language:
    """Return the language of the page that made a request to gradio."""
    if request is None:
        return "en"
    return language_of(str(request.request.url.query), request.headers.get("accept-language", ""))


_NAMES = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
"""Headers from which gradio reads its own address, which it writes into the page"""
_PAGES = 4 << 20
"""Bytes of cached pages"""


class LanguageMiddleware:
    """Middleware that sets `lang` on <html>, and `navigator.language` to the language of the address.

    A page is the same for every visitor with the same address and language, and is made once.
    """

    def __init__(
        self,
        app: ASGIApp,
        head: Callable[[Language], str] = lambda language: "",
        policy: Callable[[str], str] = lambda page: "",
    ):
        """Wrap an application; only its pages are changed.

        Args:
            app: the ASGI application behind this one.
            head: markup for the beginning of <head>.
            policy: the Content-Security-Policy of a page as it is sent.
        """
        self.app = app
        self.head, self.policy = head, policy
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
        served = (scope["scheme"], scope.get("root_path"), scope["path"], *map(headers.get, _NAMES))
        key = (language, encoding, *served)
        held: dict | None = None
        body = b""

        async def rewrite(message):
            nonlocal held, body
            if message["type"] == "http.response.start" and _is_page(message):
                held = message
            elif held is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = self._written(held, body.decode(), language, encoding)
                    if held["status"] == 200:
                        self._cached.put(key, page)
                    await _send(page, send)

        if page := self._cached.get(key):
            await _send(page, send)
        else:
            await self.app(scope, receive, rewrite)

    def _written(self, start: dict, page: str, language: Language, encoding: str) -> tuple[dict, dict]:
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
    headers = {name.lower(): value for name, value in message["headers"]}
    return headers.get(b"content-type", b"").startswith(b"text/html") and b"content-encoding" not in headers


def with_language(page: str, language: Language, head: str = "") -> str:
    """Return the HTML page with its language set for browsers, screen readers and gradio, and `head` behind that."""
    tag = locale_of(language)
    script = (
        "<script>for (const [name, value] of "
        f"[['language', '{tag}'], ['languages', ['{tag}']]]) "
        "Object.defineProperty(navigator, name, {get: () => value, configurable: true});</script>"
    )
    page = re.sub(r"<html\b[^>]*>", f'<html lang="{tag}">', page, count=1)
    return re.sub(r"<head\b[^>]*>", lambda start: start.group() + script + head, page, count=1)


class Translations:
    """Texts of gradio's own components: `t(text)` is a label in the visitor's language."""

    def __init__(self):
        self._keys: dict[Text, str] = {}

    def __call__(self, text: Text) -> Any:
        """A text that the browser fills in."""
        return gr.I18n()(self._keys.setdefault(text, f"{_PREFIX}{len(self._keys)}"))

    @property
    def i18n(self) -> gr.I18n:
        """What gradio sends with the page: all texts so far."""
        return gr.I18n(
            **{tag: {key: text.in_(code) for text, key in self._keys.items()} for code, tag in LOCALES.items()}
        )


def word(key: str, language: Language, **values: object) -> str:
    """Return one of the page's words, filled in, for text that the server writes."""
    text: Text = UI_WORDS[key]
    return (text.format(**values) if values else text).in_(language)
