"""A tuned model from files that a visitor sent.

One of ours; a whole checkpoint of timm, ours or anybody's; or a LoRA of Hugging Face's peft, as a zip or two files.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from vitexplorer.ui.engine import Engine, Picture
from vitexplorer.ui.hosting.stored import check_room


def keep_sent(engine: Engine, visitor: str, paths: Sequence[str], picture: Picture) -> str:
    """The name in the menu of the model in these files.

    A LoRA of peft, and a checkpoint that does not say what it is of, belong to the model of `picture`, or its base.

    In a turn of `engine.turns`. Raises ExplainedError where the files hold no tuned model, or one of another base, and
    where the disk is full.
    """
    from vitexplorer.models.about import about

    check_room(engine.places, visitor)
    files = [Path(path) for path in paths]
    if not _is_of_peft(files) and about(files[0]) is not None:
        return engine.places.name_of(engine.places.keep_file(visitor, files[0]))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / (files[0].stem if len(files) == 1 else "peft")
        folder.mkdir()
        if _is_of_peft(files):
            _lay_out(files, folder)
            ours = _as_ours(engine, folder, picture)
        else:
            ours = _as_merged(engine, files[0], folder, picture)
        kept = engine.places.keep_file(visitor, ours)
    return engine.places.name_of(kept)


def _is_of_peft(files: Sequence[Path]) -> bool:
    return len(files) > 1 or files[0].suffix.lower() != ".safetensors" or files[0].name.startswith("adapter_")


def _lay_out(files: Sequence[Path], folder: Path) -> None:
    """The two files of peft that are among these, or in the zips among them, in one folder. Raises DataError."""
    from vitexplorer.finetune.data.archive import unpack_only
    from vitexplorer.finetune.peft import CONFIG, WEIGHTS

    for file in files:
        if zipfile.is_zipfile(file):
            unpack_only(file, (CONFIG, WEIGHTS), folder)
        elif file.name in (CONFIG, WEIGHTS):
            shutil.copy(file, folder)


def _as_ours(engine: Engine, folder: Path, picture: Picture) -> Path:
    """The LoRA in a folder as a file of `save_tuned` beside it. Raises ExplainedError."""
    from vitexplorer.finetune.peft import import_peft
    from vitexplorer.finetune.storing import save_tuned

    base = engine.base_of(picture)
    file = folder.with_suffix(".safetensors")
    save_tuned(import_peft(engine.model(base.model, base.weights), folder), file)
    return file


def _as_merged(engine: Engine, sent: Path, folder: Path, picture: Picture) -> Path:
    """A checkpoint of timm that says of itself whose it is. Raises ExplainedError where it does not fit that model."""
    import safetensors.torch

    from vitexplorer.models.about import of_checkpoint
    from vitexplorer.models.checkpoints import read_state_dict
    from vitexplorer.models.loading import load_backbone

    base = engine.base_of(picture)
    model = load_backbone(base.model, sent)
    file = folder / sent.name
    safetensors.torch.save_file(read_state_dict(sent), file, of_checkpoint(model.provenance, model.num_classes))
    return file
