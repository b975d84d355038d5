"""Control of trainings that outlive the page: each is a separate process, and its folder holds its whole state.

    from vitexplorer.finetune.job import detached
    from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
    from vitexplorer.finetune.job.state import job_state, list_jobs

    config = JobConfig(data="pets", model="scenes_vit_patch16_192",
                       candidates=(Candidate("lora", {"r": 4}), Candidate("linear")), plan=Plan(epochs=10))
    detached.start(config, "runs/pets")      # -> JobState, at once; the same folder again resumes, or adds methods
    job_state("runs/pets")                   # -> JobState: .state .runs .text .seconds_left
    detached.stop("runs/pets")               # the best epoch so far becomes the result
    detached.resume("runs/pets")             # continues where it stopped, to the same weights
    list_jobs("runs")                        # -> tuple[JobState, ...], newest first
    detached.delete("runs/pets")             # refuses while it runs
    comparison.load_comparison("runs/pets")  # -> Comparison of the finished runs (also while others train)

Nothing here imports torch. A process goes on when the server that started it ends (SIGTERM, a closed terminal), and any
server on the same folder finds it again. If a process dies before its first event, the reason is in `worker.log` of the
folder and the job is "interrupted". A job whose process is suspended is "interrupted" too, and resuming it takes it
over. All functions return within milliseconds except `stop(wait=...)`, and are safe to call from several processes.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from vitexplorer.core.text import Text
from vitexplorer.finetune.job.events import EventLog
from vitexplorer.finetune.job.folder import CONFIG, read_config, write_config
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.job.state import JobState, forget, job_state
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import JobError, alone, process_of, revoke, standing_still, stop_file, worker_of
from vitexplorer.storage.workers import LOG, end_worker, start_worker

MODULE = "vitexplorer.finetune.training.process"
_BETWEEN_LOOKS = 0.02
_STOOD_STILL = Text(
    "Stopped while its process had stalled. Resume: it goes on from its last checkpoint.",
    "训练已停止，当时其进程已停滞。点击“继续训练”，即可从最近的检查点继续。",
)


def start(config: JobConfig, folder: str | os.PathLike, processes: Sequence[str] = ()) -> JobState:
    """Start a job in a new process, resume the one in the folder, or add methods to it.

    The folder is new, empty, or holds a job that differs only in its methods. `processes` are options of `accelerate
    launch` ("--num_processes", "2", ...); empty for one process.

    Raises JobError if the folder holds other things or a running job.
    """
    folder = Path(folder).expanduser().absolute()
    refuse_running(folder)
    write_config(folder, config)
    _launch(folder, processes)
    return job_state(folder)


def resume(folder: str | os.PathLike, processes: Sequence[str] = ()) -> JobState:
    """Resume a job that was stopped, killed or failed; a finished one ends at once.

    Raises JobError if the folder holds no job or a running one, BrokenFileError if its configuration is damaged.
    """
    folder = Path(folder).expanduser().absolute()
    read_config(folder)
    _launch(folder, processes)
    return job_state(folder)


def stop(folder: str | os.PathLike, wait: float = 0.0) -> JobState:
    """Ask a job to end after its current step; the best epoch of the current run becomes its result.

    Waits up to `wait` seconds. A job whose process is suspended stops at once, at its last checkpoint; a job that is
    not running is unchanged.
    """
    folder = Path(folder).expanduser().absolute()
    if worker_of(folder):
        stop_file(folder).touch()
    elif standing_still(folder):
        refuse_running(folder)
        revoke(folder)
        EventLog(folder).tell("stopped", text=_STOOD_STILL)
    end = time.monotonic() + wait
    while worker_of(folder) and time.monotonic() < end:
        time.sleep(_BETWEEN_LOOKS)
    return job_state(folder)


def delete(folder: str | os.PathLike) -> None:
    """Remove a job with all its results, also a broken one.

    Raises JobError if it is running or the folder holds no job.
    """
    folder = Path(folder).expanduser().absolute()
    if not CONFIG.is_in(folder):
        read_config(folder)
    refuse_running(folder)
    shutil.rmtree(folder)
    forget(folder)


def _launch(folder: Path, processes: Sequence[str]) -> None:
    launcher = ["-m", "accelerate.commands.launch", *processes] if processes else []
    with alone(folder):
        refuse_running(folder)
        stop_file(folder).unlink(missing_ok=True)
        with explain_full_disk(folder), open(folder / LOG, "ab") as log:
            start_worker(folder, [sys.executable, *launcher, "-m", MODULE, str(folder)], log)


def refuse_running(folder: Path) -> None:
    """End a suspended worker process; a paused interactive session ends by itself when it continues.

    Raises JobError if a process works on the job.
    """
    if worker_of(folder):
        raise JobError(
            Text("{folder} is being trained. Stop it first.", "{folder} 正在训练。请先停止。").format(
                folder=folder.name
            )
        )
    process = process_of(folder)
    with suppress(psutil.Error):
        if process is not None and MODULE in process.cmdline():
            end_worker(process, patience=0.0)
