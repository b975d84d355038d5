"""Files of a training to download, and uploaded images to predict."""

from __future__ import annotations

import shutil
from pathlib import Path

from vitexplorer.finetune.job.folder import stem_of
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.storage.checked_reading import read_header
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.rooms.finetune.results import download_kinds


def lay_out(paths: list[str], folder: Path) -> None:
    """Put uploaded images into a folder: the content of a zip, or the images themselves.

    Raises:
        DataError: for a zip that cannot be unpacked.
    """
    from vitexplorer.finetune.data.archive import unpack_zip

    if len(paths) == 1 and paths[0].lower().endswith(".zip"):
        unpack_zip(paths[0], folder)
        return
    folder.mkdir()
    for path in paths:
        shutil.copy(path, folder)


def table_file(text: str, name: str) -> ServedFile:
    """Return a .csv file; a byte order mark, which Excel needs and Kaggle misreads, is written only beyond ASCII."""
    return cached_file(text.encode("ascii" if text.isascii() else "utf-8-sig"), name)


def download_file(result: FinetuneResult, what: str, config: JobConfig) -> ServedFile:
    """Return a result as one of its kinds of files.

    Raises:
        ExplainedError: where the file cannot be made.
    """
    from vitexplorer.finetune.exports import merged_checkpoint, model_card, peft_zip

    name = stem_of(config, result.run)
    if what == "card":
        return cached_file(model_card(result, config).encode(), f"{name}.md")
    if what == "merged" and what in download_kinds(result):
        return cached_file(merged_checkpoint(result.model), f"{name}-merged.safetensors")
    if what == "peft":
        return cached_file(peft_zip(result.model), f"{name}-peft.zip")
    read_header(result.file)
    return cached_file(result.file.read_bytes(), f"{name}.safetensors")
