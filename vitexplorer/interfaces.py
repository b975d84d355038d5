"""The extension points: a model family, a view with its controls, and what a capture promises them.

A new family or view is one file that defines one of these; menus, the command line, the documentation table and the
contract tests are made from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from vitexplorer.model_family import ModelFamily as ModelFamily
from vitexplorer.registry import unknown_name
from vitexplorer.types import BlockSite as BlockSite
from vitexplorer.types import PatchGrid, Query, Result, query_text
from vitexplorer.words import ExplainedError, Text, same


class UnsupportedError(ExplainedError):
    """A picture that would have no meaning, or be wrong, for this model; the message says why and what to do."""


class SettingError(ExplainedError):
    """A control was given a value it cannot take; the message gives the value and the rule."""


# ---------------------------------------------------------------------------------------------- controls


@runtime_checkable
class Explored(Protocol):
    """What controls need to know of a capture."""

    prefix_tokens: tuple[str, ...]
    logits: Any
    """Tensor (classes,), or None without a classifier"""
    model: Any
    """has `name`, `class_names`, `class_names_zh` and `class_texts`"""

    @property
    def depth(self) -> int:
        """Number of blocks."""

    def num_heads(self, block: int) -> int:
        """Heads of one block."""

    def grid(self, block: int) -> PatchGrid:
        """Patch grid of one block."""

    def query_tokens(self, block: int) -> tuple[str, ...]:
        """Names of the prefix tokens that look in one block."""


@dataclass(frozen=True)
class Control(ABC):
    """One setting of a view: what it is called, what it may be, what it is when nobody says."""

    name: str
    label: Text

    @abstractmethod
    def default(self, capture: Explored) -> Any:
        """The value when none is given."""

    def default_after(self, capture: Explored, settings: Mapping[str, Any]) -> Any:
        """The value when none is given, where the controls before it matter; `settings` holds them."""
        return self.default(capture)

    @abstractmethod
    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> Any:
        """The checked value of what a person, a URL or a command line gave; `settings` holds the controls before it.

        Raises SettingError with a sentence.
        """

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """What may be chosen, as a person would write it and in words; empty where that is no short list."""
        return ()

    def say(self, value: Any, capture: Explored) -> Text:
        """A checked value in words."""
        written = written_value(value)
        return dict(self.offered(capture)).get(written, same(written))


def written_value(value: Any) -> str:
    """A setting as the command line and the URL write it."""
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _whole(name: str, value: Any) -> int:
    try:
        number = int(value)
        float(number)  # what no float can hold is no number of anything here
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not (isinstance(value, str) or value == number):
        raise SettingError(
            Text("{name} must be a whole number, not {value}.", "{name} 必须是整数，而不是 {value}。").format(
                name=name, value=repr(value)
            )
        )
    return number


def no_such_block(block: int, depth: int) -> SettingError:
    """The error for a block the model does not have."""
    return SettingError(
        Text(
            "There is no block {block}: this model has blocks 0 to {last}.",
            "没有块 {block}：该模型的块编号为 0 到 {last}。",
        ).format(block=block, last=depth - 1)
    )


def only_attention(name: str, family: Text) -> Text:
    """Why a view refuses a model of whose blocks only the attention is stated."""
    return Text(
        "{model}: of the {family} family only the attention of single blocks can be shown.",
        "{model}：{family} 家族只能显示单个块的注意力。",
    ).format(model=name, family=family)


def without_classifier(capture: Explored) -> Text | None:
    """Why a view that explains a class refuses a model without a classifier; None for one that has it."""
    if capture.logits is not None:
        return None
    return Text(
        "{model} has no classifier, so there is no class to explain.", "{model} 没有分类头，因此没有可以解释的类别。"
    ).format(model=capture.model.name)


@dataclass(frozen=True)
class BlockControl(Control):
    """A block, counted from 0; the last one when nobody says."""

    name: str = "block"
    label: Text = Text("Block", "块")

    def default(self, capture: Explored) -> int:
        """The last block."""
        return capture.depth - 1

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> int:
        """A block that the model has."""
        block = _whole(self.name, value)
        if not 0 <= block < capture.depth:
            raise no_such_block(block, capture.depth)
        return block


@dataclass(frozen=True)
class HeadControl(Control):
    """One head, or all heads fused."""

    name: str = "head"
    label: Text = Text("Head", "注意力头")
    fusions: tuple[str, ...] = ("mean", "max", "min")

    def default(self, capture: Explored) -> int | str:
        """All heads, fused by their mean; the first head where they may not be fused."""
        return self.fusions[0] if self.fusions else 0

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> int | str:
        """A head of the block chosen before, or a fusion."""
        if value in self.fusions:
            return value
        if isinstance(value, str) and not value.lstrip("-").isdigit():
            raise unknown_name("head or fusion", value, self.fusions)
        head, heads = _whole(self.name, value), capture.num_heads(settings["block"])
        if not 0 <= head < heads:
            raise SettingError(
                Text(
                    "There is no head {head}: block {block} has heads 0 to {last}.",
                    "没有头 {head}：块 {block} 的头编号为 0 到 {last}。",
                ).format(head=head, block=settings["block"], last=heads - 1)
            )
        return head


@dataclass(frozen=True)
class QueryControl(Control):
    """The token that looks: "cls", "dist", "mean" or the patch (row, col) of the block's grid."""

    name: str = "query"
    label: Text = Text("Query", "查询")

    def default(self, capture: Explored) -> str:
        """The class token where there is one, otherwise the mean over patches."""
        return "cls" if "cls" in capture.prefix_tokens else "mean"

    def default_after(self, capture: Explored, settings: Mapping[str, Any]) -> Query | None:
        """The default, but the mean over patches in a block whose class token does not look."""
        default = self.default(capture)
        looks = default != "cls" or "cls" in capture.query_tokens(settings.get("block", capture.depth - 1))
        return default if looks else "mean"

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """Everything but the patches."""
        named = [name for name in ("cls", "dist") if name in capture.prefix_tokens]
        return tuple((name, query_text(name)) for name in (*named, "mean"))

    def say(self, value: Query | None, capture: Explored) -> Text:
        """The token or the patch."""
        return super().say(value, capture) if value is None else query_text(value)

    def grid(self, capture: Explored, settings: Mapping[str, Any]) -> PatchGrid:
        """Where its patches lie: the chosen block's grid, the last one's where no block is chosen."""
        return capture.grid(settings.get("block", capture.depth - 1))

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> Query:
        """A query that exists in the chosen block (in the last one where no block is chosen)."""
        if isinstance(value, str) and "," in value:
            value = value.split(",")
        if isinstance(value, str):
            return self._token(value, capture)
        try:
            row, col = value
        except (TypeError, ValueError):
            raise SettingError(
                Text(
                    'query must be "cls", "dist", "mean" or (row, col), not {value}.',
                    '查询必须是 "cls"、"dist"、"mean"或（行，列），而不是 {value}。',
                ).format(value=repr(value))
            ) from None
        row, col = _whole("row", row), _whole("col", col)
        grid = self.grid(capture, settings)
        if not (0 <= row < grid.rows and 0 <= col < grid.cols):
            raise SettingError(
                Text(
                    "There is no patch ({row}, {col}): the grid has rows 0 to {rows} and columns 0 to {cols}.",
                    "没有图块 ({row}, {col})：网格的行为 0 到 {rows}，列为 0 到 {cols}。",
                ).format(row=row, col=col, rows=grid.rows - 1, cols=grid.cols - 1)
            )
        return row, col

    def _token(self, name: str, capture: Explored) -> Query:
        if name not in ("cls", "dist", "mean"):
            raise unknown_name("query", name, ("cls", "dist", "mean"))
        if name != "mean" and name not in capture.prefix_tokens:
            raise SettingError(
                Text(
                    'This model has no {token}, so there is no query "{name}". Use "mean" or (row, col).',
                    '该模型没有{token}，因此没有查询 "{name}"。请用 "mean"或（行，列）。',
                ).format(token=query_text(name), name=name)
            )
        return name


