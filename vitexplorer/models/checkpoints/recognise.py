"""Recognition of a file's library and architecture by the names and shapes of its tensors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.contents import Contents
from vitexplorer.models.checkpoints.default_preprocessing import GUESSED
from vitexplorer.models.checkpoints.files import WeightsError
from vitexplorer.models.checkpoints.fits import blueprint
from vitexplorer.models.checkpoints.misfit import MISSING, MisfitError
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import COMPUTED, without
from vitexplorer.models.checkpoints.timm_config import facts_of, is_of_timm, named
from vitexplorer.models.checkpoints.unsupported import UNSUPPORTED

READERS: Registry[Reader] = Registry("reader", f"{__package__}.readers", "READER")
OUTLINES: Registry[Outline] = Registry("outline", f"{__package__}.outlines", "OUTLINE")

_UNKNOWN_NAMES = Text(
    "The names in {source} are unknown ({some}). Supported are files of timm, transformers, torchvision, "
    "open_clip and of the papers' own repositories; name the model if it is one of timm's.",
    "{source} 中的名称无法识别（{some}）。可读取 timm、transformers、torchvision、open_clip 以及各论文官方仓库的文件；"
    "如果是 timm 的模型，请指明模型名称。",
)
_NO_MODEL = Text(
    "{source} is a file of {library}, but its model cannot be shown: {why}.",
    "{source} 是 {library} 的文件，但其中的模型无法展示：{why}。",
)
_UNSUPPORTED = Text("{source} holds {name}, which cannot be shown: {why}.", "{source} 是 {name}，无法展示：{why}。")
_OTHER = Text("no known architecture has these tensors ({some})", "没有一种已知结构含有这些张量（{some}）")
_DISAGREE = Text("its tensors do not agree with each other ({some})", "其中的张量互相矛盾（{some}）")


def recognise(contents: Contents) -> Blueprint:
    """Return the blueprint of the model that a file holds.

    Raises:
        SeveralFitError: several architectures fit.
        WeightsError: the names are unknown, the architecture is not supported, or the shapes contradict each other.
    """
    notes: tuple[Text, ...] = ()
    if is_of_timm(contents.config):
        with _explain_misfits(contents, "timm"):
            result = named(without(contents.tensors, COMPUTED)[0], contents.config)
        if isinstance(result, Blueprint):
            return result
        notes = (result,)
    tensors, facts = to_timm_names(contents)
    facts = facts.but(notes=(*facts.notes, *notes))
    if facts.library == "timm" and (result := blueprint(tensors, facts, contents.name)) is not None:
        return result
    outline = next((outline for outline in OUTLINES.values() if _suits(outline, tensors)), None)
    if outline is None:
        some = _some(contents)
        if facts.library == "timm":
            raise WeightsError(_UNKNOWN_NAMES.format(source=contents.name, some=some))
        raise _no_model(contents, facts.library, _OTHER.format(some=some))
    with _explain_misfits(contents, facts.library):
        result = outline.blueprint(tensors, facts)
        return result if facts.check is None else replace(result, facts=facts.check(result, contents.tensors))


def to_timm_names(contents: Contents) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names; the names stay if no other library's are recognised.

    Raises:
        WeightsError: the file contradicts its library's layout, or its architecture is not supported.
    """
    tensors, _ = without(contents.tensors, COMPUTED)
    names = tensors.keys()
    unsupported = next((entry for entry in UNSUPPORTED if _matches_all(entry.signs, names)), None)
    if unsupported is not None:
        raise WeightsError(_UNSUPPORTED.format(source=contents.name, name=unsupported.name, why=unsupported.why))
    reader = next((reader for reader in READERS.values() if _matches_all(reader.signs, names)), None)
    if reader is None:
        with _explain_misfits(contents, "timm"):
            facts = facts_of(contents.config) if is_of_timm(contents.config) else Facts(notes=(GUESSED,))
        return tensors, facts.but(image_size=None, window_size=_window(contents.tensors))
    with _explain_misfits(contents, reader.library):
        renamed, facts = reader.rename(tensors, contents.config)
        return renamed, facts.but(library=reader.library, window_size=facts.window_size or _window(contents.tensors))


def _window(tensors: Tensors) -> int | None:
    """Return the side of the largest windows in patches, if the file stores their offsets (Swin V2)."""
    tables = [tensor for name, tensor in tensors.items() if name.endswith("relative_coords_table")]
    sides = [table.shape[1] for table in tables if table.ndim > 1]
    return (max(sides) + 1) // 2 if sides else None


def _suits(outline: Outline, tensors: Tensors) -> bool:
    return _matches_all(outline.signs, tensors) and not any(_matches(sign, tensors) for sign in outline.never)


def _matches_all(signs: Iterable[str], names: Iterable[str]) -> bool:
    return all(_matches(sign, names) for sign in signs)


def _matches(sign: str, names: Iterable[str]) -> bool:
    pattern = re.compile(sign)
    return any(pattern.search(name) for name in names)


@contextmanager
def _explain_misfits(contents: Contents, library: str) -> Iterator[None]:
    """Turn the errors of a reader or an outline into WeightsErrors that say what is wrong in the file."""
    try:
        yield
    except MisfitError as error:
        raise _no_model(contents, library, error.text) from error
    except KeyError as error:
        raise _no_model(contents, library, MISSING.format(name=error.args[0])) from error
    except (ValueError, IndexError, RuntimeError) as error:  # shapes that are not checked by name
        raise _no_model(contents, library, _DISAGREE.format(some=_some(contents))) from error


def _no_model(contents: Contents, library: str, why: Text) -> WeightsError:
    return WeightsError(_NO_MODEL.format(source=contents.name, library=library, why=why))


def _some(contents: Contents) -> str:
    return ", ".join(list(contents.tensors)[:3])
