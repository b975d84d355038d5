"""Names of visitors: random, drawn and kept by each browser, so that a hosted page recognises its visitors.

A name gives access to the visitor's own trainings alone, and is never shown to others.
"""

from __future__ import annotations

import re
from typing import Any

from vitexplorer.service.json_objects import NoObjectError, read_object

_NAME = re.compile("[0-9a-f]{32}")

VISITOR = "(...inputs) => window.vxVisitor(...inputs)"
"""Fills the first input of an event: JSON with `visitor` and `run`, the training in the address"""


def _parsed(sent: str | None) -> dict[str, Any]:
    try:
        return read_object(sent or "")
    except NoObjectError:
        return {}


def visitor_of(sent: str | None) -> str:
    """Read the browser's name; empty where it sent no valid one."""
    return valid_visitor(_parsed(sent).get("visitor"))


def valid_visitor(name: object) -> str:
    """Return the name if the page's script could have drawn it, else ""."""
    return name if isinstance(name, str) and _NAME.fullmatch(name) else ""


def training_of(sent: str | None) -> str:
    """Read the training that the page's address names; empty for none."""
    run = _parsed(sent).get("run")
    return run if isinstance(run, str) else ""
