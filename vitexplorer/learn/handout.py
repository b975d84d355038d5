"""Printable guided path: one HTML page with the numbers of an image, which needs neither server nor network.

Each step has its picture and question. Formulas and answers, which the page reveals only after a guess, are on the last
pages. The browser prints the page: each step begins a new sheet.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vitexplorer.core.text import Language, Text
from vitexplorer.figures import browser
from vitexplorer.figures.caption import IMAGE, MODEL, QUERY, WEIGHTS, WHERE, Fact
from vitexplorer.figures.files import checked_suffix, write
from vitexplorer.figures.inline import figures_html
from vitexplorer.figures.page import png_address
from vitexplorer.figures.rendering import printed
from vitexplorer.figures.themes import FONTS
from vitexplorer.learn.step import Seen, Step, sayer
from vitexplorer.learn.steps import STEPS

SUFFIXES = (".html", ".pdf")
TALLEST = 640
"""Height in pixels to which taller pictures are scaled down"""
TITLE = Text("Through a vision transformer in {steps} steps", "分 {steps} 步走进视觉 Transformer")
MADE = Text(
    "Every number is that of this image in the model named below each picture.",
    "所有数字都是用这幅图像算出的，所用模型注在每幅图的下方。",
)
PRINT = Text("Print", "打印")
ASKED = Text("What do you think?", "您认为呢？")
TO_DO = Text("Then try it on the page:", "然后在页面上动手试试：")
ANSWERS = Text("Answers", "答案")
ANSWER = Text("{number} · {title}: {letter}", "{number} · {title}：{letter}")
_STYLE = f"""
body {{ max-width: 690px; margin: 32px auto; padding: 0 16px; color: #16191d; font: 15px/1.55 {FONTS}; }}
h1 {{ font-size: 26px; line-height: 1.25; }} h2 {{ font-size: 21px; line-height: 1.3; }}
h3 {{ font-size: 15px; margin: 0; }}
header img {{ width: 192px; border-radius: 8px; }}
section {{ border-top: 1px solid #cfd5dc; margin-top: 36px; }}
figure {{ margin: 16px 0; overflow-x: auto; }} figcaption, .made {{ color: #5a626b; font-size: 13px; }}
.ask {{ border: 1px solid #cfd5dc; border-radius: 10px; padding: 12px 16px; }} .ask p {{ margin: 6px 0; }}
header ol {{ margin: 24px 0; padding-left: 28px; }} .ask ol {{ list-style: upper-alpha; margin: 0; }}
.print {{ float: right; padding: 8px 16px; border: 1px solid #cfd5dc; border-radius: 10px; background: none;
  color: inherit; font: inherit; cursor: pointer; }}
.formula {{ font-family: ui-monospace, Consolas, monospace; font-size: 14px; }}
article {{ margin: 18px 0; }} article p {{ margin: 4px 0; }}
@page {{ size: A4; margin: 14mm 15mm; }}
@media print {{
  body {{ margin: 0; padding: 0; max-width: none; }}
  section {{ break-before: page; border: 0; margin: 0; }} h2 {{ margin: 0 0 8px; }} figure {{ margin: 12px 0; }}
  section > p {{ margin: 8px 0; }} .ask {{ padding: 8px 14px; }}
  .modebar, .print {{ display: none !important; }}
  figure, .ask, article, h2 {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
}}
"""


def handout(image: Any, language: Language = "en") -> str:
    """Make the whole path for one image, as one HTML page of at most 5 MB.

    `image` is a path, a PIL image, or uint8 RGB pixels (height, width, 3), as for `vx.capture`.

    Raises:
        ImageError: `image` cannot be read.
    """

    @cache
    def seen(model: str, size: str | None) -> Seen:
        from vitexplorer.capturing.capture import capture as captured
        from vitexplorer.interventions import intervene
        from vitexplorer.models.loading import load_model
        from vitexplorer.views import compute

        capture = captured(load_model(model), image, size=size)
        return Seen(
            capture,
            compute=lambda view, **settings: compute(view, capture, **settings),
            changed=lambda changes: intervene(capture, changes),
            beside=lambda other: seen(other, None),
        )

    return handout_of(lambda step: seen(step.state["model"], step.state.get("size")), language)


def save_handout(image: Any, path: str | os.PathLike[str], language: Language = "en") -> Path:
    """Write the handout to `path`, which ends in .html, or in .pdf if a Chrome or Chromium is installed.

    Raises:
        SaveError: the name has another suffix, or the file cannot be written.
        PictureError: the PDF cannot be printed.
        ImageError: `image` cannot be read.
    """
    path = Path(path)
    suffix = checked_suffix(path, SUFFIXES)
    page = handout(image, language)
    write(path, browser.printed_page(page) if suffix == ".pdf" else page.encode())
    return path


def handout_of(seen: Callable[[Step], Seen], language: Language, path: Sequence[Step] = STEPS) -> str:
    """Make the page; `seen` returns the screen in a step's state."""
    figures = {}
    steps = []
    answers = []
    for number, step in enumerate(path, 1):
        at = seen(step)
        numbers = step.numbers(at)
        say = sayer(numbers, language)
        view, settings = picture_of(step)
        figure, facts = printed(at.compute(view, **settings), language=language)
        figures[f"figure-{number}"] = figure
        picture = _figure(number, figure.layout.height, facts, language)
        steps.append("".join(_step(step, number, say, picture, language)))
        answers.append("".join(_answer(step, number, say, step.right(numbers), language)))
    title = html.escape(TITLE.format(steps=len(path)).in_(language))
    first = png_address(seen(path[0]).capture.input.pixels)
    titles = "".join(f"<li>{html.escape(step.title.in_(language))}</li>" for step in path)
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f'<button type="button" class="print" onclick="print()">{PRINT.in_(language)}</button>'
        f'<header><h1>{title}</h1><p class="made">ViT Explorer · {MADE.in_(language)}</p>'
        f'<img alt="" src="{first}"><ol>{titles}</ol></header>'
        f"{''.join(steps)}<section><h2>{ANSWERS.in_(language)}</h2>{''.join(answers)}</section>"
        f"{figures_html(figures)}</body></html>\n"
    )


def picture_of(step: Step) -> tuple[str, Mapping[str, str]]:
    """Return the view and settings to print: the step's `printed`, else those of its state."""
    if step.printed is not None:
        return step.printed
    state = step.state
    settings = {name.removeprefix("v."): value for name, value in state.items() if name.startswith("v.")}
    return state["view"], settings | {name: state[name] for name in ("block", "head", "query") if name in state}


def _step(step: Step, number: int, say: Callable[[Text], str], figure: str, language: Language) -> Iterator[str]:
    yield f"<section><h2>{number} · {html.escape(say(step.title))}</h2><p>{html.escape(say(step.says))}</p>{figure}"
    yield f'<div class="ask"><h3>{ASKED.in_(language)}</h3><p>{html.escape(say(step.asks))}</p><ol>'
    yield from (f"<li>{html.escape(say(choice))}</li>" for choice in step.choices)
    yield f"</ol></div><p><b>{TO_DO.in_(language)}</b> {html.escape(say(step.action))}</p></section>"


def _answer(step: Step, number: int, say: Callable[[Text], str], right: int, language: Language) -> Iterator[str]:
    head = ANSWER.format(number=number, title=say(step.title), letter="ABCDEF"[right]).in_(language)
    yield f"<article><h3>{html.escape(head)}</h3><p>{html.escape(say(step.reveal))}</p>"
    yield f'<p class="formula">{html.escape(say(step.formula))}</p></article>'


def _figure(number: int, height: float, facts: tuple[Fact, ...], language: Language) -> str:
    values = [fact.value.in_(language) for fact in facts if fact.label in (MODEL, WEIGHTS, IMAGE, WHERE, QUERY)]
    zoom = min(1.0, TALLEST / height)
    caption = html.escape(" · ".join(values))
    return (
        f'<figure><div id="figure-{number}" style="zoom: {zoom:.3f}"></div><figcaption>{caption}</figcaption></figure>'
    )
