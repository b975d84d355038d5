"""Rendering of a result: find the renderer of its type, check the options, draw."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plotly.graph_objects import Figure

from vitexplorer.core.registry import Registry, unknown_name
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import Fact
from vitexplorer.figures.page import Page
from vitexplorer.figures.sheets import PRINTED, WINDOWS


class NoRendererError(ExplainedError):
    """Raised for a type of result without a renderer."""


@dataclass(frozen=True)
class Renderer:
    """Renderer of one type of result and its subtypes."""

    result: type[Result]
    draw: Callable[..., float]
    """draw(page, result, y, **options) -> y below the caption, from y below the header; options are keyword-only"""

    @property
    def options(self) -> dict[str, Any]:
        """Return name and default of each option."""
        parameters = inspect.signature(self.draw).parameters.values()
        return {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}


RENDERERS: Registry[tuple[Renderer, ...]] = Registry("renderer", "vitexplorer.figures.renderers", "RENDERERS")
"""Renderers of related results, by file"""


def renderer_of(result: Result) -> Renderer:
    """Return the renderer of the nearest type of `result`. Raises NoRendererError."""
    drawn = {renderer.result: renderer for file in RENDERERS.values() for renderer in file}
    for kind in type(result).__mro__:
        if kind in drawn:
            return drawn[kind]
    known = ", ".join(sorted(kind.__name__ for kind in drawn))
    raise NoRendererError(
        Text(
            "A {kind} cannot be drawn; figures exist for {known}. Save its numbers as .csv or .json.",
            "无法绘制 {kind}；可以绘制的有 {known}。其数值可以保存为 .csv 或 .json。",
        ).format(kind=type(result).__name__, known=known)
    )


def render(result: Result, *, language: Language = "en", theme: str = "light", **options: Any) -> Figure:
    """Draw a result as a plotly figure of fixed size, 1280 pixels wide, caption and warning included.

    Args:
        result: result of a view.
        language: language of every word on the figure.
        theme: theme of the page around the picture, light or dark.
        options: options of the result's renderer, such as `colormap`, `normalise`, `opacity`, `arrangement`.

    Raises:
        NoRendererError: no renderer for this type of result.
        UnknownNameError: an option, colour map or theme that does not exist; the message names the nearest.
    """
    page = Page(language, theme)
    return page.finish(_drawn(page, result, **options))


def slide(result: Result, *, language: Language = "en", theme: str = "light") -> dict[str, Any]:
    """Return the figure of `render` as traces and layout, with numpy arrays. Raises NoRendererError."""
    page = Page(language, theme)
    return page.document(_drawn(page, result))


def windows(
    result: Result, *, language: Language = "en", theme: str = "light"
) -> tuple[tuple[dict[str, Any], ...], tuple[Fact, ...]]:
    """Lay out the same figure for the page, once for each of `WINDOWS`, and return its caption beside these.

    Raises NoRendererError.
    """
    pages = [Page(language, theme, sheet) for sheet in WINDOWS]
    documents = tuple(page.document(_drawn(page, result)) for page in pages)
    return documents, tuple(pages[0].facts)


def printed(result: Result, *, language: Language = "en") -> tuple[Figure, tuple[Fact, ...]]:
    """Draw the figure as wide as a sheet of paper, and return it and its caption. Raises NoRendererError."""
    page = Page(language, "light", PRINTED)
    return page.finish(_drawn(page, result)), tuple(page.facts)


def _drawn(page: Page, result: Result, /, **options: Any) -> float:
    renderer = renderer_of(result)
    for name in options:
        if name not in renderer.options:
            raise unknown_name("option", name, renderer.options)
    return renderer.draw(page, result, page.header(result), **options)