@dataclass(frozen=True)
class TargetControl(Control):
    """The class that is explained, by number or by name; the model's first choice when nobody says."""

    name: str = "target"
    label: Text = Text("Class", "类别")

    def default(self, capture: Explored) -> int:
        """The class with the highest logit. Raises UnsupportedError for a model without a classifier."""
        return int(self._logits(capture).argmax())

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> int:
        """A class that the model has; of several names for one class ("tabby, tabby cat") each will do."""
        num_classes = len(self._logits(capture))
        if value in capture.model.class_names_zh:
            return capture.model.class_names_zh.index(value)
        if isinstance(value, str) and not value.strip().lstrip("-").isdigit() and capture.model.class_names:
            return self._named(value, capture.model.class_names)
        target = _whole(self.name, value)
        if not 0 <= target < num_classes:
            raise SettingError(
                Text(
                    "There is no class {target}: the classes are 0 to {last}.",
                    "没有类别 {target}：类别编号为 0 到 {last}。",
                ).format(target=target, last=num_classes - 1)
            )
        return target

    def say(self, value: int, capture: Explored) -> Text:
        """Number and name."""
        names = capture.model.class_texts
        return Text("{n} ({name})", "{n}（{name}）").format(n=value, name=names[value]) if names else same(str(value))

    def _logits(self, capture: Explored) -> Any:
        reason = without_classifier(capture)
        if reason is not None:
            raise UnsupportedError(reason)
        return capture.logits

    def _named(self, value: str, names: tuple[str, ...]) -> int:
        wanted = value.strip().casefold()
        parts = [[name.casefold(), *map(str.strip, name.casefold().split(","))] for name in names]
        found = [number for number, known in enumerate(parts) if wanted in known]
        exact = [number for number in found if parts[number][0] == wanted]
        found = exact or found
        if not found:
            raise unknown_name("class", value, names)
        if len(found) > 1:
            raise SettingError(
                Text(
                    "{found} classes are called '{name}': give the number, {numbers}.",
                    "有 {found} 个类别名为“{name}”：请给出编号 {numbers}。",
                ).format(found=len(found), name=value, numbers=", ".join(map(str, found)))
            )
        return found[0]


