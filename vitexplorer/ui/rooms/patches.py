"""The Patches room: the image as the sequence of tokens that the model reads."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
from gradio.blocks import Block

from vitexplorer.ui.address import Address
from vitexplorer.ui.board import PatchesBoard, board_data
from vitexplorer.ui.desk import Desk, Updates
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.files import image_file
from vitexplorer.ui.rooms.own_picture import OwnPicture
from vitexplorer.ui.rooms.room import Room, about, caption_lines
from vitexplorer.words import Language


class PatchesRoom(Room):
    """What are the tokens of this image?"""

    key = "patches"

    def __init__(self, desk: Desk):
        """Args: desk: what the rooms share."""
        super().__init__(desk)
        self.own = OwnPicture(self.key, "patch_grid")

    def build(self) -> list[Block]:
        """The board, then the words about it."""
        with self.own.build():
            self.board = PatchesBoard()
            self.words = gr.Markdown(elem_classes=["vx-note", "vx-about"])
            with gr.Accordion(self.desk.t("python_lines"), open=False):
                self.code = gr.Code(language="python", show_label=False, interactive=False)
        return [*self.own.components, self.board, self.words, self.code]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """The patches of the pixels the model saw."""
        capture = explored.capture
        own = self.own.fill(capture, language)
        if self.own.is_refused(capture):
            return own
        board = board_data(
            Path(image_file(capture.input.pixels).path),
            capture.grid(0),
            capture.prefix_tokens,
            capture.residual(0).shape[-1],
            language,
            caption_lines(capture),
        )
        return own | {
            self.board: board,
            self.words: about("patch_grid", language),
            self.code: self.desk.python_lines(address, "patch_grid"),
        }
