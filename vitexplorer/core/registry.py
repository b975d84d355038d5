"""Registries by name, filled from the files of a package; a mistyped name gets the nearest one in its error."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

from vitexplorer.core.text import ExplainedError, Text, same

T = TypeVar("T")


class UnknownNameError(ExplainedError):
    """Raised for a name that is not registered; the message gives the nearest one."""


_KINDS = {
    "model": Text("model", "模型"),
    "image": Text("image", "图像"),
    "view": Text("view", "视图"),
    "setting": Text("setting", "设置"),
    "method": Text("method", "方法"),
    "intervention": Text("intervention", "干预"),
    "query": Text("query", "查询"),
    "class": Text("class", "类别"),
    "option": Text("option", "选项"),
    "theme": Text("theme", "主题"),
    "colour map": Text("colour map", "配色"),
    "arrangement": Text("arrangement", "排布方式"),
    "protocol": Text("protocol", "评估方法"),
    "question": Text("question", "问题"),
    "normalisation": Text("normalisation", "归一化方式"),
}
_MANY = 20  # longer lists of names do not help in a sentence


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Make the error for `name`, with the nearest of `known` or, where none is near, with all of a short list."""
    known = sorted(known)
    as_written = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(str(name).casefold(), as_written, n=1)
    if near:
        hint = Text("Did you mean '{near}'?", "您是指“{near}”吗？").format(near=as_written[near[0]])
    elif len(known) <= _MANY:
        hint = Text("Known: {known}.", "可用的有：{known}。").format(known=", ".join(known))
    else:
        hint = Text("Nothing is called anything like it.", "没有名称与之相近的项。")
    return UnknownNameError(
        Text("Unknown {kind} '{name}'. {hint}", "未知的{kind}“{name}”。{hint}").format(
            kind=_KINDS.get(kind, same(kind)), name=name, hint=hint
        )
    )


_REGISTRIES: dict[str, Registry] = {}


def is_registered(kind: str, name: str) -> bool:
    """Return True where this kind has this name; False while the module that registers the kind is not imported."""
    return name in _REGISTRIES.get(kind, ())


class Registry(Mapping[str, T], Generic[T]):
    """Entries by key, read at first use from a package in which each file defines one under the name `attribute`.

    `kind` is the word for an entry in messages.
    """

    def __init__(self, kind: str, package: str, attribute: str):
        self.kind = kind
        self._package = package
        self._attribute = attribute
        _REGISTRIES[kind] = self

    @cached_property
    def _entries(self) -> dict[str, T]:
        package = importlib.import_module(self._package)
        files = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.ispkg)
        modules = {file: importlib.import_module(f"{self._package}.{file}") for file in files}
        return {
            file: getattr(module, self._attribute)
            for file, module in modules.items()
            if hasattr(module, self._attribute)
        }

    def __getitem__(self, key: str) -> T:
        if key not in self._entries:
            raise unknown_name(self.kind, key, self._entries)
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