@dataclass(frozen=True)
class TokenControl(QueryControl):
    """One token, for what has no meaning for a mean of them: "cls", "dist" or the patch (row, col)."""

    label: Text = Text("Token", "标记")
    patch_first: bool = False
    """whether to begin with a patch where there is a class token"""

    def default(self, capture: Explored) -> Query:
        """The class token where there is one, otherwise the patch in the middle of the last block's grid."""
        if "cls" in capture.prefix_tokens and not self.patch_first:
            return "cls"
        grid = capture.grid(capture.depth - 1)
        return grid.rows // 2, grid.cols // 2

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """The prefix tokens that a query can name."""
        return tuple(option for option in super().offered(capture) if option[0] != "mean")

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> Query:
        """A token that exists in the chosen block."""
        query = super().parse(value, capture, settings)
        if query == "mean":
            raise SettingError(
                Text(
                    "This view needs one token: (row, col) or the name of a prefix token, not the mean over patches.",
                    "该视图需要一个具体的标记：（行，列）或前缀标记的名称，而不是图块平均。",
                )
            )
        return query


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    start: bool = False

    def default(self, capture: Explored) -> bool:
        """The start value."""
        return self.start

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """Both."""
        return (("True", Text("on", "开")), ("False", Text("off", "关")))

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> bool:
        """True or False, also as "on" and "off", "true" and "false", 1 and 0."""
        known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        word = str(value).strip().lower()
        if word not in known:
            raise SettingError(
                Text("{name} is on or off, not {value}.", "{name} 只能为开 (on) 或关 (off)，而不是 {value}。").format(
                    name=self.name, value=repr(value)
                )
            )
        return known[word]


