"""Processes that work on jobs. They outlive the server that launched them and are found from the job folders."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from vitexplorer.core.text import Text
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import JobError, alone, give, process_of, stop_file, worker_of

LOG = "worker.log"
"""File in the job's folder with the output of its process"""
MODULE = "vitexplorer.finetune.training.process"

_children: set[subprocess.Popen] = set()
"""Child processes that may not have been reaped yet"""


def is_worked_on(folder: Path) -> bool:
    """Return True if a process works on a job or was just launched for it."""
    _clear_ended()
    return worker_of(folder) is not None


def _clear_ended() -> None:
    """Reap children that have ended; `poll` frees their entry in the process table."""
    _children.difference_update([child for child in list(_children) if child.poll() is not None])


def launch(folder: Path, processes: Sequence[str] = ()) -> None:
    """Start a process for the job in `folder`, through `accelerate launch` if options are given.

    A suspended process of the job is ended first. Raises JobError if a process works on the job.
    """
    launcher = ["-m", "accelerate.commands.launch", *processes, "-m"] if processes else ["-m"]
    _clear_ended()
    with alone(folder):
        refuse_running(folder)
        stop_file(folder).unlink(missing_ok=True)
        with explain_full_disk(folder), open(folder / LOG, "ab") as log:
            child = subprocess.Popen(
                [sys.executable, *launcher, MODULE, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=Path(__file__).resolve().parents[3],
                start_new_session=True,
            )
        _children.add(child)
        give(folder, child.pid)


def refuse_running(folder: Path) -> None:
    """End a suspended worker process; a paused interactive session ends by itself when it continues.

    Raises JobError if a process works on the job.
    """
    if is_worked_on(folder):
        raise JobError(
            Text("{folder} is being trained. Stop it first.", "{folder} 正在训练。请先停止。").format(
                folder=folder.name
            )
        )
    process = process_of(folder)
    with suppress(psutil.Error):
        if process is not None and MODULE in process.cmdline():
            process.kill()
            process.wait(10)
