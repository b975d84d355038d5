"""Running a survey: the same questions about every image of a folder.

    survey = vx.survey("photographs", "scenes_vit_patch16_192", ask=["prediction", "heads"], out="surveys/photographs")

    OUT/survey.json                     the description, see `card.py`
    OUT/manifest/shard-00000.parquet    the image of each row
    OUT/rows/shard-00000.parquet        the answers; the file exists as soon as its shard is done

After any interruption the same call resumes: finished shards are not repeated, and the rows equal those of an
uninterrupted run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from vitexplorer.capturing.capture import TWO_SIZES
from vitexplorer.core.text import Progress, SettingError, Text
from vitexplorer.core.types import Fit
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel, load_model
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import HeldClaim, JobError, LostError, TakenError, claimed, revoke
from vitexplorer.survey.card import CARD, Card, SurveyError, card_of, check_same, read_card, write_card
from vitexplorer.survey.manifest import ROWS, clear_halves, unfinished, write_manifest
from vitexplorer.survey.runners import Job, RowCallback, Runner, runner_of
from vitexplorer.survey.schema import Schema, schema_of
from vitexplorer.survey.source import AnySource, Labels, read_source, source_name

ROWS_PER_SHARD = 512
_BATCH = {"cuda": 64}
_BATCH_ELSEWHERE = 16
_MOST_THREADS = 16
"""Limit of image threads in one process; more would wait for the interpreter lock"""
_WORKER_BYTES = 2**30
"""Memory of a worker in bytes, besides the model"""


def ask_all(
    source: AnySource,
    model: LoadedModel | str | os.PathLike,
    ask: Sequence[str] | None = None,
    out: str | os.PathLike = "survey",
    *,
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    labels: Labels = "folders",
    workers: int | None = None,
    batch_size: int | None = None,
    rows_per_shard: int = ROWS_PER_SHARD,
    runner: Runner = "processes",
    progress: Progress | None = None,
) -> Path:
    """Survey every image of `source` into the folder `out`, like `vx.survey`, but without opening it.

    A survey that was stopped or killed is resumed; a finished one is left as it is. The images are those that existed
    when it began. An image that cannot be read is a row with the reason.

    Args:
        source: a folder (labels are its class folders), a .csv, .tsv or .parquet table with a column "path" and
            optionally "label", a .txt with a path on each line, or a list of paths.
        model: from `load_model`, or a name or path for it.
        ask: names of questions and keys of views, as for `vx.evaluate`; None for every question.
        out: folder of the survey: new, empty, or of this same survey.
        fit: as for `capture`.
        size: as for `capture`.
        labels: None to ignore labels of the source.
        workers: number of processes or Ray workers; None for one on a GPU, otherwise as many as cores and memory
            allow. A single one is this process itself.
        batch_size: images in one forward pass; None for 64 on a GPU and 16 elsewhere.
        rows_per_shard: images in one file, and the most that is lost if a worker is killed; ignored when resuming.
        runner: "processes" of this machine, or "ray".
        progress: called with the rows done and their total; an exception that it raises stops the work, which can be
            resumed.

    Returns:
        The folder.

    Raises:
        DataError: the source has no images, or more than the settings allow.
        SurveyError: `out` holds another survey, or another process works on it.
        UnknownNameError: there is no such question, view, runner or model.
        SettingError: a setting is invalid.
        UnsupportedError: the model cannot be surveyed, see `load_model` and `capture`.
        DiskFullError: the disk is full; nothing is lost, and the call resumes once there is room.
    """
    run = runner_of(runner)
    folder = Path(out).expanduser().absolute()
    loaded = load_model(model) if isinstance(model, str | os.PathLike) else model
    if size is not None:
        if fit == "native":
            raise SettingError(TWO_SIZES)
        loaded = at_size(loaded, size)
    with _claimed(folder) as held:
        schema = schema_of(loaded, ask, fit)
        card = _begun(folder, source, loaded, schema, fit, labels, rows_per_shard)
        clear_halves(folder)
        left = unfinished(folder, card)
        if left:
            job = _job(folder, held.token, loaded, schema, len(left), workers, batch_size)
            run(job, left, _row_counter(card, left, held, progress))
            clear_halves(folder)
    return folder


def stop(folder: str | os.PathLike) -> None:
    """Stop the process that works on the survey in a folder, if there is one.

    It ends as soon as it notices, or when it wakes up. Written rows stay, and `ask_all` resumes the survey.
    """
    revoke(Path(folder).expanduser().absolute())


# ------------------------------------------------------------------------------------------------- the plan


def _begun(
    folder: Path, source: AnySource, model: LoadedModel, schema: Schema, fit: Fit, labels: Labels, rows_per_shard: int
) -> Card:
    """Return the card of the survey in a folder; begin it if there is none. Raises SurveyError for another survey."""
    described = {"model": model, "schema": schema, "fit": fit, "labels": labels}
    if (folder / CARD).exists():
        old = read_card(folder)
        check_same(old, card_of(**described, source=source_name(source), root=Path(old.root)), folder)
        return old
    if any((folder / ROWS).glob("shard-*.parquet")):
        raise SurveyError(_ROWS_ALONE.format(folder=folder.name))
    if rows_per_shard < 1:
        raise SettingError(_NO_ROWS.format(rows=rows_per_shard))
    read = read_source(source, labels)
    rows = write_manifest(folder, read.rows, rows_per_shard)
    card = card_of(
        **described,
        source=read.name,
        root=read.root,
        findings=tuple(read.findings),
        rows=rows,
        rows_per_shard=rows_per_shard,
    )
    write_card(folder, card)
    return card


@contextmanager
def _claimed(folder: Path) -> Iterator[HeldClaim]:
    """Claim the folder's survey for this process, see `claimed`. Raises SurveyError if that fails."""
    with ExitStack() as until_it_ends:
        try:
            with explain_full_disk(folder):
                held = until_it_ends.enter_context(claimed(folder))
        except TakenError:
            raise SurveyError(_TAKEN.format(folder=folder.name)) from None
        except JobError as error:
            raise SurveyError(error.text) from None
        except (FileExistsError, NotADirectoryError, PermissionError):
            raise SurveyError(_UNWRITABLE.format(folder=folder.name)) from None
        try:
            yield held
        except LostError as error:
            raise SurveyError(error.text) from None


