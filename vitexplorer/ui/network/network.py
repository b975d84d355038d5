"""Component of the whole network in one picture, and its data for the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from vitexplorer.controls import written_value
from vitexplorer.core.network_result import NetworkResult
from vitexplorer.core.text import Language, in_language
from vitexplorer.core.types import Answer, Prediction, Query, prefix_text, query_text
from vitexplorer.figures.caption import class_name
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.canvas import Strip
from vitexplorer.ui.canvas.files import capture_file, input_file, made_once, size
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.network.words import NETWORK_WORDS
from vitexplorer.ui.shell.frame import FrameData, frame_words

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class Named(BaseModel):
    """A class with its value."""

    name: str
    value: str
    """Probability in words, or the one output"""
    share: float = 0.0
    """Probability, 0-1"""
    is_answer: bool = False
    """True for the class that the model answers with"""


class NetworkData(FrameData):
    """One pass of one image."""

    image: ServedFile | None = None
    grids: list[tuple[int, int, int]] = []
    """Rows, columns and pixels of a patch's side, of the tokens that enter the first block and that leave each block"""
    colours: ServedFile | None = None
    """File of uint8 (rows of `grids`, patches, 3), one after the other"""
    hidden: list[int] = []
    """Patches that no other token reads, in a changed run"""
    strip: Strip | None = None
    """Attention of the followed token in every head; None where it is too much work"""
    all_bytes: int = 0
    """Bytes of the attention of every token, all blocks together"""
    query: str = ""
    """Followed token: the name of a prefix token, "mean", or row,col of the first grid"""
    whole: str = ""
    """Token that stands for the whole image: cls or mean"""
    whole_label: str = ""
    prefix: list[str] = []
    prefix_labels: list[str] = []
    lens: list[Named | None] = []
    """Answer after each block; empty without a classifier"""
    answers: list[Named] = []
    read_from: list[str] = []
    """Tokens that the classifier reads after the last block: names of prefix tokens, "patches" for all of them"""
    similarity: list[float] = []
    """Without a classifier: cosine of each patch to the token for the whole image, after the last block"""
    target: str = ""
    """Class that `adds` explain"""
    adds: list[list[float]] = []
    """Contributions of attention and MLP of each block to its logit; empty where they are not known"""
    asks: bool = False
    """True where `reading` and `adds` are still to be asked for, with `whole`"""
    has_sum: bool = False
    """True where the logit is a sum over the blocks, so that `adds` will be there"""
    warning: str = ""
    """Warning for random weights"""
    saved_as: str = ""
    link: str = ""
    """Name that pictures share which follow one token; empty for a picture on its own"""
    leads: bool = True
    """True where the address names the followed token, and a click opens the rooms of this very model"""


class NetworkPicture(Widget):
    """Component of the picture; events: `follow` with `query`, or with `whole` for what needs another pass."""

    data_model = NetworkData
    sends = ("follow",)


def network_data(
    capture: Capture,
    query: Query,
    language: Language,
    result: NetworkResult | None = None,
    colours: ServedFile | None = None,
) -> NetworkData:
    """Return the data of one pass; `result` is the view itself, None where it is not computed yet.

    `colours` replaces those in a basis of the capture's own.
    """
    from vitexplorer.figures.identity import run_of
    from vitexplorer.quantities.hidden_patches import hidden_patches
    from vitexplorer.quantities.logit_contributions import is_no_sum
    from vitexplorer.views import reading

    provenance = capture.provenance
    grids = [capture.grid(0), *map(capture.grid, range(capture.depth))]
    words = in_language(NETWORK_WORDS, language)
    whole = "cls" if "cls" in capture.prefix_tokens else "mean"
    data = NetworkData(
        image=input_file(capture),
        grids=[(grid.rows, grid.cols, grid.patch_size) for grid in grids],
        colours=colours or capture_file(capture, "colours", lambda: colours_file(capture)),
        hidden=np.flatnonzero(hidden_patches(capture)).tolist(),
        strip=strip_of(capture, 0, query, language),
        all_bytes=sum(size(capture, block) for block in range(capture.depth)),
        query=written_value(query),
        whole=whole,
        whole_label=query_text(whole).in_(language),
        prefix=list(capture.prefix_tokens),
        prefix_labels=[prefix_text(name).in_(language) for name in capture.prefix_tokens],
        lens=made_once(capture, ("lens", language), lambda: lens_of(capture, language)),
        answers=made_once(capture, ("answers", language), lambda: answers_of(capture, language)),
        read_from=read_from(capture),
        similarity=made_once(capture, "similarity", lambda: similarity_of(capture)),
        has_sum=capture.logits is not None and made_once(capture, "no_sum", lambda: is_no_sum(capture)) is None,
        asks=result is None,
        warning=word("random_on_picture", language) if provenance.is_random else "",
        saved_as=f"network_{provenance.model}_{run_of(provenance)}",
        words=frame_words(language) | words,
    )
    if result is not None:
        data.reading = reading(result, language)
    if result is not None and result.attention_adds is not None:
        data.adds = np.stack([result.attention_adds, result.mlp_adds], axis=1).tolist()
        data.target = class_name(result.target).in_(language)
    return data


def colours_file(*captures: Capture) -> ServedFile:
    """Make the file of the first capture's colours, in one basis with the others, see `stream_colours`."""
    from vitexplorer.quantities.stream_colours import stream_colours

    colours = (np.nan_to_num(255 * colours) for colours in stream_colours(*captures)[0])
    return cached_file(b"".join(np.rint(each).astype(np.uint8).tobytes() for each in colours), "colours.bin")


def lens_of(capture: Capture, language: Language) -> list[Named | None]:
    """Return the likeliest class after each block, None for blocks that cannot be read; empty without a classifier."""
    from vitexplorer.quantities.read_out import answers_after_blocks

    if capture.logits is None:
        return []
    last = int(capture.logits.argmax())
    return [answer and _named(answer, language, last) for answer in answers_after_blocks(capture)]


def answers_of(capture: Capture, language: Language) -> list[Named]:
    """Return the likeliest classes, or the one output; empty without a classifier."""
    from vitexplorer.quantities.read_out import top_classes

    if capture.logits is None:
        return []
    top = top_classes(capture.logits, capture.model.class_texts)
    return [_named(answer, language, top[0].index) for answer in top]


def read_from(capture: Capture) -> list[str]:
    """Return the tokens that the classifier reads, see `NetworkData.read_from`; empty without a classifier."""
    if capture.logits is None:
        return []
    prefix = list(capture.prefix_tokens)
    own = capture.model.family.own_reading(capture.model.module)
    if own in prefix:
        return [own]
    return ["cls", "dist"] if "dist" in prefix else [*(prefix if own == "own" else []), "patches"]


def _named(answer: Answer, language: Language, last: int) -> Named:
    share = answer.probability if isinstance(answer, Prediction) else 0.0
    name = class_name(answer).in_(language)
    return Named(name=name, value=answer.display_value, share=share, is_answer=answer.index == last)


def similarity_of(capture: Capture) -> list[float]:
    """Return the cosine of each patch to the token of the whole image; empty for a model with a classifier."""
    from vitexplorer.quantities.whole_similarity import whole_similarity

    return whole_similarity(capture, capture.depth - 1).tolist() if capture.logits is None else []
