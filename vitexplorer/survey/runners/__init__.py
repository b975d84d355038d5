"""Who does the shards: each runner is a function `run(job, shards, told)` and all write the very same files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from vitexplorer.core.registry import unknown_name
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.schema import Schema

Runner = Literal["processes", "ray"]
Told = Callable[[int], None]
"""called with how many rows more are answered; fewer than none where they were lost. What it raises stops the work."""

_MODULES = {"processes": "processes", "ray": "ray_data"}


@dataclass(frozen=True)
class Job:
    """A survey that was planned, and how many are to work on it."""

    folder: Path
    token: str
    """of the claim on the folder: whoever works writes only while the job has it"""
    model: LoadedModel
    """at the survey's size"""
    schema: Schema
    workers: int
    batch_size: int
    threads: int
    """that open images, of each worker"""
    torch_threads: int
    """that compute, of each worker; one worker alone keeps those of this process"""


def runner_of(name: str) -> Callable[[Job, Sequence[int], Told], None]:
    """The function of a runner. Raises UnknownNameError."""
    if name not in _MODULES:
        raise unknown_name("runner", name, _MODULES)
    return import_module(f"{__name__}.{_MODULES[name]}").run
