"""The processes that work on jobs: started here, and known from their folders also where another page started them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from vitexplorer.finetune.job.folder import stop_file, worker_of

LOG = "worker.log"
"""in the job's folder: what its process printed, its last words where it died"""

_children: dict[Path, subprocess.Popen] = {}
"""by the folders of their jobs, until they have ended: they claim their job some seconds after they were started"""


def is_worked_on(folder: Path) -> bool:
    """Whether somebody works on a job, or was just started to."""
    child = _children.get(folder)
    if child is not None and child.poll() is not None:  # asking also clears away what has ended
        _children.pop(folder, None)
        child = None
    return child is not None or worker_of(folder) is not None


def launch(folder: Path, processes: Sequence[str] = ()) -> None:
    """Start a process for the job in `folder`, or `accelerate launch` with these options."""
    launcher = ["-m", "accelerate.commands.launch", *processes, "-m"] if processes else ["-m"]
    stop_file(folder).unlink(missing_ok=True)
    with open(folder / LOG, "ab") as log:
        _children[folder] = subprocess.Popen(
            [sys.executable, *launcher, "vitexplorer.finetune.training.process", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(__file__).resolve().parents[3],
            start_new_session=True,
        )
