"""The attention canvas: a component on which every head of a block is read with the mouse, answered by the browser."""

from vitexplorer.ui.canvas.canvas import AttentionCanvas, BlockFacts, CanvasData, KeyGrid, Selection, Strip
from vitexplorer.ui.canvas.files import attention_file, kept_file
from vitexplorer.ui.canvas.payload import MEAN, pack_attention, packed_bytes, unpack_attention
from vitexplorer.ui.canvas.words import CANVAS_WORDS, canvas_words

__all__ = [
    "CANVAS_WORDS",
    "MEAN",
    "AttentionCanvas",
    "BlockFacts",
    "CanvasData",
    "KeyGrid",
    "Selection",
    "Strip",
    "attention_file",
    "canvas_words",
    "kept_file",
    "pack_attention",
    "packed_bytes",
    "unpack_attention",
]
