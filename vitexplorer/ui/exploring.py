"""From an address to a capture, with a line for the visitor at every step."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from vitexplorer.ui.address import Address
from vitexplorer.ui.engine import Engine, Explored
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.status import StatusData
from vitexplorer.words import ExplainedError, Language, Text

_jobs = ThreadPoolExecutor(max_workers=4, thread_name_prefix="explore")
_log = logging.getLogger(__name__)

BETWEEN_LINES = 0.1
"""seconds"""


def exploring(engine: Engine, address: Address, shown: Address, language: Language) -> Iterator[StatusData | Explored]:
    """Status lines while the capture is made, then the capture, or a last line that says why there is none.

    Args:
        engine: makes it.
        address: what is asked for.
        shown: what is on the screen; empty where nothing is yet.
        language: of the lines.
    """
    said: list[tuple[Text, float | None]] = []
    job = _jobs.submit(engine.explore, address.picture, lambda text, share: said.append((text, share)))
    while not job.done():
        if said:
            text, share = said[-1]
            yield StatusData(text=text.in_(language), share=share)
        time.sleep(BETWEEN_LINES)
    try:
        yield job.result()
    except ExplainedError as error:
        then = word("status_first_failed" if shown == Address() else "status_failed", language)
        yield StatusData(kind="error", text=f"{error.text.in_(language)} {then}")
    except Exception:
        _log.exception("Could not explore %s", address)
        yield StatusData(kind="error", text=word("unexpected", language))


def ready(explored: Explored, address: Address, language: Language) -> StatusData:
    """The line above the rooms once a capture is there, with the URL that leads back to it."""
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
        warning=word("random_warning", language) if provenance.is_random else "",
        address={name: value for name, value in address.parameters().items() if name not in ("room", "head", "query")},
    )