# ------------------------------------------------------------------------------------------------- the work


def _job(
    folder: Path,
    token: str,
    model: LoadedModel,
    schema: Schema,
    shards: int,
    workers: int | None,
    batch_size: int | None,
) -> Job:
    """Choose workers, batch size and threads. Raises SettingError for numbers below 1."""
    for value in (workers, batch_size):
        if value is not None and value < 1:
            raise SettingError(_NO_NUMBER.format(value=value))
    cores, device = _cores(), model.device.type
    if workers is None:
        workers = min(cores, shards, _room_for(model)) if device == "cpu" else 1
    batch = batch_size or _BATCH.get(device, _BATCH_ELSEWHERE)
    each = max(1, cores // workers)
    return Job(folder, token, model, schema, workers, batch, threads=min(each, _MOST_THREADS), torch_threads=each)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _room_for(model: LoadedModel) -> int:
    """Return the number of workers that fit into memory; workers of one machine share the model's weights."""
    own = sum(parameter.nbytes for parameter in model.module.parameters())
    return max(1, (psutil.virtual_memory().available - own) // _WORKER_BYTES)


def _row_counter(card: Card, left: Sequence[int], held: HeldClaim, progress: Progress | None) -> RowCallback:
    """Make the runner's callback: it checks the claim and passes the total of finished rows to `progress`."""
    done = card.rows_planned - sum(map(card.rows_of, left))
    if progress is not None:
        progress(done, card.rows_planned)

    def add(rows: int) -> None:
        nonlocal done
        held.check()
        done += rows
        if progress is not None:
            progress(done, card.rows_planned)

    return add


# ------------------------------------------------------------------------------------------------- the sentences

_TAKEN = Text(
    "Another process works on the survey in {folder}. Wait for it, or stop it (`--stop {folder}`).",
    "另一个进程正在进行 {folder} 中的普查。请等待其完成，或将其停止（`--stop {folder}`）。",
)
_UNWRITABLE = Text(
    "The folder {folder} cannot be written. Check its path and permissions.",
    "无法写入文件夹 {folder}。请检查路径和权限。",
)
_ROWS_ALONE = Text(
    "{folder} has rows of a survey, but not its `survey.json`. Put that back, or choose another folder.",
    "{folder} 中有普查的结果，却没有 `survey.json`。请放回该文件，或另选文件夹。",
)
_NO_ROWS = Text("rows_per_shard is {rows}; it must be 1 or more.", "rows_per_shard 为 {rows}；必须至少为 1。")
_NO_NUMBER = Text(
    "Workers and images in a batch are 1 or more, not {value}.", "工作进程数和批大小至少为 1，而不是 {value}。"
)
