"""The processes that work on jobs. They outlive whoever launched them, and are found again from their folders."""

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
"""in the job's folder: what its process printed, its last words where it died"""
MODULE = "vitexplorer.finetune.training.process"

_children: set[subprocess.Popen] = set()
"""those of this process that nobody has asked about since they ended"""


def is_worked_on(folder: Path) -> bool:
    """Whether a process works on a job, or was just launched to."""
    _clear_ended()
    return worker_of(folder) is not None


def _clear_ended() -> None:
    """Asking a child that has ended how it did is what makes the system forget it."""
    _children.difference_update([child for child in list(_children) if child.poll() is not None])


def launch(folder: Path, processes: Sequence[str] = ()) -> None:
    """Start a process for the job in `folder`, or `accelerate launch` with these options.

    One of ours that stands still is ended first. Raises JobError where another works on the job.
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
    """End a process of ours that stands still; a session that somebody has paused ends by itself when it wakes.

    Raises JobError where a process works on the job.
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
