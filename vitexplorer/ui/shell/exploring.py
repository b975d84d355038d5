"""Capture of the picture that an address names, with a status line at every step."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vitexplorer.core.text import ExplainedError, Language, SettingError, UnsupportedError
from vitexplorer.core.types import OUTPUT, Output
from vitexplorer.models.catalog import find
from vitexplorer.models.photographs import naming_model, photo_hint
from vitexplorer.service.engine import Engine, Picture, TimedCapture
from vitexplorer.service.jobs import Done, Step, StoppedError, Waiting, following
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.shell.address import OF_BROWSER, Address
from vitexplorer.ui.shell.status import StatusData

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

_log = logging.getLogger(__name__)


PAGE = "page"
"""Purpose of a visitor's wait for a new capture; a request for another capture ends the wait"""


@dataclass(frozen=True)
class Replacement:
    """Address explored in place of the one that a link asks for."""

    address: Address
    reason: str


async def exploring(
    engine: Engine, visitor: str, address: Address, current: Address
) -> AsyncGenerator[StatusData | Replacement | TimedCapture, None]:
    """Yield status lines while the capture is made, then the capture, or a last line that explains the failure.

    If a link asks for a size that the model cannot take, its own size is used instead. `current` is the address on the
    screen, empty before the first capture.

    Raises:
        StoppedError: the visitor has asked for something else since.
    """
    try:
        async with aclosing(following(Waiting(visitor, PAGE), engine.explore(address.picture))) as steps:
            async for step in steps:
                if isinstance(step, Done):
                    yield step.result
                elif step.place or step.doing:
                    yield StatusData(text=step_line(step, address.language), share=step.share)
    except StoppedError:
        raise
    except (SettingError, UnsupportedError) as error:
        if not address.size or current != Address():
            yield _error_line(error, address, current)
            return
        own_size = replace(address, size="")
        yield Replacement(own_size, word("size_instead", address.language, why=error.text.in_(address.language)))
        async with aclosing(exploring(engine, visitor, own_size, current)) as lines:
            async for line in lines:
                yield line
    except ExplainedError as error:
        yield _error_line(error, address, current)
    except Exception:
        _log.exception("Could not explore %s", address)
        yield StatusData(kind="error", text=word("unexpected", address.language))


def _error_line(error: ExplainedError, address: Address, current: Address) -> StatusData:
    advice = word("status_first_failed" if current == Address() else "status_failed", address.language)
    hint = _bundled_model_hint(address)
    return StatusData(kind="error", text=f"{error.text.in_(address.language)} {advice}", **hint)


def _bundled_model_hint(address: Address) -> dict[str, str]:
    """Offer a bundled model, which needs no network, where another model could not be shown."""
    entry, bundled = find(address.model), Address.read({}).model
    if address.model == bundled or (entry is not None and entry.bundled):
        return {}
    return {
        "hint": word("status_way_out", address.language),
        "hint_button": word("status_show_bundled", address.language),
        "hint_model": bundled,
    }


def step_line(step: Step, language: Language) -> str:
    """Return the progress of a capture in words."""
    return step.doing.in_(language) if step.doing else word("status_queue", language, place=max(1, step.place))


def _photo_hint(capture: Capture, language: Language) -> dict[str, str]:
    """Offer a model trained on photographs if the image may be one; with a button if its weights are available."""
    hint = photo_hint(capture.model, capture.input.image_hash)
    if hint is None:
        return {}
    button = {"hint_button": word("status_show_model", language, title=hint.title), "hint_model": hint.model}
    return {"hint": hint.sentence.in_(language), **(button if hint.available else {})}


def companion(address: Address, capture: Capture) -> Picture | None:
    """Return the picture of the bundled model that names the image, where the capture's model has no classifier.

    None where the model answers by itself, has random weights, or where no bundled model names the image.
    """
    entry = naming_model(capture.input.image_hash)
    if capture.logits is not None or capture.provenance.is_random or entry is None:
        return None
    return address.in_model(entry.name).picture


def companion_in_memory(engine: Engine, address: Address, capture: Capture) -> Capture | None:
    """Return the capture of the companion if it need not be computed."""
    picture = companion(address, capture)
    beside = engine.cached_capture(picture) if picture else None
    return beside.capture if beside else None


def _answer(capture: Capture, language: Language) -> str:
    """Return the likeliest class with its probability, or the one output, or what there is instead.

    Empty if the classes have no names.
    """
    from vitexplorer.quantities.read_out import top_classes

    if capture.provenance.is_random:
        return word("weights_random_note", language)
    if capture.logits is None:
        return word("status_maps", language)
    best = top_classes(capture.logits, capture.model.class_texts, 1)[0]
    if isinstance(best, Output):
        return word("status_answer", language, name=best.name if best.name.en else OUTPUT, share=best.display_value)
    if not best.name.en:
        return ""
    return word("status_answer", language, name=best.name, share=f"{100 * best.probability:.0f} %")


def _companion_answer(beside: Capture, language: Language) -> str:
    entry = find(beside.model.name)
    return word("status_companion", language, model=entry.family, answer=_answer(beside, language))


def ready(exploration: TimedCapture, address: Address, reason: str = "", beside: Capture | None = None) -> StatusData:
    """Return the status line of a finished capture, with the URL that leads back to it.

    `reason` explains why it is not the requested one; `beside` is the capture of its companion.
    """
    capture = exploration.capture
    provenance = capture.provenance
    return StatusData(
        kind="ready",
        text=word(
            "status_ready",
            address.language,
            model=provenance.model,
            weights=provenance.weights_text,
            height=provenance.input_size[0],
            width=provenance.input_size[1],
            depth=capture.depth,
            ms=1000 * exploration.seconds,
        )
        + ("" if capture.logits is not None else f" · {word('status_no_answer', address.language)}"),
        answer=_companion_answer(beside, address.language) if beside else _answer(capture, address.language),
        asks=beside is None and not reason and companion(address, capture) is not None,
        **({"hint": reason} if reason else _photo_hint(capture, address.language)),
        about=f"{provenance.model} · {provenance.weights_text.in_(address.language)}",
        whole=word("open_whole", address.language),
        warning=word("random_warning", address.language) if provenance.is_random else "",
        address={name: value for name, value in address.parameters().items() if name not in OF_BROWSER},
    )
