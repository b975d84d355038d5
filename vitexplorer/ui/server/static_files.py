"""Static files: the page's JavaScript and style sheet, and the markup of its components.

Every path contains a hash of all files, so that browsers may cache them for good, and relative imports between modules
stay within one version. An old version is not served: a page that was left open then asks to be reloaded. Addresses are
relative to the page, as gradio's own, since a proxy may serve it below any prefix. Only JavaScript and style are
reachable, and no file is read after the start.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language
from vitexplorer.ui.gradio_adapter.mounting import ASSETS
from vitexplorer.ui.kit.glossary import of_language
from vitexplorer.ui.kit.language import LanguageMiddleware, word
from vitexplorer.ui.kit.served_files import FILES
from vitexplorer.ui.kit.static_responses import LIBRARIES, NO_STORE, PLOTLY, assets_route, immutable_response
from vitexplorer.ui.server.headers import page_policy
from vitexplorer.ui.server.script import joined, late_part, mapped, needed

_FOLDER = Path(__file__).parent.parent
_STYLE, _SCRIPT, _START, _ICON = "style.css", "script.js", "kit/start.js", "icon.svg"


@cache
def static_files() -> dict[str, bytes]:
    """Return all files by path: the modules, their bundles, the source maps, the glossaries and the style sheet.

    One bundle runs the page's module and that of each room. What else a room has is a bundle of its own, which is
    fetched later. Browsers show the modules in their debuggers.
    """
    paths = {path.relative_to(_FOLDER).as_posix(): path for path in sorted(_FOLDER.rglob("*.js"))}
    modules = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if name != _START}
    texts = {**modules, **_glossaries(), _STYLE: _style()}
    in_rooms = [name for name in modules if name.startswith("rooms/")]
    first = ["page.js", *(name for name in in_rooms if name.endswith("/room.js"))]
    at_once = {name for path in first for name in needed(modules, path)}
    late = [name for name in in_rooms if name not in at_once]
    texts |= mapped(_SCRIPT, joined(modules, *first, late=late), modules)
    for room, paths in groupby(late, lambda name: "/".join(name.split("/")[:2])):
        texts |= mapped(f"{room}.js", late_part(modules, paths), modules)
    return {name: text.encode() for name, text in texts.items()}


def _glossaries() -> dict[str, str]:
    """Return one module per language for `kit/glossary.js`."""
    tables = {code: json.dumps(of_language(code), ensure_ascii=False) for code in get_args(Language)}
    return {f"kit/glossary_{code}.js": f"export const entries = {table};\n" for code, table in tables.items()}


def _style() -> str:
    """Join the style sheets below a selector with the specificity of an id, so that they win over gradio's rules.

    Key frames cannot stand below a selector; they have a sheet of their own. Shared rules come first, so that a
    component may override them.
    """
    keyframes = _FOLDER / "kit" / "keyframes.css"
    sheets = {path: path.read_text(encoding="utf-8") for path in _FOLDER.rglob("*.css")}
    shared_first = sorted(sheets.keys() - {keyframes}, key=lambda path: (path.parent.name != "kit", path))
    return "\n".join([sheets[keyframes], ":is(:root, #vx) {", *map(sheets.get, shared_first), "}"])


@cache
def version() -> str:
    """Return a hash of all files and their names."""
    digest = hashlib.sha256()
    for name, content in static_files().items():
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


async def _serve(request: Request) -> Response:
    name = request.path_params["path"]
    if name not in static_files() or request.path_params["version"] != version():
        return PlainTextResponse("Not found", 404, NO_STORE)
    return immutable_response(request, static_files()[name], "text/css" if name == _STYLE else "text/javascript")


@cache
def _markup() -> dict[str, str]:
    """Return the markup of every component by the path of its module."""
    files = {path: path.with_suffix(".js").relative_to(_FOLDER).as_posix() for path in sorted(_FOLDER.rglob("*.html"))}
    return {module: path.read_text(encoding="utf-8").strip() for path, module in files.items()}


def _filled(markup: str, language: Language) -> str:
    """Fill the {{names}} of words into markup: the text of a component before its data arrive."""
    return re.sub(r"\{\{(\w+)\}\}", lambda name: html.escape(word(name.group(1), language)), markup)


@cache
def _icon() -> str:
    """Return the page's icon as a data URL; without one, browsers request an icon at every new address."""
    return f"data:image/svg+xml,{quote((_FOLDER / _ICON).read_text(encoding='utf-8'))}"


def page_head(language: Language) -> str:
    """Return the page's <head>: icon, style, component markup, modules, and the script that mounts components.

    The mounting script is inline, so that it can report modules that do not arrive.
    """
    folder = f"./modules/{version()}/"
    start = (_FOLDER / _START).read_text(encoding="utf-8")
    failed, unexpected = (html.escape(word(key, language)) for key in ("module_failed", "unexpected"))
    return "\n".join(
        [
            f'<link rel="icon" href="{_icon()}">',
            f'<link rel="stylesheet" href="{folder}{_STYLE}">',
            *(
                f'<template data-module="{module}">{_filled(markup, language)}</template>'
                for module, markup in _markup().items()
            ),
            f'<script data-modules="{folder}{_SCRIPT}" data-plotly=".{PLOTLY}" data-failed="{failed}" '
            f'data-unexpected="{unexpected}">',
            f"{start}</script>",
            f'<script type="module" src="{folder}{_SCRIPT}"></script>',
        ]
    )


SERVING = {
    "routes": [Route("/modules/{version}/{path:path}", _serve), assets_route(ASSETS), *LIBRARIES, FILES],
    "middleware": [
        Middleware(LanguageMiddleware, head=page_head, policy=lambda page: page_policy(page, settings().frames))
    ],
}
"""Routes and middleware of the static files"""
