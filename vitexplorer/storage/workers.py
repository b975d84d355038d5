"""Worker processes of jobs: they outlive the process that started them and are found from the claims on their jobs."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from vitexplorer.storage.claims import give

LOG = "worker.log"
"""File in a job's folder with the output of its process"""
_PATIENCE = 10.0
"""Seconds to wait for a killed process"""


def start_worker(folder: Path, command: Sequence[str], log: IO[bytes]) -> None:
    """Start a process that writes its output to `log`, and hand it the job; called within `alone(folder)`."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=Path(__file__).resolve().parents[2],
        start_new_session=True,
    )
    # an ended child stays in the process table until it is waited for
    threading.Thread(target=child.wait, name="worker", daemon=True).start()
    give(folder, child.pid)


def end_worker(process: psutil.Process, patience: float) -> None:
    """Ask a process and its children to end, and kill those that have not within `patience` seconds."""
    with suppress(psutil.Error):
        family = [process, *process.children(recursive=True)]
        for member in family:
            member.terminate()
        _, left = psutil.wait_procs(family, patience)
        for member in left:
            member.kill()
        psutil.wait_procs(left, _PATIENCE)
