"""Files of a job's folder, their records, and the remedy if one of them is broken.

config.json        configuration                            runs/<key>/estimate.json   from two batches
events.jsonl       event log                                runs/<key>/checkpoint.safetensors, and the one before it
split.json         images of each side                      runs/<key>/tuned.safetensors   best epoch so far
baseline.json, baseline_head.npz                            runs/<key>/predictions.npz     of the same epoch
process.json       claim of the working process             runs/<key>/result.json
stop               present if a stop was requested          runs/<key>/updates.json        sizes of the first updates
                                                            cache/                         can be rebuilt
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from vitexplorer.core.text import Text
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.records import Baseline, Estimate, RunRecord
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import JobError
from vitexplorer.storage.dataset import Item, Task
from vitexplorer.storage.image_files import is_archive_name, is_table_name
from vitexplorer.storage.record_file import RecordFile

NAMED_WEIGHTS = ("auto", "pretrained", "bundled", "random")
"""Values of `weights` that are not paths"""


@dataclass(frozen=True)
class Sides:
    """Images of each side of a job's split."""

    digest: str
    """Digest of the dataset"""
    task: Task
    classes: tuple[str, ...]
    target_name: str
    seed: int
    share: float
    train: tuple[Item, ...]
    validation: tuple[Item, ...]

    def __post_init__(self):
        labels = [item.target for item in (*self.train, *self.validation)] if self.classes else []
        if bool(self.classes) != (self.task == "classification") or not (self.train and self.validation):
            raise ValueError("classes")
        if not all(isinstance(label, int) and 0 <= label < len(self.classes) for label in labels):
            raise ValueError("targets")


@dataclass(frozen=True)
class Update:
    """Sizes of one step's updates."""

    step: int
    """Number of the step, counted from 0"""
    sizes: Mapping[str, tuple[float, float]]
    """Norm of the update and norm of the parameter before it, by name of the trained parameter"""


@dataclass(frozen=True)
class Updates:
    """Sizes of the first updates of a run."""

    fresh: tuple[str, ...]
    """Names of the parameters of the new head, whose norm says nothing about its steps"""
    steps: tuple[Update, ...]


_DELETE = Text("Nothing of this training can be shown; delete it.", "无法显示该训练；请将其删除。")
_LOST = Text(
    "Its methods can no longer be compared or trained further; delete it and start a new training.",
    "其中的各方法已无法比较或继续训练；请删除后新建训练。",
)
_AGAIN = Text("Resume the training: the file is made again.", "请继续训练：该文件会重新生成。")
TRAIN_AGAIN = Text("Resume the training: this method is trained again.", "请继续训练：该方法会重新训练。")

CONFIG = RecordFile("config.json", JobConfig, _DELETE, indent=1)
SPLIT = RecordFile("split.json", Sides, _LOST)
BASELINE = RecordFile("baseline.json", Baseline, _AGAIN)
ESTIMATE = RecordFile("estimate.json", Estimate, _AGAIN)
RESULT = RecordFile("result.json", RunRecord, TRAIN_AGAIN)
UPDATES = RecordFile("updates.json", Updates, TRAIN_AGAIN)
BASELINE_HEAD, PREDICTIONS, TUNED = "baseline_head.npz", "predictions.npz", "tuned.safetensors"
CHECKPOINTS = ("checkpoint.safetensors", "checkpoint_before.safetensors")
"""Newest checkpoint, and the previous one in case the newest is broken"""


def run_folder(folder: Path, key: str) -> Path:
    """Return the folder of a candidate's run."""
    return folder / "runs" / key


def images_of(config: JobConfig) -> str:
    """Return the display name of a job's images."""
    path = Path(config.data)
    return path.stem if is_archive_name(path.name) or is_table_name(path.name) else path.name


def stem_of(config: JobConfig, run: str) -> str:
    """Return the name of a run's exported files, without suffix."""
    return f"{images_of(config)}-{run}"


def read_config(folder: Path) -> JobConfig:
    """Read a job's configuration. Raises JobError if the folder holds no job, BrokenFileError if it is damaged."""
    config = CONFIG.read(folder)
    if config is None:
        raise JobError(
            Text("{folder} is not the folder of a training.", "{folder} 不是训练任务的文件夹。").format(
                folder=folder.name
            )
        )
    return config


def write_config(folder: Path, config: JobConfig) -> JobConfig:
    """Make the folder of a new job, or add new methods to the job in it; return the resulting configuration.

    Raises JobError if the folder holds a different job or other things.
    """
    weights = config.weights if config.weights in NAMED_WEIGHTS else _absolute(config.weights)
    config = replace(config, data=_absolute(config.data), weights=weights)
    if CONFIG.is_in(folder):
        config = _extended(read_config(folder), config, folder)
    elif folder.exists() and any(folder.iterdir()):
        raise JobError(
            Text(
                "{folder} holds other things. Choose a new folder.", "{folder} 中已有其他内容。请选择新的文件夹。"
            ).format(folder=folder.name)
        )
    with explain_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    CONFIG.write(folder, config)
    return config


def _absolute(path: str) -> str:
    """Make a path absolute, since the job may be resumed from another working directory."""
    return str(Path(path).expanduser().absolute())


def _extended(existing: JobConfig, requested: JobConfig, folder: Path) -> JobConfig:
    """Merge the methods of two configurations. Raises JobError if they differ in anything else."""
    if existing.but_for_candidates() != requested.but_for_candidates():
        raise JobError(
            Text(
                "{folder} holds a training on other images, another model or another plan. Choose a new folder, or ask "
                "for the same again.",
                "{folder} 中的训练使用了不同的图像、模型或方案。请选择新的文件夹，或使用相同的设置。",
            ).format(folder=folder.name)
        )
    new = tuple(c for c in requested.candidates if c.key not in {old.key for old in existing.candidates})
    return replace(existing, candidates=existing.candidates + new)
