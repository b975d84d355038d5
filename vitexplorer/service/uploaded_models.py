"""Uploaded models: a visitor's files are recognised, loaded once, and kept under a name for the menu.

Accepted are files of `save_tuned`; a LoRA of Hugging Face's peft, as a zip or two files; and everything that
`load_model(weights=...)` recognises, as a file, a zip of a folder or the folder's files. The rest is not kept.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text, same
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Engine, Picture, opened_file
from vitexplorer.service.jobs import Report
from vitexplorer.service.model_file_words import FILE_WORDS
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.user_storage import MODEL

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

SAFE = (".safetensors", ".json", ".zip")
"""Suffixes that a hosted page accepts: formats that cannot hold code"""
PLAIN = (*SAFE, ".bin", ".pth", ".pt", ".ckpt", ".tar")
"""Suffixes accepted on a person's own machine; they are read without running code"""


@dataclass(frozen=True)
class Opened:
    """Outcome of opening files."""

    model: str
    """Name in the menu"""
    why: Text | None = None
    """Reason why a person must choose one of `several`"""
    several: Mapping[str, Text] = field(default_factory=dict)
    """Architectures that fit, with display names; the empty key stands for the one that the tensors suggest"""


@dataclass(frozen=True)
class Sent:
    """Files of one upload, in a temporary folder; or a path of this machine."""

    paths: Sequence[Path]
    named: bool = False
    """True for a path of this machine, which stays in place"""

    @property
    def whole(self) -> Path:
        """The single file, or the folder of several."""
        return self.paths[0] if len(self.paths) == 1 else self.paths[0].parent


def kinds(settings: Settings) -> tuple[str, ...]:
    """Return the suffixes of files that may be opened."""
    return SAFE if settings.hosted else PLAIN


def check_kinds(names: Sequence[str], settings: Settings) -> None:
    """Raise ExplainedError for the first name that may not be opened."""
    for name in names:
        if not name.lower().endswith(kinds(settings)):
            key = "file_unsafe" if name.lower().endswith(PLAIN) else "file_unknown"
            raise ExplainedError(FILE_WORDS[key].format(file=name, kinds=", ".join(kinds(settings))))


async def keep_sent(engine: Engine, visitor: str, sent: Sent, picture: Picture, settings: Settings) -> Opened:
    """Recognise, load and keep the model in these files.

    A LoRA of peft belongs to the model of `picture`, which is on the screen, or its base. A timm checkpoint without a
    configuration may fit that model too; a person then chooses whether to take its classes and preprocessing.

    Raises:
        ExplainedError: the files hold no model, or one for another base, or the disk is full.
    """
    if await in_thread(_is_lora, engine, visitor, sent, settings):
        base = await in_thread(engine.base_of, picture)
        return await engine.with_model(object(), base, lambda model, _: _keep_lora(engine, visitor, sent, model))
    return await engine.short.run(object(), partial(_keep_model, engine, visitor, sent, picture))


def _is_lora(engine: Engine, visitor: str, sent: Sent, settings: Settings) -> bool:
    """Return True for a LoRA of peft; ExplainedError where a zip holds another kind of file, or there is no room."""
    from vitexplorer.finetune.peft import CONFIG, WEIGHTS
    from vitexplorer.models.checkpoints.zipped import weights_in

    check_room(engine.places, visitor)
    names = [path.name for path in sent.paths]
    if sent.whole.suffix.lower() == ".zip" and sent.whole.is_file():
        names = weights_in(sent.whole)
        check_kinds(names, settings)
    return CONFIG in names or WEIGHTS in names


def _keep_lora(engine: Engine, visitor: str, sent: Sent, base: LoadedModel) -> Opened:
    from vitexplorer.finetune.peft import import_peft
    from vitexplorer.finetune.storing import save_tuned

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / (sent.whole.stem if len(sent.paths) == 1 else "peft")
        folder.mkdir()
        _lay_out(sent.paths, folder)
        file = folder.with_suffix(".safetensors")
        save_tuned(import_peft(base, folder), file)
        return Opened(_store(engine, visitor, Sent([file])))


