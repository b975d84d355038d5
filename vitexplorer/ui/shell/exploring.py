"""From an address to a capture, with a line for the visitor at every step."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vitexplorer.core.text import ExplainedError, Language, SettingError, UnsupportedError
from vitexplorer.core.types import OUTPUT, Output
from vitexplorer.models.catalog import find
from vitexplorer.models.photographs import photo_hint
from vitexplorer.service.engine import Engine, Explored
from vitexplorer.service.jobs import Done, Step, StoppedError, Waiting, following
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.shell.address import OF_BROWSER, Address
from vitexplorer.ui.shell.status import StatusData

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

_log = logging.getLogger(__name__)


PAGE = "page"
"""what one waits for who explores: whoever explores something else waits for this no more"""


@dataclass(frozen=True)
class Instead:
    """Address explored in place of the one that a link asks for."""

    address: Address
    why: str


async def exploring(
    engine: Engine, visitor: str, address: Address, shown: Address, language: Language
) -> AsyncGenerator[StatusData | Instead | Explored, None]:
    """Status lines while the capture is made, then the capture, or a last line that says why there is none.

    The model's own size takes the place of one that a link asks for and that cannot be. Raises StoppedError where
    something else was asked for since.

    Args:
        engine: makes it.
        visitor: who waits for it.
        address: what is asked for.
        shown: what is on the screen; empty where nothing is yet.
        language: of the lines.
    """
    try:
        async with aclosing(following(Waiting(visitor, PAGE), engine.explore(address.picture))) as steps:
            async for step in steps:
                if isinstance(step, Done):
                    yield step.result
                elif step.place or step.doing:
                    yield _line(step, language)
    except StoppedError:
        raise
    except (SettingError, UnsupportedError) as error:
        if not address.size or shown != Address():
            yield _refused(error, address, shown, language)
            return
        own = replace(address, size="")
        yield Instead(own, word("size_instead", language, why=error.text.in_(language)))
        async with aclosing(exploring(engine, visitor, own, shown, language)) as lines:
            async for line in lines:
                yield line
    except ExplainedError as error:
        yield _refused(error, address, shown, language)
    except Exception:
        _log.exception("Could not explore %s", address)
        yield StatusData(kind="error", text=word("unexpected", language))


def _refused(error: ExplainedError, address: Address, shown: Address, language: Language) -> StatusData:
    then = word("status_first_failed" if shown == Address() else "status_failed", language)
    return StatusData(kind="error", text=f"{error.text.in_(language)} {then}", **_way_out(address, language))


def _way_out(address: Address, language: Language) -> dict[str, str]:
    """A bundled model, which needs no network, for a person whose model could not be shown."""
    entry, bundled = find(address.model), Address.read({}).model
    if address.model == bundled or (entry is not None and entry.bundled):
        return {}
    return {
        "hint": word("status_way_out", language),
        "hint_button": word("status_show_bundled", language),
        "hint_model": bundled,
    }


def _line(step: Step, language: Language) -> StatusData:
    text = step.doing.in_(language) if step.doing else word("status_queue", language, place=step.place)
    return StatusData(text=text, share=step.share)


def _photo_hint(capture: Capture, language: Language) -> dict[str, str]:
    """Before what may be a photograph: the model that knows them, one click away where weights may be fetched."""
    hint = photo_hint(capture.model, capture.input.image_hash)
    if hint is None:
        return {}
    button = {"hint_button": word("status_show_model", language, title=hint.title), "hint_model": hint.model}
    return {"hint": hint.sentence.in_(language), **(button if hint.available else {})}


def _answer(capture: Capture, language: Language) -> str:
    """The likeliest class and its probability, or the one output, or why there is none; empty for unnamed classes."""
    from vitexplorer.quantities.read_out import top_classes

    if capture.provenance.is_random:
        return word("weights_random_note", language)
    if capture.logits is None:
        return word("status_no_answer", language)
    best = top_classes(capture.logits, capture.model.class_texts, 1)[0]
    if isinstance(best, Output):
        return word("status_answer", language, name=best.name if best.name.en else OUTPUT, share=best.display_value)
    if not best.name.en:
        return ""
    return word("status_answer", language, name=best.name, share=f"{100 * best.probability:.0f} %")


def ready(explored: Explored, address: Address, language: Language, instead: str = "") -> StatusData:
    """The line above the rooms once a capture is there, with the URL that leads back to it.

    `instead` says why it is not the one that was asked for.
    """
    capture = explored.capture
    provenance = capture.provenance
    return StatusData(
        kind="ready",
        text=word(
            "status_ready",
            language,
            model=provenance.model,
            weights=provenance.weights_text,
            height=provenance.input_size[0],
            width=provenance.input_size[1],
            depth=capture.depth,
            ms=1000 * explored.seconds,
        ),
        answer=_answer(capture, language),
        **({"hint": instead} if instead else _photo_hint(capture, language)),
        about=f"{provenance.model} · {provenance.weights_text.in_(language)}",
        whole=word("open_whole", language),
        warning=word("random_warning", language) if provenance.is_random else "",
        address={name: value for name, value in address.parameters().items() if name not in OF_BROWSER},
    )
