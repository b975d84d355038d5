"""Component of the patches board, and its data for the browser."""

from __future__ import annotations

from collections.abc import Sequence

from vitexplorer.core.text import Language, Text, in_language
from vitexplorer.core.types import PatchGrid, prefix_text
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.patches.words import BOARD_WORDS
from vitexplorer.ui.shell.frame import FrameData, frame_words


class BoardData(FrameData):
    """One image as a sequence of tokens."""

    image: ServedFile | None = None
    """Lossless file of the pixels that the model saw"""
    rows: int = 0
    cols: int = 0
    patch_size: int = 0
    """Side of a patch in pixels of the model's input"""
    embed_dim: int = 0
    prefix_tokens: list[str] = []
    """Prefix tokens in words"""
    num_tokens: int = 0
    start: tuple[int, int] = (0, 0)
    """Row and column of the patch that is enlarged until another is picked"""
    caption: list[str] = []
    """Lines under a saved picture: model, weights, image"""
    saved_as: str = ""
    """First part of the name of a saved picture: view, model, run"""


class PatchesBoard(Widget):
    """Component with the image in patches, the picked patch enlarged, and the sequence of tokens.

    Event: `patch_select` with `row` and `col` when a patch is clicked or Enter is pressed on it.
    """

    data_model = BoardData
    sends = ("patch_select",)


def board_data(
    image: ServedFile,
    grid: PatchGrid,
    prefix_tokens: Sequence[str],
    embed_dim: int,
    language: Language,
    caption: Sequence[Text] = (),
    *,
    start: tuple[int, int] = (0, 0),
    saved_as: str = "patches",
) -> BoardData:
    """Return the data of the board for one image, see `BoardData`.

    The image has (rows * patch_size) x (cols * patch_size) pixels; grid and width of a token are the first block's.
    """
    return BoardData(
        image=image,
        rows=grid.rows,
        cols=grid.cols,
        patch_size=grid.patch_size,
        embed_dim=embed_dim,
        prefix_tokens=[prefix_text(name).in_(language) for name in prefix_tokens],
        num_tokens=len(prefix_tokens) + grid.num_patches,
        start=start,
        caption=[line.in_(language) for line in caption],
        saved_as=saved_as,
        words=frame_words(language) | in_language(BOARD_WORDS, language),
    )


def reading(
    size: tuple[int, int], grid: PatchGrid, prefix_tokens: Sequence[str], embed_dim: int, language: Language
) -> str:
    """Describe the cut of (height, width) pixels in two sentences: the number of tokens, and the size of a token."""
    key = {0: "reading_none", 1: "reading_one"}.get(len(prefix_tokens), "reading_more")
    sentences = BOARD_WORDS[key].format(
        height=size[0],
        width=size[1],
        rows=grid.rows,
        cols=grid.cols,
        side=grid.patch_size,
        patches=f"{grid.num_patches:,}",
        prefix=len(prefix_tokens),
        name=prefix_text(prefix_tokens[0]) if prefix_tokens else "",
        numbers=f"{3 * grid.patch_size**2:,}",
        dim=f"{embed_dim:,}",
    )
    return sentences.in_(language)
