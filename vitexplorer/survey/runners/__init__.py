"""Runners, which do the shards: each is a function `run(job, shards, report)`, and all write identical files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Literal

from vitexplorer.core.registry import unknown_name
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.schema import Schema

Runner = Literal["processes", "ray"]
RowCallback = Callable[[int], None]
"""Called with the number of new rows, negative if rows were lost; an exception that it raises stops the work"""

_MODULES = {"processes": "processes", "ray": "ray_data"}


@dataclass(frozen=True)
class Job:
    """Planned survey, with the number of workers."""

    folder: Path
    token: str
    """Token of the claim on the folder: workers write only while the job holds it"""
    model: LoadedModel | None
    """Model at the survey's size; None in a worker, which loads it"""
    schema: Schema | None
    workers: int
    batch_size: int
    threads: int
    """Threads per worker that open images"""
    torch_threads: int
    """Threads per worker that compute; a single worker keeps the setting of this process"""

    def for_worker(self) -> Job:
        """Return the job without what is large, to be sent to another process."""
        return replace(self, model=None, schema=None)


def runner_of(name: str) -> Callable[[Job, Sequence[int], RowCallback], None]:
    """Return the function of a runner. Raises UnknownNameError."""
    if name not in _MODULES:
        raise unknown_name("runner", name, _MODULES)
    return import_module(f"{__name__}.{_MODULES[name]}").run
