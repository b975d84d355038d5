"""Two pictures of the whole network, one above the other, in which one token is followed."""

from __future__ import annotations

import gradio as gr

from vitexplorer.core.network_result import NetworkResult
from vitexplorer.core.text import SPACE
from vitexplorer.core.types import Query
from vitexplorer.ui.canvas.files import capture_file
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.network.network import NetworkData, NetworkPicture, colours_file, network_data
from vitexplorer.ui.rooms.compare.sides import Pair
from vitexplorer.ui.rooms.compare.words import COMPARE_WORDS
from vitexplorer.ui.shell.room_context import Updates


class Passes:
    """The pictures of the left and the right side; the left one leads."""

    def build(self) -> None:
        """Lay out the pictures, which the page shows while the comparison *Network* is chosen and not refused."""
        with gr.Column(elem_classes=["stage", "vx-passes"]):
            self.pictures = [NetworkPicture(elem_id=f"vx-{side}-pass") for side in ("left", "right")]

    def open(self, pair: Pair) -> Updates:
        """Show both passes, nothing where the comparison is refused; the browser asks for the token of its address."""
        from vitexplorer.comparisons import refusal
        from vitexplorer.quantities.places import placed  # imports torch

        if refusal("network", pair.left, pair.right):
            return gr.skip()
        query = "cls" if "cls" in pair.left.prefix_tokens else "mean"
        queries = query, placed(query, (pair.left, 0), (pair.right, 0))
        return {picture: self.data(pair, at, queries[at]) for at, picture in enumerate(self.pictures)}

    def data(self, pair: Pair, index: int, query: Query, result: NetworkResult | None = None) -> NetworkData:
        """Return the data of one side, 0 left or 1 right; of one model in the colours of one basis."""
        from vitexplorer.comparisons.network import notes_on_colours
        from vitexplorer.quantities.stream_colours import has_one_basis

        language = pair.address.language
        shares = has_one_basis(pair.left, pair.right)
        data = network_data(pair.of(index), query, language, result, shared_colours(pair, index) if shares else None)
        side = COMPARE_WORDS["left_of" if index == 0 else "right_of"].format(name=pair.sides()[index].name)
        data.words["hint"] = SPACE.join([COMPARE_WORDS["hint"], *notes_on_colours(pair.left, pair.right)]).in_(language)
        return data.model_copy(update={"question": side.in_(language), "link": "compare", "leads": index == 0})


def shared_colours(pair: Pair, index: int) -> ServedFile:
    """Return the file of one side's colours in the basis of both, which is made once a pair."""
    own, other = pair.of(index), pair.of(1 - index)
    return capture_file(own, ("colours", index, pair.runs[1 - index]), lambda: colours_file(own, other))
