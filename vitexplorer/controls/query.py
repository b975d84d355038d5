"""Controls for the query token: any query, or one token, for views that make no sense for a mean over tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.number import whole_number
from vitexplorer.controls.sharpest import sharpest_patch
from vitexplorer.controls.spec import Board, Fields, Spec
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import PatchGrid, Query, Result, query_text

WORDS = {
    "patch": Text("row {row}, column {col}", "第 {row} 行第 {col} 列"),
    "pick": Text(
        "Pick a patch: point at it, click to hold it; arrow keys move it",
        "选择图块：指向即可，点击可固定；方向键可移动",
    ),
}


def check_patches(patches: Iterable[tuple[int, int]], grid: PatchGrid) -> None:
    """Raise SettingError for the first patch outside a grid."""
    for row, col in patches:
        if not (0 <= row < grid.rows and 0 <= col < grid.cols):
            raise SettingError(
                Text(
                    "There is no patch ({row}, {col}): the grid has rows 0 to {rows} and columns 0 to {cols}.",
                    "图块（{row}, {col}）不存在：网格的行号为 0 到 {rows}，列号为 0 到 {cols}。",
                ).format(row=row, col=col, rows=grid.rows - 1, cols=grid.cols - 1)
            )


def no_such_query(block: int, queries: tuple[str, ...]) -> SettingError:
    """Make the error for a token that is no query of a block, with the block's `CaptureProtocol.queries`."""
    named = Text("patches", "图块") if "mean" in queries else query_text(queries[0])
    return SettingError(
        Text(
            "Block {block} has no such query: its queries are the {queries}.",
            "块 {block} 没有这样的查询：它的查询是{queries}。",
        ).format(block=block, queries=named)
    )


@dataclass(frozen=True)
class QueryControl(Control):
    """Query token: "cls", "dist", "mean" (over patches) or the patch (row, col) of the block's grid."""

    name: str = "query"
    label: Text = Text("Query", "查询")
    first: bool = False
    """True if a patch is one of the first block's grid, whatever the other settings"""

    kind: ClassVar[str] = "patch"
    takes: ClassVar[Text | None] = Text("cls, dist, mean, or a patch as row,col", "cls、dist、mean，或图块的 row,col")
    words: ClassVar[Mapping[str, Text]] = WORDS

    def default(self, capture: CaptureProtocol) -> str:
        """Return the class token if there is one, otherwise the mean over patches."""
        return "cls" if "cls" in capture.prefix_tokens else "mean"

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return all options except the patches."""
        named = [name for name in ("cls", "dist") if name in capture.prefix_tokens]
        return tuple((name, query_text(name)) for name in (*named, "mean"))

    def say(self, value: Query | None, capture: CaptureProtocol) -> Text:
        """Name the token or the patch."""
        return super().say(value, capture) if value is None else query_text(value)

    def grid(self, capture: CaptureProtocol, settings: Mapping[str, Any]) -> PatchGrid:
        """Return the patch grid of the selected block, by default the last one; or of the first."""
        return capture.grid(0 if self.first else settings.get("block", capture.depth - 1))

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the board of patches."""
        if capture is None:
            return {}
        return {"board": Board.of(self.grid(capture, settings), capture.input.pixels.shape[:2])}

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query:
        """Return a query that exists in the selected block, by default the last one. Raises SettingError otherwise."""
        if isinstance(value, str) and "," in value:
            value = value.split(",")
        if isinstance(value, str):
            return self.named(value, capture)
        try:
            row, col = value
        except (TypeError, ValueError):
            raise SettingError(
                Text(
                    'query must be "cls", "dist", "mean" or (row, col), not {value}.',
                    '查询必须是 "cls"、"dist"、"mean" 或（行，列），而不是 {value}。',
                ).format(value=repr(value))
            ) from None
        row, col = whole_number("row", row), whole_number("col", col)
        check_patches([(row, col)], self.grid(capture, settings))
        return row, col

    def named(self, name: str, capture: CaptureProtocol) -> Query:
        """Return the token of this name, or "mean".

        Raises UnknownNameError for another name, SettingError for a token that the model lacks.
        """
        if name not in ("cls", "dist", "mean"):
            raise unknown_name(self.name, name, ("cls", "dist", "mean"))
        if name != "mean" and name not in capture.prefix_tokens:
            raise SettingError(
                Text(
                    'This model has no {token}, so there is no query "{name}". Use "mean" or (row, col).',
                    '该模型没有{token}，因此没有查询 "{name}"。请用 "mean" 或（行，列）。',
                ).format(token=query_text(name), name=name)
            )
        return name


@dataclass(frozen=True)
class BlockQueryControl(QueryControl):
    """Query whose attention the selected block computes: in some blocks that of prefix tokens or of patches alone."""

    def default_after(self, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query:
        """Return the class token if it is a query of the block, otherwise the mean over patches."""
        return "cls" if "cls" in _queries(capture, settings) else "mean"

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """Describe the control with the queries of the block; it has a board only if patches are among them."""
        spec = super().spec(capture, settings, result)
        if capture is None:
            return spec
        queries = _queries(capture, settings or {})
        silent = [name for name, _ in self.offered(capture) if name not in queries]
        options = tuple(option for option in spec.options if option[0] not in silent)
        return replace(spec, options=options, board=spec.board if "mean" in queries else None)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query:
        """Return a query of the selected block. Raises SettingError for any other token."""
        query = super().parse(value, capture, settings)
        queries = _queries(capture, settings)
        if (query if isinstance(query, str) else "mean") not in queries:
            raise no_such_query(settings.get("block", capture.depth - 1), queries)
        return query


def _queries(capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[str, ...]:
    return capture.queries(settings.get("block", capture.depth - 1))


@dataclass(frozen=True)
class TokenControl(QueryControl):
    """One token: "cls", "dist" or the patch (row, col); the mean over patches is not allowed."""

    label: Text = Text("Token", "标记")
    patch_first: bool = False
    """True if a patch is the default even if there is a class token"""

    takes: ClassVar[Text | None] = Text("cls, dist, or a patch as row,col", "cls、dist，或图块的 row,col")

    def default(self, capture: CaptureProtocol) -> Query:
        """Return the class token if there is one, otherwise the sharpest patch of the last block's grid."""
        if "cls" in capture.prefix_tokens and not self.patch_first:
            return "cls"
        return sharpest_patch(capture.input.pixels, capture.grid(capture.depth - 1))

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the prefix tokens that a query can name."""
        return tuple(option for option in super().offered(capture) if option[0] != "mean")

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query:
        """Return a token that exists in the selected block. Raises SettingError otherwise."""
        query = super().parse(value, capture, settings)
        if query == "mean":
            raise SettingError(
                Text(
                    "This view needs one token: (row, col) or the name of a prefix token, not the mean over patches.",
                    "该视图需要一个具体的标记：（行，列）或前缀标记的名称，而不是图块平均。",
                )
            )
        return query
