"""Check-ups as jobs of a scheduler: their parts are reported, and other jobs may take a turn before each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vitexplorer.core.text import Text
from vitexplorer.service.jobs import Report

if TYPE_CHECKING:
    from vitexplorer.diagnosis import Diagnosis

SECONDS = 60
"""Time of a check-up's own work to aim for"""


def checked_up(report: Report, *arguments: Any) -> Diagnosis:
    """Run a check-up within a job; `arguments` are those of `diagnose`."""
    from vitexplorer.diagnosis import PARTS, diagnose

    def watch(part: Text) -> None:
        report(PARTS.index(part), len(PARTS), part)

    return diagnose(*arguments, seconds=SECONDS, watch=watch)
