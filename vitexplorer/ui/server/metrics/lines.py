"""Request log as lines of JSON, off by default.

A line names the route or function and the outcome, neither the client nor anything that was sent.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TextIO


@dataclass(frozen=True)
class Lines:
    """Writer of the log lines."""

    enabled: bool
    to: TextIO = field(default_factory=lambda: sys.stdout)

    def tell(self, kind: str, seconds: float, **fields: Any) -> None:
        """Write a line, if the log is on."""
        if self.enabled:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            print(
                json.dumps({"time": at, "kind": kind, **fields, "seconds": round(seconds, 4)}), file=self.to, flush=True
            )
