"""The Words room: which patches a text means, by every method that has a meaning for the model.

The vectors of the patches are computed once for each method, the default first, and remembered. Then one request
answers with the maps of all texts by all methods, and the browser changes text and method by itself. Methods with
gradients run the model once more, when a person asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.controls.explained import TextVector
from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import ExplainedError, Language, Text, in_language
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Picture
from vitexplorer.ui.canvas.canvas import FILLINGS
from vitexplorer.ui.canvas.files import input_file, made_once
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.panel.room_figures import BROWSER_VIEW_JS, RoomFigures
from vitexplorer.ui.rooms.room import Room, caption_lines
from vitexplorer.ui.rooms.words.caption_board import CaptionBoard, CaptionBoardData, caption_data
from vitexplorer.ui.rooms.words.offers import caption_offer, texts_offer
from vitexplorer.ui.rooms.words.suggested import first_texts
from vitexplorer.ui.rooms.words.text_board import TextBoard, TextBoardData, answer_fields, picture_data, refused_fields
from vitexplorer.ui.rooms.words.text_maps import (
    MOST,
    MethodMaps,
    method_maps,
    methods_of,
    patches_of,
    read_texts,
    texts_of_file,
)
from vitexplorer.ui.rooms.words.truth import masks_meant, points_rightly
from vitexplorer.ui.rooms.words.word_by_word import taken_apart
from vitexplorer.ui.rooms.words.words import TEXT_WORDS
from vitexplorer.ui.shell.address import Address, SelectedView
from vitexplorer.ui.shell.frame import about, frame_words
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Listen, RoomContext, Updates
from vitexplorer.ui.shell.room_sign import WHY

if TYPE_CHECKING:
    from torch import Tensor

    from vitexplorer.capturing.capture import Capture

Texts = tuple[str | TextVector, ...]
"""Sentences, or vectors of a file"""
_FILE = "texts.safetensors"
APART = "apart"
"""Key of a question whose only text is to be taken apart"""


class WordsRoom(Room):
    """Texts on the image: the patches that each means, by a dozen methods, and the best text of each patch."""

    key = "words"
    title = Text("Words", "图文")
    invitation = Text("Which patches does a text mean", "一段文字指哪些图块")
    icon = "M3 6h11 M8.5 6v12 M5.5 18h6 M15 11h6v6h-6z M15 14h6 M18 11v6"
    group = WHY

    def __init__(self, context: RoomContext):
        super().__init__(context)
        self._patches: BytesCache[tuple[Picture, str], Tensor] = BytesCache(
            context.engine.memory, lambda vectors: vectors.nbytes
        )

    def build(self) -> list[Block]:
        """Build the board, and the room's figures in a closed accordion."""
        self.filled = gr.State(None)  # the address that the board was filled for
        self.texts = gr.State(())
        self.captions = CaptionBoard()
        self.board = TextBoard(elem_id="vx-words-board")
        with gr.Accordion(
            self.context.t(TEXT_WORDS["figures"]), open=False, elem_id="vx-words-figures"
        ) as self.figures:
            self.panel = RoomFigures(self.context, self.key)
            self.panel.build()
        inputs = [self.context.address, self.texts]
        self.board.ask(self.ask, inputs, [self.board, self.texts], **LATEST)
        self.board.further(self.further, inputs, self.board, **LATEST)
        self.captions.ask(self.describe, self.context.address, self.captions, **LATEST)
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Compute maps when the room is entered, and when the image or model changes."""
        inputs = [active, self.context.address, self.filled, self.texts, self.context.browser]
        outputs = [self.board, self.captions, self.texts, self.filled, self.figures]
        listen(self.enter, inputs, outputs, js=BROWSER_VIEW_JS, **QUICK)
        super().enter_on(listen, active)

    async def enter(
        self, active: str, address: Address, filled: Address | None, texts: Texts, browser_view: str = ""
    ) -> Updates:
        """Show the texts of an opened link, or those of the picture before, or the defaults."""
        if active != self.key or filled == address or address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        is_new_link = filled is None or filled.opened != address.opened
        if is_new_link and address.texts:
            texts = tuple(text for text in address.texts.split(";") if text.strip())[:MOST]
        elif filled is not None and filled.model != address.model:  # vectors belong to one model
            texts = tuple(text for text in texts if isinstance(text, str))
        data, texts = await self._filled(capture, address, texts)
        if is_new_link:
            data.method, data.text = address.method, address.text
        caption = await in_thread(self._caption, capture, address, address.language)
        updates: Updates = {self.board: data, self.captions: caption, self.texts: texts, self.filled: address}
        named = SelectedView.read(browser_view)
        if named.room == self.key and named.view:
            updates[self.figures] = gr.Accordion(open=True)
        return updates

    async def ask(self, event: gr.EventData, address: Address, texts: Texts) -> Updates:
        """Show other texts, as sentences or of a file; refused ones change nothing else."""
        if address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        sent = fields_of(event)
        given, notice = tuple(sent.get("texts", ()))[:MOST], ""
        if files := sent.get("files"):
            try:
                given, notice = await in_thread(self._of_file, capture, Path(files[0]), address)
            except ExplainedError as error:
                data = self._data(capture, address)
                update = refused_fields({-1: error.text}, address.language)
                return {self.board: data.model_copy(update={**update, "asked": sent.get("asked", 0)})}
        if sent.get("key") == APART and given:
            given = await in_thread(taken_apart, given[0], capture)
        data, applied = await self._answer(capture, address, given or texts, sent.get("what", ""))
        data.asked, data.notice = sent.get("asked", 0), notice
        return {self.board: data, self.texts: applied} if applied else {self.board: data}

    async def further(self, event: gr.EventData, address: Address, texts: Texts) -> Updates:
        """Show the current texts by one more method."""
        sent = fields_of(event)
        if address == Address() or not texts:
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        data, _ = await self._answer(capture, address, texts, sent.get("what", ""))
        data.asked = sent.get("asked", 0)
        return {self.board: data}

    async def describe(self, event: gr.EventData, address: Address) -> Updates:
        """Show the caption in another language."""
        if address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        language = "zh" if fields_of(event).get("what") == "zh" else "en"
        return {self.captions: await in_thread(self._caption, capture, address, language)}

    async def _filled(self, capture: Capture, address: Address, texts: Texts) -> tuple[TextBoardData, Texts]:
        """Return the board of a new picture; texts that the model refuses give way to the defaults."""
        from vitexplorer.views import refusal

        reason, reads = refusal("text_map", capture), capture.model.text is not None
        usable = texts if reads else tuple(text for text in texts if isinstance(text, TextVector))
        if reason or not (reads or usable):
            data = await in_thread(self._without_texts, capture, address, reason)
        else:
            data, applied = await self._answer(capture, address, usable or first_texts(capture, address.language))
            if not applied:
                refused = data.refused
                data, applied = await self._answer(capture, address, first_texts(capture, address.language))
                data.refused = refused
            texts = applied
        data.filled = next(FILLINGS)
        return data, texts

    async def _answer(
        self, capture: Capture, address: Address, texts: Texts, method: str = ""
    ) -> tuple[TextBoardData, Texts]:
        """Return the maps of texts by this method and all that are quick now, and the texts; none if one is refused."""
        data = await in_thread(self._data, capture, address)
        vectors, refused = await in_thread(read_texts, texts, capture)
        if refused:
            return data.model_copy(update=refused_fields(refused, address.language)), ()
        methods, _ = methods_of(capture)
        method = method if method in methods else next(iter(methods))
        patches = {key: known for key in methods if (known := self._patches.get((address.picture, key))) is not None}
        of_gradients = {}
        if methods[method].scores is not None:
            work = partial(method_maps, capture, method, vectors)
            of_gradients[method] = await self.context.engine.short.run(object(), lambda _: work())
        elif method not in patches:
            make = partial(patches_of, capture, method)
            key = address.picture, method
            patches[method] = await self.context.engine.short.cached(self._patches, key, lambda _: make())
        fields = await in_thread(self._numbers, capture, vectors, patches, of_gradients, address)
        is_read = all(isinstance(text, str) for text in texts)
        return data.model_copy(update=fields), tuple(map(str, vectors)) if is_read else vectors

    def _numbers(
        self,
        capture: Capture,
        texts: Sequence[TextVector],
        patches: Mapping[str, Tensor],
        of_gradients: Mapping[str, MethodMaps],
        address: Address,
    ) -> dict[str, object]:
        from vitexplorer.views import compute

        maps = {key: method_maps(capture, key, texts, vectors) for key, vectors in patches.items()}
        scores = compute("text_scores", capture, texts=list(texts))
        maps |= of_gradients
        masks = masks_meant(scores.texts, capture)
        hits = {key: points_rightly(method.maps, masks, capture) for key, method in maps.items()}
        return answer_fields(scores, maps, address.language) | {"hits": hits}

    def _of_file(self, capture: Capture, file: Path, address: Address) -> tuple[Texts, str]:
        """Return the first texts of a file, and a sentence if it has more."""
        from vitexplorer.models.texts.text_files import load_texts

        texts = load_texts(file)
        more = TEXT_WORDS["first_of_file"].format(count=len(texts), most=MOST) if len(texts) > MOST else None
        return texts_of_file(texts, capture), more.in_(address.language) if more else ""

    # -------------------------------------------------------------------------------------- data

    def _caption(self, capture: Capture, address: Address, language: Language) -> CaptionBoardData:
        """Return the caption in a language, without numbers where the model writes none."""
        from vitexplorer.views import compute, refusal

        if refusal("caption", capture):
            return CaptionBoardData(filled=next(FILLINGS))
        result = made_once(capture, ("caption", language), lambda: compute("caption", capture, written_in=language))
        data = caption_data(capture, result, address.language)
        return data.model_copy(update=self.around("caption", address, written_in=language))

    def _data(self, capture: Capture, address: Address) -> TextBoardData:
        """Return everything but the numbers."""
        from vitexplorer.figures.identity import run_of
        from vitexplorer.views import VIEWS

        language = address.language
        data = picture_data(capture, language)
        both = {"text": "{text}", "method": "{method}"}
        several = about(VIEWS["text_segmentation"], language)
        data.question_all, data.misleads_all = several["question"], several["misleads"]
        data.python_beside = self._lines(capture, address, "text_map", **both, texts="{texts}")
        data.python_all = self._lines(capture, address, "text_segmentation", texts="{texts}", method="{method}")
        data.caption = [line.in_(language) for line in caption_lines(capture)]
        data.saved_as = f"text_map_{capture.provenance.model}_{run_of(capture.provenance)}"
        around = self.around("text_map", address, **both)
        return data.model_copy(update={**around, "python": self._lines(capture, address, "text_map", **both)})

    def _lines(self, capture: Capture, address: Address, view: str, **settings: str) -> str:
        """Return lines of Python with places for text and method; without a text half they open the file of vectors."""
        lines = self.context.python_lines(address, view, **settings)
        if capture.model.text is not None:
            return lines
        lines = lines.replace("'{texts}'", "texts").replace("'{text}'", "texts.each[{number}]")
        return lines.replace("result =", f'texts = vx.load_texts("{_FILE}")\nresult =')

    def _without_texts(self, capture: Capture, address: Address, reason: Text | None) -> TextBoardData:
        """Return the sentence for a model without texts, and the models and files that help."""
        language = address.language
        title = capture.model.title
        data = TextBoardData(
            **(self.around("text_map", address) | {"python": "", "misleads": "", "paper": ""}),
            image=input_file(capture),
            words=frame_words(language) | in_language(TEXT_WORDS, language) | {"image": word("image", language)},
        )
        why = TEXT_WORDS["lost_half" if capture.model.projects else "reads_none"]
        data.reading = (reason or why.format(model=title)).in_(language)
        if reason is None:
            width = len(capture.joint_embedding)
            data.vectors = TEXT_WORDS["vectors"].format(width=width).in_(language)
        data.offers = [*texts_offer(language), *caption_offer(language)]
        data.is_away = capture.model.captioner is not None
        return data
