"""The Patches room: the image as the sequence of tokens that the model reads."""

from __future__ import annotations

from vitexplorer.controls import sharpest_patch
from vitexplorer.core.text import Language
from vitexplorer.service.engine import Explored
from vitexplorer.ui.canvas.files import kept_file, made_once
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.panel.own_picture import OwnPicture
from vitexplorer.ui.rooms.patches.board import PatchesBoard, board_data, reading
from vitexplorer.ui.rooms.room import Room, around, caption_lines
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Desk, Updates


class PatchesRoom(Room):
    """What are the tokens of this image?"""

    key = "patches"

    def __init__(self, desk: Desk):
        """Args: desk: what the rooms share."""
        super().__init__(desk)
        self.own = OwnPicture(self.key, "patch_grid")

    def build(self) -> list[Block]:
        """The board."""
        with self.own.build():
            self.board = PatchesBoard()
        return [*self.own.components, self.board]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """The patches of the pixels the model saw."""
        from vitexplorer.figures.identity import run_of

        capture, provenance = explored.capture, explored.capture.provenance
        own = self.own.fill(capture, language)
        if self.own.is_refused(capture):
            return own
        pixels, grid, dim = capture.input.pixels, capture.grid(0), capture.residual(0).shape[-1]
        board = board_data(
            kept_file(capture, "image", lambda: image_file(pixels)),
            grid,
            capture.prefix_tokens,
            dim,
            language,
            caption_lines(capture),
            start=made_once(capture, "sharpest", lambda: sharpest_patch(pixels, grid)),
            saved_as=f"patch_grid_{provenance.model}_{run_of(provenance)}",
        )
        frame = around(
            "patch_grid", language, python=self.desk.python_lines(address, "patch_grid"), next_room="attention"
        )
        said = reading(pixels.shape[:2], grid, capture.prefix_tokens, dim, language)
        return own | {self.board: board.model_copy(update={**frame, "reading": said})}
