"""A model from files that a visitor opens: recognised, loaded once, and kept under a name for the menu.

One of ours; a LoRA of Hugging Face's peft, as a zip or two files; or whatever `load_model(weights=...)` recognises, as
one file, a zip of a folder or the folder's files. Nothing is kept of what cannot be shown.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from vitexplorer.service.user_storage import MODEL, UserStorage

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

SAFE = (".safetensors", ".json", ".zip")
"""what a hosted page takes: nothing in which code could stand"""
PLAIN = (*SAFE, ".bin", ".pth", ".pt", ".ckpt", ".tar")
"""what it takes on a person's own machine, where it is read without running any code"""


@dataclass(frozen=True)
class Opened:
    """What became of files."""

    model: str
    """name in the menu"""
    why: Text | None = None
    """a person has to choose one of these:"""
    several: Mapping[str, Text] = field(default_factory=dict)
    """architectures that the files fit, and what they are called; the empty one is what the tensors tell"""


@dataclass(frozen=True)
class Sent:
    """Files that came together, in a folder of ours; or a path of this machine."""

    paths: Sequence[Path]
    named: bool = False
    """whether it is a path of this machine, which stays where it is"""

    @property
    def whole(self) -> Path:
        """The one file; or the folder of several."""
        return self.paths[0] if len(self.paths) == 1 else self.paths[0].parent

    def keep(self, places: UserStorage, visitor: str, *, sure: bool = True) -> Path:
        """As `UserStorage.keep_file` or `link_file`."""
        keep = places.link_file if self.named else places.keep_file
        return keep(visitor, self.whole, sure=sure)


def kinds(settings: Settings) -> tuple[str, ...]:
    """Endings of the files that may be opened."""
    return SAFE if settings.hosted else PLAIN


def check_kinds(names: Sequence[str], settings: Settings) -> None:
    """Raises ExplainedError for a file that is not opened here, by its name."""
    for name in names:
        if not name.lower().endswith(kinds(settings)):
            said = "file_unsafe" if name.lower().endswith(PLAIN) else "file_unknown"
            raise ExplainedError(FILE_WORDS[said].format(file=name, kinds=", ".join(kinds(settings))))


async def keep_sent(engine: Engine, visitor: str, sent: Sent, picture: Picture, settings: Settings) -> Opened:
    """Recognise the model in these files and keep it.

    A LoRA of peft belongs to the model of `picture`, or its base. A checkpoint of timm's that fits that model too says
    nothing of classes and preprocessing: whether it has those of that model is a person's to choose.

    Args:
        engine: has the model of `picture`.
        visitor: whose it becomes.
        sent: the files.
        picture: what is on the screen.
        settings: what may be opened.

    Raises ExplainedError where the files hold no model, or one of another base, and where the disk is full.
    """
    if await in_thread(_checked, engine, visitor, sent, settings):
        base = await in_thread(engine.base_of, picture)
        return await engine.with_model(object(), base, lambda model, _: _keep_lora(engine, visitor, sent, model))
    return await engine.short.run(object(), partial(_keep_model, engine, visitor, sent, picture))


def _checked(engine: Engine, visitor: str, sent: Sent, settings: Settings) -> bool:
    """Return whether the files, which are allowed, are a LoRA of peft."""
    check_room(engine.places, visitor)
    _check_zip(sent.whole, settings)
    return _is_of_peft(sent.paths)


def _keep_lora(engine: Engine, visitor: str, sent: Sent, base: LoadedModel) -> Opened:
    from vitexplorer.finetune.peft import import_peft
    from vitexplorer.finetune.storing import save_tuned

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / (sent.whole.stem if len(sent.paths) == 1 else "peft")
        folder.mkdir()
        _lay_out(sent.paths, folder)
        file = folder.with_suffix(".safetensors")
        save_tuned(import_peft(base, folder), file)
        return Opened(_kept(engine, visitor, file))


