"""Guided path: thirteen steps through a real model with the learner's own image, as data."""

from __future__ import annotations

from vitexplorer.learn.step import Numbers, Seen, Step
from vitexplorer.learn.steps import STEPS

__all__ = ["STEPS", "Numbers", "Seen", "Step"]
