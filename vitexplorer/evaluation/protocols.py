"""Registry of the protocols, keyed by file name."""

from __future__ import annotations

from vitexplorer.core.registry import Registry
from vitexplorer.evaluation.protocol import Protocol

PROTOCOLS: Registry[Protocol] = Registry("protocol", "vitexplorer.evaluation", "PROTOCOL")
