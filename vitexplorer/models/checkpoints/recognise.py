"""Whose file is this, and what model is in it? Told from names and shapes, without being told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.contents import Contents
from vitexplorer.models.checkpoints.facts import Blueprint, Facts, Tensors
from vitexplorer.models.checkpoints.files import WeightsError
from vitexplorer.models.checkpoints.fits import blueprint
from vitexplorer.models.checkpoints.misfit import MISSING, MisfitError
from vitexplorer.models.checkpoints.reader import Outline, Reader
from vitexplorer.models.checkpoints.renaming import COMPUTED, without
from vitexplorer.models.checkpoints.strangers import STRANGERS
from vitexplorer.models.checkpoints.usual import GUESSED

READERS: Registry[Reader] = Registry("reader", f"{__package__}.readers", "READER")
OUTLINES: Registry[Outline] = Registry("outline", f"{__package__}.outlines", "OUTLINE")

_NOBODY = Text(
    "{source} has names that no reader here knows ({some}). Read are files of timm, transformers, torchvision, "
    "open_clip and of the papers' own repositories; name the model if it is one of timm's.",
    "{source} 中的名称无法识别（{some}）。可读取 timm、transformers、torchvision、open_clip 以及各论文官方仓库的文件；"
    "如果是 timm 的模型，请指明模型名称。",
)
_NO_MODEL = Text(
    "{source} is a file of {library}, but not of one model that can be shown: {why}.",
    "{source} 是 {library} 的文件，但不是某个可以展示的模型：{why}。",
)
_STRANGER = Text("{source} holds {name}, which cannot be shown: {why}.", "{source} 是 {name}，无法展示：{why}。")
_OTHER = Text("no architecture that is known has its tensors ({some})", "没有已知结构具有这些张量（{some}）")
_DISAGREE = Text("its tensors do not agree with each other ({some})", "其中的张量互相矛盾（{some}）")


def recognise(contents: Contents) -> Blueprint:
    """The model that a file holds.

    Raises SeveralFitError where it may be one of several, WeightsError where nobody knows its names, or the shapes
    contradict.
    """
    tensors, facts = put_under_timms_names(contents)
    if facts.library == "timm" and (found := blueprint(tensors, facts, contents.name)) is not None:
        return found
    outline = next((one for one in OUTLINES.values() if _suits(one, tensors)), None)
    if outline is None:
        some = _some(contents)
        if facts.library == "timm":
            raise WeightsError(_NOBODY.format(source=contents.name, some=some))
        raise _no_model(contents, facts.library, _OTHER.format(some=some))
    with _said_of(contents, facts.library):
        found = outline.blueprint(tensors, facts)
        return found if facts.check is None else replace(found, facts=facts.check(found, contents.tensors))


def put_under_timms_names(contents: Contents) -> tuple[Tensors, Facts]:
    """The tensors as timm calls them; as they are where no other library's names are recognised.

    Raises WeightsError for what looks like a library's file and is not one, and for what is known not to be shown.
    """
    tensors, _ = without(contents.tensors, COMPUTED)
    names = tensors.keys()
    stranger = next((one for one in STRANGERS if all(_any(sign, names) for sign in one.signs)), None)
    if stranger is not None:
        raise WeightsError(_STRANGER.format(source=contents.name, name=stranger.name, why=stranger.why))
    reader = next((one for one in READERS.values() if all(_any(sign, names) for sign in one.signs)), None)
    if reader is None:
        return tensors, Facts(notes=(GUESSED,), window_size=_window(contents.tensors))
    with _said_of(contents, reader.library):
        renamed, facts = reader.rename(tensors, contents.config)
        return renamed, facts.but(window_size=facts.window_size or _window(contents.tensors))


def _window(tensors: Tensors) -> int | None:
    """Patches a side of the largest windows, where the offsets within them are kept (Swin V2)."""
    tables = [tensor for name, tensor in tensors.items() if name.endswith("relative_coords_table")]
    sides = [table.shape[1] for table in tables if table.ndim > 1]
    return (max(sides) + 1) // 2 if sides else None


def _suits(outline: Outline, tensors: Tensors) -> bool:
    return all(_any(sign, tensors) for sign in outline.signs) and not any(_any(sign, tensors) for sign in outline.never)


def _any(sign: str, names: Iterable[str]) -> bool:
    pattern = re.compile(sign)
    return any(pattern.search(name) for name in names)


@contextmanager
def _said_of(contents: Contents, library: str) -> Iterator[None]:
    """A file that a reader or an outline cannot take is refused with what is wrong in it."""
    try:
        yield
    except MisfitError as error:
        raise _no_model(contents, library, error.text) from error
    except KeyError as error:
        raise _no_model(contents, library, MISSING.format(name=error.args[0])) from error
    except (ValueError, IndexError, RuntimeError) as error:  # shapes that nobody asked for by name
        raise _no_model(contents, library, _DISAGREE.format(some=_some(contents))) from error


def _no_model(contents: Contents, library: str, why: Text) -> WeightsError:
    return WeightsError(_NO_MODEL.format(source=contents.name, library=library, why=why))


def _some(contents: Contents) -> str:
    return ", ".join(list(contents.tensors)[:3])
