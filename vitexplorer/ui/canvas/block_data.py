"""One block of a capture as canvas data: its patch grid, its queries, and its attention as a file.

The browser fetches a block once, ahead of time if a person points at it or steps towards it. Attention that is too
large to be sent in one piece is sent one query at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vitexplorer.controls import BlockQueryControl
from vitexplorer.core.text import Language
from vitexplorer.core.types import PatchGrid, Query, prefix_text
from vitexplorer.ui.canvas.canvas import BlockFacts, CanvasData, KeyGrid, looks
from vitexplorer.ui.canvas.files import block_address, input_file, size
from vitexplorer.ui.canvas.payload import MEAN, pack_attention
from vitexplorer.ui.canvas.words import canvas_words
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

FETCHED_AHEAD = 4 << 20
"""Most bytes of a block's attention that the browser fetches ahead of time"""


def default_query(capture: Capture, block: int) -> Query:
    """Return the class token where it is a query of the block, otherwise the mean over patches."""
    return BlockQueryControl().default_after(capture, {"block": block})


def silent_in(capture: Capture, block: int) -> list[str]:
    """List tokens that are no queries in a block: prefix tokens by name, and the word patches."""
    queries = capture.queries(block)
    silent = [name for name in capture.prefix_tokens if name not in queries]
    return silent if "mean" in queries else [*silent, "patches"]


def valid_query(capture: Capture, block: int, query: Query) -> Query:
    """Return the query if the block has it, otherwise the block's default query."""
    return query if looks(query, silent_in(capture, block)) else default_query(capture, block)


def carried(capture: Capture, query: Query, before: int, after: int) -> Query:
    """Translate a query to another block: a patch becomes the one at the centre of its visible part of the image."""
    from vitexplorer.quantities.places import placed

    return placed(query, (capture, before), (capture, after))


def on_grids(queries: PatchGrid, keys: PatchGrid) -> dict[str, Any]:
    """Return the grids of queries and keys as fields of `BlockFacts`."""
    query_fields, key_fields = (
        {"rows": grid.rows, "cols": grid.cols, "cell": grid.patch_size} for grid in (queries, keys)
    )
    return {**query_fields, "keys": KeyGrid(**key_fields) if query_fields != key_fields else None}


def block_facts(capture: Capture, block: int, language: Language) -> BlockFacts:
    """Return the facts of a block that the canvas needs to draw its rows."""
    site = capture.site(block)
    address = block_address(capture, block)
    return BlockFacts(
        block=block,
        **on_grids(capture.grid(block), capture.key_grid(block)),
        silent=silent_in(capture, block),
        heads=capture.num_heads(block),
        formula=site.formula,
        notes=[note.in_(language) for note in site.notes],
        attention=address,
        ahead=address is not None and size(capture, block) <= FETCHED_AHEAD,
    )


def frame_data(capture: Capture, block: int, language: Language, image: ServedFile | None = None) -> CanvasData:
    """Return the canvas data of a block; `attention` is None where it is too large to be sent in one piece.

    Without `image`, the pixels that the model saw become a served file.
    """
    from vitexplorer.figures.identity import facts_of, run_of

    provenance = capture.provenance
    return CanvasData(
        image=image or input_file(capture),
        **vars(block_facts(capture, block, language)),
        prefix=list(capture.prefix_tokens),
        prefix_labels=[prefix_text(name).in_(language) for name in capture.prefix_tokens],
        model=provenance.model,
        weights=provenance.weights_text.in_(language),
        warning=word("random_on_picture", language) if provenance.is_random else "",
        depth=capture.depth,
        saved_as=["attention_map", provenance.model, run_of(provenance), f"block{block}"],
        saved_facts=facts_of("attention_map", provenance, {"block": block}, language),
        link="attention",
        words=canvas_words(language),
    )


def block_data(capture: Capture, block: int, language: Language, query: Query | None = None) -> CanvasData:
    """Return the canvas data of a block; attention too large to be sent in one piece is the row of one query."""
    data = frame_data(capture, block, language)
    if data.attention is None:
        data.attention = row_file(capture, block, valid_query(capture, block, query or default_query(capture, block)))
    return data


def row_file(capture: Capture, block: int, query: Query) -> ServedFile:
    """Make a file of all heads for one query of a block."""
    return cached_file(packed_row(capture, block, query), "attention.bin")


def packed_row(capture: Capture, block: int, query: Query) -> bytes:
    """Pack all heads for one query of a block: a row over the whole grid of the keys."""
    on_patches, on_prefix, _ = (part.cpu().numpy() for part in capture.attention_from(query, block))
    row = np.concatenate([on_prefix, on_patches], axis=1)[None, :, None]
    names = capture.prefix_tokens
    prefix = [-1 - names.index(name) for name in capture.key_tokens(block)]
    keys = np.concatenate([prefix, np.arange(capture.key_grid(block).num_patches)]).astype(int)
    if query == "mean":
        code = MEAN
    else:
        code = -1 - names.index(query) if isinstance(query, str) else query[0] * capture.grid(block).cols + query[1]
    return pack_attention(row, keys[None], np.array([[code]]))


def is_block(block: int | None, capture: Capture) -> bool:
    """Return True for the number of a block of the capture; a browser may send any number."""
    return block is not None and 0 <= block < capture.depth