def _keep_model(engine: Engine, visitor: str, sent: Sent, picture: Picture, report: Report) -> Opened:
    from vitexplorer.models.about import about
    from vitexplorer.models.checkpoints.fits import SeveralFitError

    if about(sent.whole) is not None:
        return Opened(_kept(engine, visitor, sent))
    try:
        model = opened_file(sent.whole, report)
    except SeveralFitError as error:
        several = {name: same(name) for name in error.names}
        return Opened(_kept(engine, visitor, sent, sure=False), error.text, several)
    with tempfile.TemporaryDirectory() as place:
        other = _also(engine, model, sent.whole, Path(place), picture)
    name = _kept(engine, visitor, sent)
    engine.keep(name, model)
    if not other:
        return Opened(name)
    several = {"": FILE_WORDS["file_told"].format(name=model.name), other: FILE_WORDS["file_screen"].format(name=other)}
    return Opened(name, FILE_WORDS["file_also"].format(file=sent.whole.name, other=other), several)


def choose(engine: Engine, visitor: str, name: str, chosen: str) -> Opened:
    """What may be of several architectures, as one of them, in place of what it was kept as.

    Raises ExplainedError where it is gone, another visitor's, or does not fit, and for a model that may not be loaded.
    """
    from vitexplorer.finetune.storing import no_longer_there

    file = engine.places.file_of(name)
    if file is None or not engine.places.is_of(visitor, file):
        raise no_longer_there()
    if not engine.holds(file, chosen):
        engine.check_allowed(Picture("", chosen, "random"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / file.stem
        folder.mkdir()
        kept = _kept(engine, visitor, _as_merged(file, folder, Picture("", chosen)))
    engine.places.forget_file(visitor, file)
    return Opened(kept)


def _kept(engine: Engine, visitor: str, sent: Sent | Path, *, sure: bool = True) -> str:
    sent = Sent([sent]) if isinstance(sent, Path) else sent
    return engine.places.name_of(sent.keep(engine.places, visitor, sure=sure))


def _also(engine: Engine, model: LoadedModel, sent: Path, folder: Path, picture: Picture) -> str:
    """The model on the screen where the files fit it as well; it is not loaded for that."""
    from vitexplorer.models.checkpoints.fits import fingerprint

    base = engine.base_of(picture)
    screen = engine.loaded(base)
    if screen is None or base.model.startswith(MODEL):
        return ""
    one, other = ({n: tuple(t.shape) for n, t in each.module.state_dict().items()} for each in (model, screen))
    if fingerprint(one) != fingerprint(other):
        return ""
    try:
        _as_merged(sent, folder, base)
    except ExplainedError:
        return ""
    return base.model


def _check_zip(path: Path, settings: Settings) -> None:
    if path.suffix.lower() == ".zip" and path.is_file():
        from vitexplorer.models.checkpoints.zipped import weights_in

        check_kinds(weights_in(path), settings)


def _is_of_peft(paths: Sequence[Path]) -> bool:
    from vitexplorer.finetune.peft import CONFIG, WEIGHTS
    from vitexplorer.models.checkpoints.zipped import weights_in

    names = {path.name for path in paths}
    if len(paths) == 1 and paths[0].suffix.lower() == ".zip":
        names = set(weights_in(paths[0]))
    return bool(names & {CONFIG, WEIGHTS})


def _lay_out(paths: Sequence[Path], folder: Path) -> None:
    """The two files of peft that are among these, or in the zips among them, in one folder. Raises DataError."""
    from vitexplorer.finetune.data.archive import unpack_only
    from vitexplorer.finetune.peft import CONFIG, WEIGHTS

    for path in paths:
        if zipfile.is_zipfile(path):
            unpack_only(path, (CONFIG, WEIGHTS), folder)
        elif path.name in (CONFIG, WEIGHTS):
            shutil.copy(path, folder)


def _as_merged(sent: Path, folder: Path, base: Picture) -> Path:
    """A checkpoint of timm that says of itself whose it is. Raises ExplainedError where it does not fit that model."""
    import safetensors.torch

    from vitexplorer.models.about import of_checkpoint
    from vitexplorer.models.checkpoints.contents import tensors_in
    from vitexplorer.models.loading import load_backbone

    model = load_backbone(base.model, sent)
    file = folder / f"{sent.stem}.safetensors"
    tensors = {name: tensor.contiguous() for name, tensor in tensors_in(sent).items()}
    safetensors.torch.save_file(tensors, file, of_checkpoint(model.provenance, model.num_classes))
    return file
