"""A block of a capture as data of the canvas: where its tokens lie, what looks in it, its attention as a file.

One block travels to the browser once, and its neighbours are fetched ahead. An attention that is too large to be sent
in one piece is sent a query at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vitexplorer.controls import QueryControl
from vitexplorer.core.text import Language
from vitexplorer.core.types import PatchGrid, Query, prefix_text
from vitexplorer.ui.canvas.canvas import BlockFacts, CanvasData, KeyGrid, looks
from vitexplorer.ui.canvas.files import block_address, kept_file, size
from vitexplorer.ui.canvas.payload import MEAN, pack_attention
from vitexplorer.ui.canvas.words import canvas_words
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file, image_file

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

FETCHED_AHEAD = 4 << 20
"""bytes of a block's attention up to which it is fetched before it is asked for"""


def default_query(capture: Capture, block: int) -> Query:
    """The class token where it looks in a block, otherwise the mean over patches."""
    return QueryControl().default_after(capture, {"block": block})


def silent_in(capture: Capture, block: int) -> list[str]:
    """Tokens that are no queries in a block: prefix tokens by name, and the word patches."""
    looking = capture.query_tokens(block)
    silent = [name for name in capture.prefix_tokens if name not in looking]
    return silent if (capture.query_positions(block) >= 0).any() else [*silent, "patches"]


def shown_query(capture: Capture, block: int, query: Query) -> Query:
    """Query shown where one is asked for: the block's first one where it has no such query."""
    return query if looks(query, silent_in(capture, block)) else default_query(capture, block)


def carried(capture: Capture, query: Query, before: int, after: int) -> Query:
    """A query of one block in another: a patch is the one at its place, in the middle of what the image shows of it."""
    from vitexplorer.quantities.places import placed

    return placed(query, (capture, before), (capture, after))


def on_grids(queries: PatchGrid, keys: PatchGrid) -> dict[str, Any]:
    """Grids of queries and keys, as fields of `BlockFacts`."""
    lies = [{"rows": grid.rows, "cols": grid.cols, "cell": grid.patch_size} for grid in (queries, keys)]
    return {**lies[0], "keys": KeyGrid(**lies[1]) if lies[0] != lies[1] else None}


def block_facts(capture: Capture, block: int, language: Language) -> BlockFacts:
    """Facts of a block that the canvas needs to draw its rows."""
    site, address = capture.site(block), block_address(capture, block)
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
    """All that the canvas shows of a block where its attention may be sent in one piece.

    The pixels that the model saw are a file that is served, unless the `image` is given.
    """
    from vitexplorer.figures.identity import facts_of, run_of

    provenance = capture.provenance
    return CanvasData(
        image=image or kept_file(capture, "image", lambda: image_file(capture.input.pixels)),
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
    """A block for the canvas; of one that is too large to be sent in one piece, one row."""
    data = frame_data(capture, block, language)
    if data.attention is None:
        data.attention = row_file(capture, block, shown_query(capture, block, query or default_query(capture, block)))
    return data


def row_file(capture: Capture, block: int, query: Query) -> ServedFile:
    """All heads of one query of a block."""
    return cached_file(packed_row(capture, block, query), "attention.bin")


def packed_row(capture: Capture, block: int, query: Query) -> bytes:
    """Pack all heads of one query of a block: a row over the whole grid of the keys."""
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
    """Return whether a number that a browser sent is that of a block of the capture."""
    return block is not None and 0 <= block < capture.depth
