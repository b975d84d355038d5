"""The patches board: the image cut into its tokens, one of them under the magnifying glass."""

from vitexplorer.ui.board.component import BoardData, PatchesBoard, board_data, reading
from vitexplorer.ui.board.words import BOARD_WORDS

__all__ = ["BOARD_WORDS", "BoardData", "PatchesBoard", "board_data", "reading"]
