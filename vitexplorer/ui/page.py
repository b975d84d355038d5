"""The page: image and model on the left, the rooms on the right, one event that fills them all.

Whatever changes the capture goes through `explore`, which runs in the queue, one at a time, and says what it is doing.
Everything inside a room is answered from the capture by events that never queue.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import gradio as gr

from vitexplorer.settings import Settings
from vitexplorer.ui.address import Address
from vitexplorer.ui.engine import Engine, Explored
from vitexplorer.ui.language import Translations, language_of_request, word
from vitexplorer.ui.menu import model_choices, model_sentence
from vitexplorer.ui.parts.header import Header, header_data
from vitexplorer.ui.parts.status import StatusData, StatusLine
from vitexplorer.ui.parts.strip import ExampleStrip, strip_data
from vitexplorer.ui.parts.upload import ImageUpload
from vitexplorer.ui.pictures import examples, keep_upload
from vitexplorer.ui.rooms.attention import AttentionRoom
from vitexplorer.ui.rooms.flow import FlowRoom
from vitexplorer.ui.rooms.patches import PatchesRoom
from vitexplorer.ui.rooms.room import Desk, Room
from vitexplorer.ui.rooms.size import SizeRoom
from vitexplorer.words import ExplainedError, Language, Text

ROOMS: tuple[type[Room], ...] = (PatchesRoom, AttentionRoom, FlowRoom, SizeRoom)

_jobs = ThreadPoolExecutor(max_workers=4, thread_name_prefix="explore")
_log = logging.getLogger(__name__)


def build_page(settings: Settings, engine: Engine) -> tuple[gr.Blocks, Translations]:
    """The page and its translations; nothing is computed yet."""
    t = Translations()
    with gr.Blocks(title="ViT Explorer", analytics_enabled=False, fill_width=True, delete_cache=(1800, 7200)) as page:
        desk = Desk(engine, t, address=gr.State(Address()), language=gr.State("en"))
        header = Header()
        with gr.Row(elem_id="vx-columns"):
            with gr.Column(elem_id="vx-left"):
                upload = ImageUpload(label=t("image"), height=170)
                strip = ExampleStrip()
                model = gr.Dropdown(
                    label=t("model"),
                    info=t("model_info" if settings.any_model else "model_info_closed"),
                    choices=[],
                    allow_custom_value=True,
                    filterable=True,
                )
                sentence = gr.Markdown(elem_classes=["vx-note"])
                weights = gr.Radio(
                    [(t("weights_trained"), "trained"), (t("weights_random"), "random")], label=t("weights")
                )
                fits = [(t(f"fit_{fit}"), fit) for fit in ("crop", "squash", "pad", "native")]
                fit = gr.Radio(fits, label=t("fit"))
            with gr.Column(elem_id="vx-main"):
                status = StatusLine()
                with gr.Tabs(selected="attention") as tabs:
                    rooms = [room(desk) for room in ROOMS]
                    filled = []
                    for room in rooms:
                        with gr.Tab(t(f"room_{room.key}"), id=room.key) as tab:
                            filled.append(room.build())
                        tab.select(None, js=f"() => window.vxAddress({{room: '{room.key}'}})")

        outputs = [status, desk.address, *(component for components in filled for component in components)]

        def explore(address: Address, language: Language) -> Iterator[list[Any]]:
            """Fill every room from a new capture; until then, and if there is none, the screen stays as it is."""
            for line in _progress(engine, address, language):
                if isinstance(line, StatusData):
                    yield [line, *(gr.skip() for _ in outputs[1:])]
                else:
                    values = [v for room in rooms for v in room.fill(line, address, language)]
                    yield [ready(line, address, language), address, *values]

        def start(request: gr.Request):
            """The page as its URL asks for it; the rooms are filled by the event that follows."""
            language = language_of_request(request)
            address = Address.read(request.query_params)
            picture = examples()[address.image].path if address.image in examples() else None
            return [
                language,
                address,
                header_data(language),
                picture and str(picture),
                strip_data(language, word("examples", language), address.image),
                gr.Dropdown(choices=model_choices(language, settings), value=address.model),
                model_sentence(address.model, language),
                address.weights,
                address.fit,
                gr.Tabs(selected=address.room),
                StatusData(text=word("status_engine", language)),
            ]

        def choose_example(event: gr.EventData, address: Address, language: Language):
            """One of the examples instead of the image that is shown."""
            if event.id not in examples():
                return [gr.skip()] * 3
            address = replace(address, image=event.id, query="")
            strip_value = strip_data(language, word("examples", language), event.id)
            return [address, str(examples()[event.id].path), strip_value]

        def choose_upload(path: str | None, address: Address, language: Language):
            """A file from the visitor; what cannot be read is answered with a sentence and changes nothing."""
            if path is None:
                return gr.skip(), gr.skip()
            try:
                image = keep_upload(path)
            except ExplainedError as error:
                raise gr.Error(error.text.in_(language), print_exception=False) from error
            return replace(address, image=image, query=""), strip_data(language, word("examples", language), "")

        def choose_model(name: str, address: Address, language: Language):
            """Another model; block, head and query start anew."""
            name = (name or "").strip()
            return replace(address, model=name, block="", head="", query=""), model_sentence(name, language)

        wanted = gr.State(Address())
        quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        slow = {
            "concurrency_id": "engine",
            "concurrency_limit": 1,
            "show_progress": "hidden",
            "api_visibility": "private",
            "trigger_mode": "multiple",
        }

        def then_explore(event: gr.events.Dependency) -> None:
            explored = event.success(explore, [wanted, desk.language], outputs, **slow)
            explored.then(
                lambda language: gr.Dropdown(choices=model_choices(language, settings)), desk.language, model, **quick
            )

        started = page.load(
            start,
            None,
            [desk.language, wanted, header, upload, strip, model, sentence, weights, fit, tabs, status],
            **quick,
        )
        then_explore(started)
        then_explore(strip.pick(choose_example, [wanted, desk.language], [wanted, upload, strip], **quick))
        then_explore(upload.input(choose_upload, [upload, wanted, desk.language], [wanted, strip], **quick))
        then_explore(model.input(choose_model, [model, wanted, desk.language], [wanted, sentence], **quick))
        then_explore(weights.input(lambda w, a: replace(a, weights=w), [weights, wanted], wanted, **quick))
        then_explore(fit.input(lambda f, a: replace(a, fit=f, query=""), [fit, wanted], wanted, **quick))
    return page, t


def _progress(engine: Engine, address: Address, language: Language) -> Iterator[StatusData | Explored]:
    """Status lines while the capture is made, then the capture, or a last line that says why there is none."""
    said: list[tuple[Text, float | None]] = []
    job = _jobs.submit(engine.explore, address.picture, lambda text, share: said.append((text, share)))
    while not job.done():
        if said:
            text, share = said[-1]
            yield StatusData(text=text.in_(language), share=share)
        time.sleep(0.1)
    try:
        yield job.result()
    except ExplainedError as error:
        yield StatusData(kind="error", text=f"{error.text.in_(language)} {word('status_failed', language)}")
    except Exception:
        _log.exception("Could not explore %s", address)
        yield StatusData(kind="error", text=word("unexpected", language))


def ready(explored: Explored, address: Address, language: Language) -> StatusData:
    """The line under the header once a capture is there, with the URL that leads back to it."""
    capture = explored.capture
    provenance = capture.provenance
    return StatusData(
        kind="ready",
        text=word(
            "status_ready",
            language,
            model=provenance.model,
            weights=provenance.weights_text,
            height=provenance.input_size[0],
            width=provenance.input_size[1],
            depth=capture.depth,
            ms=1000 * explored.seconds,
        ),
        warning=word("random_warning", language) if provenance.is_random else "",
        address={name: value for name, value in address.parameters().items() if name not in ("room", "head", "query")},
    )
