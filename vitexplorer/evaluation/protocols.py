"""The protocols by their file's name."""

from __future__ import annotations

from vitexplorer.evaluation.protocol import Protocol
from vitexplorer.registry import Registry

PROTOCOLS: Registry[Protocol] = Registry("protocol", "vitexplorer.evaluation", "PROTOCOL")
