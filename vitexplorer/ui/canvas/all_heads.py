"""Small maps of every head of every block for one query, under the canvas: one row of each head, in one small file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vitexplorer.core.text import Language
from vitexplorer.core.types import Query
from vitexplorer.ui.canvas.block_data import block_facts, carried, packed_row, valid_query
from vitexplorer.ui.canvas.canvas import Strip
from vitexplorer.ui.canvas.files import capture_file
from vitexplorer.ui.kit.served_files import cached_file

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

MOST_WEIGHTS = 4e8
"""Most attention weights that are computed for the maps under the picture: the number of ViT-L at 512 pixels"""


def strip_of(capture: Capture, block: int, query: Query, language: Language) -> Strip | None:
    """Return the rows of every block for a query of one block; None where that is too much work."""
    queries = queries_of_strip(capture, block, query)
    if queries is None:
        return None
    return Strip(
        rows=capture_file(
            capture, ("strip", queries), lambda: cached_file(packed_strip(capture, queries), "heads.bin")
        ),
        blocks=[block_facts(capture, other, language) for other in range(capture.depth)],
    )


def queries_of_strip(capture: Capture, block: int, query: Query) -> tuple[Query, ...] | None:
    """Return the query of each block for the strip of heads; None where that is too much work."""
    blocks = range(capture.depth)
    queries = tuple(valid_query(capture, other, carried(capture, query, block, other)) for other in blocks)
    work = sum(weights_behind(capture, other, other_query) for other, other_query in zip(blocks, queries, strict=True))
    return queries if work <= MOST_WEIGHTS else None


def packed_strip(capture: Capture, queries: tuple[Query, ...]) -> bytes:
    """Pack one row of each block, one after the other."""
    return b"".join(packed_row(capture, block, query) for block, query in enumerate(queries))


def weights_behind(capture: Capture, block: int, query: Query) -> int:
    """Count the attention weights that are computed for the rows of a query."""
    windows, keys = capture.positions(block).shape
    queries = capture.query_positions(block).shape[1] if query == "mean" else 1
    return windows * capture.num_heads(block) * queries * keys