@dataclass(frozen=True)
class Choice(Control):
    """One of a few words; the first is the default."""

    options: tuple[tuple[str, Text], ...] = ()

    def default(self, capture: Explored) -> str:
        """The first option."""
        return self.options[0][0]

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """All options."""
        return self.options

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> str:
        """One of the options."""
        known = [key for key, _ in self.options]
        if value not in known:
            raise unknown_name(self.name, value, known)
        return value


@dataclass(frozen=True)
class Several(Control):
    """Any number of what is offered."""

    def say(self, value: Any, capture: Explored) -> Text:
        """Their names one after the other."""
        names = [dict(self.offered(capture))[one] for one in value]
        return Text(", ".join(name.en for name in names), "、".join(name.zh for name in names))


@dataclass(frozen=True)
class Number(Control):
    """A number between two bounds, both allowed unless `open_above`."""

    low: float = 0.0
    high: float = 1.0
    start: float = 0.0
    step: float = 0.01
    whole: bool = False
    open_above: bool = False

    def default(self, capture: Explored) -> float | int:
        """The start value."""
        return int(self.start) if self.whole else self.start

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> float | int:
        """A number within the bounds."""
        if self.whole:
            number: float | int = _whole(self.name, value)
        else:
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                raise SettingError(
                    Text("{name} must be a number, not {value}.", "{name} 必须是数字，而不是 {value}。").format(
                        name=self.name, value=repr(value)
                    )
                ) from None
        if not (self.low <= number < self.high if self.open_above else self.low <= number <= self.high):
            bound = Text("to below", "到小于") if self.open_above else Text("to", "到")
            raise SettingError(
                Text(
                    "{name} must be from {low:g} {bound} {high:g}, not {number:g}.",
                    "{name} 必须从 {low:g} {bound} {high:g}，而不是 {number:g}。",
                ).format(name=self.name, low=self.low, bound=bound, high=self.high, number=number)
            )
        return number


def checked(controls: tuple[Control, ...], capture: Explored, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every control's value: what was given, checked, and defaults for the rest.

    Raises UnknownNameError for a control that is not there, SettingError for a value it cannot take.
    """
    names = [control.name for control in controls]
    for name in given:
        if name not in names:
            raise unknown_name("setting", name, names)
    settings: dict[str, Any] = {}
    for control in controls:
        chosen = given.get(control.name)
        if chosen is None:
            chosen = control.default_after(capture, settings)
        settings[control.name] = control.parse(chosen, capture, settings)
    return settings


# ---------------------------------------------------------------------------------------------- views


Progress = Callable[[int, int], None]
"""Called with the passes through the network that are done and those in all; what it raises stops the work."""


@dataclass(frozen=True)
class Paper:
    """Where a quantity is defined."""

    citation: str
    url: str


@dataclass(frozen=True)
class View:
    """A picture with a question. `compute(capture, **settings)` returns numbers; drawing is somebody else's work."""

    title: Text
    question: Text
    misleads: Text
    """when the picture does not mean what it seems to"""
    room: str
    compute: Callable[..., Result]
    controls: tuple[Control, ...] = ()
    paper: Paper | None = None
    refuses: Callable[[Any], Text | None] = lambda capture: None
    """the reason why the view has no meaning for this capture, or None"""
    any_family: bool = False
    """needs the attention of one block at most, so that families which state no more can be shown"""
    reports_progress: bool = False
    """the view runs the network many times: `compute` takes `progress` beside the settings"""

    def settings(self, capture: Explored, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every control's value, see `checked`."""
        return checked(self.controls, capture, given)
