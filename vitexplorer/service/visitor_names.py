"""Which browser a page is open in: a name that it draws once and keeps, so that a hosted page knows its visitors again.

It opens nothing but the visitor's own trainings; nobody else is told it.
"""

from __future__ import annotations

import re
from typing import Any

from vitexplorer.service.json_objects import NoObjectError, read_object

_NAME = re.compile("[0-9a-f]{32}")

VISITOR = "(...inputs) => window.vxVisitor(...inputs)"
"""put into the first input of an event: JSON with `visitor` and `run`, the training that the address names"""


def _said(sent: str) -> dict[str, Any]:
    try:
        return read_object(sent or "")
    except NoObjectError:
        return {}


def visitor_of(sent: str) -> str:
    """The browser's name; empty where it sent none that could be."""
    return named(_said(sent).get("visitor"))


def named(name: object) -> str:
    """A name that a browser of ours could have drawn; empty for any other."""
    return name if isinstance(name, str) and _NAME.fullmatch(name) else ""


def training_of(sent: str) -> str:
    """The training that its address names; empty for none."""
    run = _said(sent).get("run")
    return run if isinstance(run, str) else ""
