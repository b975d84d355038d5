"""What happens, a line of JSON each, for the machines of whoever runs the server; off unless the installation says so.

A line says what was asked of the program and how that went, not by whom, and nothing of what was sent.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TextIO


@dataclass(frozen=True)
class Lines:
    """Where they go."""

    wanted: bool
    to: TextIO = field(default_factory=lambda: sys.stdout)

    def tell(self, kind: str, seconds: float, **said: Any) -> None:
        """Write one, where they are wanted."""
        if self.wanted:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            print(
                json.dumps({"time": at, "kind": kind, **said, "seconds": round(seconds, 4)}), file=self.to, flush=True
            )
