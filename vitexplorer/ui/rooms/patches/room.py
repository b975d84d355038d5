"""The Patches room: the image as the sequence of tokens that the model reads."""

from __future__ import annotations

import gradio as gr

from vitexplorer.controls import sharpest_patch
from vitexplorer.core.text import Text
from vitexplorer.service.engine import TimedCapture
from vitexplorer.ui.canvas.files import input_file, made_once
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.patches.board import PatchesBoard, board_data, reading
from vitexplorer.ui.rooms.room import Room, caption_lines
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Updates


class PatchesRoom(Room):
    """The tokens of an image, and how pixels become one."""

    key = "patches"
    title = Text("Patches", "图块")
    invitation = Text("How the image is cut", "图像如何切分")
    icon = "M4 4h16v16H4z M4 9.3h16 M4 14.7h16 M9.3 4v16 M14.7 4v16"

    def build(self) -> list[Block]:
        """Build the board, and the panel that takes its place for a model without a patch grid."""
        with gr.Column(elem_classes=["vx-views"]):
            self.board = PatchesBoard()
            self.panel = RoomFigures(self.context, self.key, own=("patch_grid",))
            self.panel.build()
        return [self.board]

    def fill(self, timed_capture: TimedCapture, address: Address) -> Updates:
        """Show the patches of the pixels that the model saw."""
        from vitexplorer.figures.identity import run_of
        from vitexplorer.views import refusal

        capture = timed_capture.capture
        provenance = capture.provenance
        if refusal("patch_grid", capture):
            return {}
        pixels = capture.input.pixels
        grid = capture.grid(0)
        dim = capture.residual(0).shape[-1]
        board = board_data(
            input_file(capture),
            grid,
            capture.prefix_tokens,
            dim,
            address.language,
            caption_lines(capture),
            start=made_once(capture, "sharpest", lambda: sharpest_patch(pixels, grid)),
            saved_as=f"patch_grid_{provenance.model}_{run_of(provenance)}",
        )
        sentences = reading(pixels.shape[:2], grid, capture.prefix_tokens, dim, address.language)
        frame = self.around("patch_grid", address) | {"reading": sentences}
        return {self.board: board.model_copy(update=frame)}
