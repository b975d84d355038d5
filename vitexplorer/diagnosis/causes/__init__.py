"""Causes that a check-up knows: their names, what they look like, what shows them and how to mend them.

The keys are stable; `docs/causes.md` describes each.
"""

from __future__ import annotations

from vitexplorer.diagnosis.causes import data, feeding, model
from vitexplorer.diagnosis.causes.cause import Cause

CAUSES: dict[str, Cause] = feeding.CAUSES | model.CAUSES | data.CAUSES
