"""The folder of a job: what its files are called, and whose it is while somebody works in it.

config.json        what was asked for                       runs/<key>/estimate.json   from two batches
events.jsonl       what happened                            runs/<key>/checkpoint.safetensors
split.json         which image is on which side             runs/<key>/tuned.safetensors   the best so far
baseline.json, baseline_head.npz                            runs/<key>/predictions.npz     of the same
process.json       who works on it, while somebody does     runs/<key>/result.json
stop               there where a stop was asked for         cache/                         can be made again
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil

from vitexplorer.finetune.data.files import is_archive_name, is_table_name
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.job.safe_writes import replace_text
from vitexplorer.words import ExplainedError, Text

CONFIG, SPLIT, BASELINE, PROCESS = "config.json", "split.json", "baseline.json", "process.json"
BASELINE_HEAD = "baseline_head.npz"
ESTIMATE, CHECKPOINT = "estimate.json", "checkpoint.safetensors"
TUNED, PREDICTIONS, RESULT = "tuned.safetensors", "predictions.npz", "result.json"
NAMED_WEIGHTS = ("auto", "pretrained", "bundled", "random")
"""weights that are no path"""


class JobError(ExplainedError):
    """Something that cannot be done with a job; the message says why and what to do."""


def run_folder(folder: Path, key: str) -> Path:
    """Where the run of a candidate lies."""
    return folder / "runs" / key


def images_of(config: JobConfig) -> str:
    """What people call the images of a job."""
    path = Path(config.data)
    return path.stem if is_archive_name(path.name) or is_table_name(path.name) else path.name


def stem_of(config: JobConfig, run: str) -> str:
    """What the files of a run are called when they are taken home, without their endings."""
    return f"{images_of(config)}-{run}"


def stop_file(folder: Path) -> Path:
    """The file whose being there asks a job to stop."""
    return folder / "stop"


def read_config(folder: Path) -> JobConfig:
    """What a job was asked for. Raises JobError where the folder holds no job."""
    try:
        return JobConfig.from_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise JobError(
            Text("{folder} is no folder of a training.", "{folder} 不是训练任务的文件夹。").format(folder=folder.name)
        ) from error


def write_config(folder: Path, config: JobConfig) -> JobConfig:
    """Make the folder of a new job, or add what is new to the one that is there; returns what the job is now.

    Raises JobError where the folder holds another job, or other things.
    """
    weights = config.weights if config.weights in NAMED_WEIGHTS else _absolute(config.weights)
    config = replace(config, data=_absolute(config.data), weights=weights)
    if (folder / CONFIG).exists():
        config = _extended(read_config(folder), config, folder)
    elif folder.exists() and any(folder.iterdir()):
        raise JobError(
            Text(
                "{folder} holds other things. Choose a new folder.", "{folder} 中已有其他内容。请选择新的文件夹。"
            ).format(folder=folder.name)
        )
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / CONFIG, config.to_json())
    return config


def _absolute(path: str) -> str:
    """Whoever resumes the job may stand elsewhere."""
    return str(Path(path).expanduser().absolute())


def _extended(begun: JobConfig, wanted: JobConfig, folder: Path) -> JobConfig:
    """The job with the methods of both. Raises JobError where they differ in anything else."""
    if begun.but_for_candidates() != wanted.but_for_candidates():
        raise JobError(
            Text(
                "{folder} holds a training on other images, another model or another plan. Choose a new folder, or ask "
                "for the same again.",
                "{folder} 中的训练使用了不同的图像、模型或方案。请选择新的文件夹，或使用相同的设置。",
            ).format(folder=folder.name)
        )
    new = tuple(c for c in wanted.candidates if c.key not in {old.key for old in begun.candidates})
    return replace(begun, candidates=begun.candidates + new)


# ---------------------------------------------------------------------------------------------- whose it is


def worker_of(folder: Path) -> int | None:
    """Id of the process that works on a job now; None where nobody does, also after a kill."""
    try:
        claim = json.loads((folder / PROCESS).read_text(encoding="utf-8"))
        process = psutil.Process(claim["pid"])
        same = abs(process.create_time() - claim["created"]) < 1  # a number may be given to another one
        return claim["pid"] if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (OSError, ValueError, KeyError, psutil.Error):
        return None


def is_first_process() -> bool:
    """Whether this process tells and writes for all: the only one, or the first of `accelerate launch`."""
    return not int(os.environ.get("RANK", 0))


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """The job is this process's within the context; a stop that was asked for ends with it.

    Raises JobError where another process works on it. The processes of `accelerate launch` claim it together.
    """
    if not is_first_process():
        yield
        return
    path = folder / PROCESS
    if worker_of(folder) is None:
        path.unlink(missing_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        raise JobError(
            Text("{folder} is being trained already.", "{folder} 正在训练中。").format(folder=folder.name)
        ) from None
    with open(handle, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), "created": psutil.Process().create_time()}, file)
    try:
        yield
    finally:
        with suppress(OSError):
            stop_file(folder).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