def _keep_model(engine: Engine, visitor: str, sent: Sent, picture: Picture, report: Report) -> Opened:
    from vitexplorer.models.about import about
    from vitexplorer.models.checkpoints.default_preprocessing import GUESSED
    from vitexplorer.models.checkpoints.fits import SeveralFitError

    if about(sent.whole) is not None:
        return Opened(_store(engine, visitor, sent))
    try:
        model = opened_file(sent.whole, report)
    except SeveralFitError as error:
        several = {name: same(name) for name in error.names}
        return Opened(_store(engine, visitor, sent, sure=False), error.text, several)
    other = _also(engine, model, sent.whole, picture) if GUESSED in model.notes else ""
    name = _store(engine, visitor, sent)
    engine.keep(name, _with_stored_texts(model, sent.whole, engine.places.file_of(name)))
    if not other:
        return Opened(name)
    several = {"": FILE_WORDS["file_told"].format(name=model.name), other: FILE_WORDS["file_screen"].format(name=other)}
    return Opened(name, FILE_WORDS["file_also"].format(file=sent.whole.name, other=other), several)


def _with_stored_texts(model: LoadedModel, sent: Path, stored: Path) -> LoadedModel:
    """Let the text half, which is read at the first sentence, be read from the stored files; those sent are deleted."""
    return model if model.text is None or model.text.folder != sent else replace(model, text=model.text.at(stored))


def choose(engine: Engine, visitor: str, name: str, chosen: str) -> Opened:
    """Replace a file that fits several architectures by one of the architecture that the visitor chose.

    Raises:
        ExplainedError: the file is gone, another visitor's, or does not fit, or the model may not be loaded.
    """
    from vitexplorer.finetune.storing import deleted_model_error

    file = engine.places.file_of(name)
    if file is None or not engine.places.is_of(visitor, file):
        raise deleted_model_error()
    if not engine.holds(file, chosen):
        engine.check_allowed(Picture("", chosen, "random"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / file.stem
        folder.mkdir()
        stored = _store(engine, visitor, Sent([_as_merged(file, folder, Picture("", chosen))]))
    engine.places.forget_file(visitor, file)
    return Opened(stored)


def _store(engine: Engine, visitor: str, sent: Sent, *, sure: bool = True) -> str:
    """Keep the files in the visitor's storage, by a copy or a link, and return their name in the menu."""
    keep = engine.places.link_file if sent.named else engine.places.keep_file
    return engine.places.name_of(keep(visitor, sent.whole, sure=sure))


def _also(engine: Engine, model: LoadedModel, sent: Path, picture: Picture) -> str:
    """Name the model on the screen if it is loaded and the files fit it too; else ""."""
    from vitexplorer.models.checkpoints.fits import fingerprint

    base = engine.base_of(picture)
    screen = engine.loaded(base)
    if screen is None or base.model.startswith(MODEL):
        return ""
    one, other = ({n: tuple(t.shape) for n, t in each.module.state_dict().items()} for each in (model, screen))
    if fingerprint(one) != fingerprint(other):
        return ""
    try:
        with tempfile.TemporaryDirectory() as place:
            _as_merged(sent, Path(place), base)
    except ExplainedError:
        return ""
    return base.model


def _lay_out(paths: Sequence[Path], folder: Path) -> None:
    """Copy peft's two files, from these or from zips among them, into a folder; DataError for a bad zip."""
    from vitexplorer.finetune.data.archive import unpack_only
    from vitexplorer.finetune.peft import CONFIG, WEIGHTS

    for path in paths:
        if zipfile.is_zipfile(path):
            unpack_only(path, (CONFIG, WEIGHTS), folder)
        elif path.name in (CONFIG, WEIGHTS):
            shutil.copy(path, folder)


def _as_merged(sent: Path, folder: Path, base: Picture) -> Path:
    """Write a timm checkpoint that states its model; ExplainedError where it does not fit that model."""
    import safetensors.torch

    from vitexplorer.models.about import of_checkpoint
    from vitexplorer.models.checkpoints.contents import tensors_in
    from vitexplorer.models.loading import load_backbone

    model = load_backbone(base.model, sent)
    file = folder / f"{sent.stem}.safetensors"
    tensors = {name: tensor.contiguous() for name, tensor in tensors_in(sent).items()}
    safetensors.torch.save_file(tensors, file, of_checkpoint(model.provenance, model.num_classes))
    return file
