"""What the page asks the engine for, answered from memory whenever it can be.

torch and timm are imported by the first call, never by the page: the page is open before they are. Whatever runs or
loads a model takes its turn (`turns.py`); captures, models and results are kept in caches that are bounded in bytes and
shared by all visitors, who hold only keys.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vitexplorer.core.cache import BytesCache, Memory
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Fit, Result
from vitexplorer.models.catalog import find
from vitexplorer.service.image_store import open_image
from vitexplorer.service.model_file_words import FILE_WORDS
from vitexplorer.service.scheduler import Turns, end_unwanted_passes
from vitexplorer.service.user_storage import MODEL, UserStorage
from vitexplorer.service.words import SERVICE_WORDS
from vitexplorer.service.work import Report

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.models.loading import LoadedModel
    from vitexplorer.quantities.size_choices import SizeCost

NICE, NICER = 4, 10
"""how much a pass stands behind answers from memory, and many passes behind one"""
SIZES = 1024
"""sizes of models of which the cost is remembered"""


@dataclass(frozen=True)
class Picture:
    """What a capture is a capture of; small enough for a session and a URL."""

    image: str
    """id of an example or an upload"""
    model: str
    weights: Literal["trained", "random"] = "trained"
    fit: Fit = "crop"
    size: str = ""
    """of the input in pixels, `384` or `384x512`; empty for the model's own"""


@dataclass(frozen=True)
class Explored:
    """A capture and how long its forward pass took, in seconds."""

    capture: Capture
    seconds: float


class Engine:
    """Models and captures of one process."""

    def __init__(self, settings: Settings):
        """Args: settings: bounds of the caches, what visitors may do."""
        self._settings = settings
        self.places = UserStorage.of_settings(settings)
        """of trainings and tuned models"""
        self.turns = Turns("model", niceness=NICE, prepare=self._share_processors)
        """at what a page waits for: loading a model, one pass"""
        self.long = Turns("long", niceness=NICER, prepare=self._share_processors)
        """at many passes, beside those and behind them"""
        self.fetching = Turns("fetching", gives_way=False)
        """at the network"""
        self.has_company: Callable[[], bool] = lambda: False
        """whether several pages are open, where somebody knows"""
        self.is_warm = False
        """whether what the first capture needs is imported"""
        self._models: BytesCache[tuple[str, str, str], LoadedModel] = BytesCache(
            settings.model_cache_megabytes << 20,
            weights_of,
        )
        self.memory = Memory(settings.capture_cache_megabytes << 20)
        """of captures and of all that is made of them"""
        self._captures: BytesCache[Picture, Explored] = BytesCache(
            self.memory, lambda explored: explored.capture.nbytes
        )
        self._changed: BytesCache[tuple[Picture, str], Capture] = BytesCache(
            self.memory, lambda capture: capture.nbytes
        )
        self._sizes: BytesCache[tuple[str, str], tuple[SizeCost, ...]] = BytesCache(SIZES, len)
        self._results: BytesCache[tuple, Result] = BytesCache(self.memory, size_of)
        self._previews: BytesCache[tuple[Hashable, str], bytes] = BytesCache(self.memory, len)

    @property
    def caches(self) -> dict[str, BytesCache]:
        """What is kept to answer from, by what it is."""
        return {
            "models": self._models,
            "captures": self._captures,
            "changed": self._changed,
            "results": self._results,
            "previews": self._previews,
        }

    @property
    def queues(self) -> dict[str, Turns]:
        """What is waited for, by what it is."""
        return {"model": self.turns, "long": self.long, "fetching": self.fetching}

    def _share_processors(self) -> None:
        """Let this thread's passes leave one processor to everybody else; a visitor alone has all of them.

        Threads of one pass wait for one another after each of its steps: where others take a processor, a pass on all
        of them takes three times as long as on all but one.
        """
        if (torch := sys.modules.get("torch")) is not None:
            all_of_them = self._threads_of_torch  # before any of this thread's passes has fewer
            others = self.has_company() or sum(map(len, self.queues.values())) > 1
            torch.set_num_threads(max(1, all_of_them - 1) if others else all_of_them)

    @cached_property
    def _threads_of_torch(self) -> int:
        """How many a pass takes by itself: the processors, or what OMP_NUM_THREADS says."""
        import torch

        return torch.get_num_threads()

    def leave(self, visitor: str, wants: str | None = None, before: int | None = None) -> None:
        """As `Turns.leave`, of all kinds."""
        for turns in self.queues.values():
            turns.leave(visitor, wants, before)

    def warm(self) -> None:
        """Import what the first capture needs."""
        import vitexplorer.capturing.capture
        import vitexplorer.figures
        import vitexplorer.views  # noqa: F401

        end_unwanted_passes()
        self.is_warm = True

    def kept(self, picture: Picture) -> Explored | None:
        """The capture of a picture where it is in memory."""
        return self._captures.get(picture)

    def explore(self, picture: Picture) -> Explored:
        """The capture of a picture: from memory, or by loading the model and running it once.

        Raises ExplainedError (an image, model, setting or download that a person can mend), and as `Turns.need`.
        """
        return self.turns.kept(self._captures, picture, partial(self._run, picture))

    def capture(self, picture: Picture) -> Capture:
        """`explore` for a picture that was explored before; it runs again only if the cache had to let go of it."""
        return self.explore(picture).capture

    def changed(self, picture: Picture, changes: str) -> Capture:
        """The changed run of a picture, from memory or by one pass; the plain one where no change is named.

        Raises ExplainedError for changes that are not possible, and as `explore`.
        """
        plain = self.capture(picture)
        if not changes:
            return plain
        from vitexplorer.interventions import intervene

        return self.turns.kept(self._changed, (picture, changes), lambda _: intervene(plain, changes))

    def compute(
        self,
        run: Hashable,
        capture: Capture,
        view: str,
        given: Mapping[str, Any],
    ) -> Result:
        """A view of a capture; one that runs the model is remembered.

        Args:
            run: what the capture is a capture of: a picture, or a picture with its changes.
            capture: the run itself.
            view: a key of `views()`.
            given: settings, see `vx.compute`, which says what is raised; and as `Turns.need`.
        """
        from vitexplorer.views import VIEWS, compute

        given = self.resolved(run, given)
        runs = VIEWS[view].runs
        if runs == "nothing":
            return self._seen(run, compute(view, capture, **given))
        settings = VIEWS[view].settings(capture, given)
        result = self.remembered(
            self.long if runs == "many" else self.turns,
            (run, view, *settings.items()),
            lambda report: compute(view, capture, progress=report, **settings),
        )
        return self._seen(run, result)

    def known(self, run: Hashable, capture: Capture, view: str) -> Result | None:
        """A view of a run at its default settings, if it was computed and is still kept."""
        from vitexplorer.views import VIEWS, refusal

        if refusal(view, capture) is not None:
            return None
        return self._results.get((run, view, *VIEWS[view].settings(capture, {}).items()))

    def resolved(self, run: Hashable, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Settings with the other images that they name, as the same model sees them. Raises as `explore`."""
        from vitexplorer.controls import NamedCapture, like_capture, likeness, named_images

        plain, change = run[:2] if isinstance(run, tuple) else (run, "")
        if not isinstance(plain, Picture):
            return given
        if names := named_images(given.get("images")):
            seen = [NamedCapture(name, self.changed(replace(plain, image=name), change)) for name in names]
            given = {**given, "images": seen}
        if found := likeness(given.get("target")):
            image, patch = found
            given = {**given, "target": like_capture(image, self.capture(replace(plain, image=image)), patch)}
        return given

    def compare(
        self, run: Hashable, left: Capture, right: Capture, comparison: str, given: Mapping[str, Any]
    ) -> Result:
        """A comparison of two captures; one that runs a model is remembered. Raises as `compute`."""
        from vitexplorer.comparisons import COMPARISONS, compare

        record, given = COMPARISONS[comparison], self.resolved(run, given)
        if record.runs == "nothing":
            return self._seen(run, compare(comparison, left, right, **given))
        settings = record.settings(left, given)
        key = (run, comparison, *settings.items())
        return self._seen(run, self.remembered(self.turns, key, lambda _: compare(comparison, left, right, **settings)))

    def remembered(self, turns: Turns, key: Hashable, make: Callable[[Report], Result]) -> Result:
        """A result that is kept, made in one of these turns where it is not. Raises as `make` and `Turns.need`."""
        return turns.kept(self._results, key, make)

    def _seen(self, run: Hashable, result: Result) -> Result:
        """The first result of a view that is computed of a run also is its preview."""
        from vitexplorer.figures.previews import preview

        if self._previews.get((run, result.view)) is None:
            self._previews.put((run, result.view), preview(result) or b"")
        return result

    def preview(self, run: Hashable, view: str) -> bytes | None:
        """A PNG of a view of a run; None where it was not computed, empty where there is no such picture."""
        return self._previews.get((run, view))

    def _run(self, picture: Picture, report: Report) -> Explored:
        report(0, 0, SERVICE_WORDS["status_engine"])
        self.warm()
        from vitexplorer.capturing.capture import capture

        image = open_image(picture.image)
        model = self._model(picture, report)
        report(0, 0, SERVICE_WORDS["status_run"].format(model=model.name))
        start = time.perf_counter()
        return Explored(capture(model, image, picture.fit), time.perf_counter() - start)

    def model(self, name: str, weights: Literal["trained", "random"] = "trained") -> LoadedModel:
        """A model by the name that an address has, from memory where it is kept. Raises as `explore`."""
        picture = Picture("", name, weights)
        return self.turns.kept(self._models, (name, weights, ""), partial(self._load, picture))

    def size_choices(self, name: str, weights: Literal["trained", "random"] = "trained") -> tuple[SizeCost, ...]:
        """Input sizes that a model can take with what each costs, its own first. Raises as `explore`."""
        costs = self._sizes.get((name, weights))
        if costs is None:
            from vitexplorer.quantities.size_choices import size_choices

            costs = size_choices(self.model(name, weights))
            self._sizes.put((name, weights), costs)
        return costs

    def keep(self, name: str, model: LoadedModel) -> None:
        """A model that was loaded already, under the name that an address has."""
        self._models.put((name, "trained", ""), model)

    def loaded(self, picture: Picture) -> LoadedModel | None:
        """The model of a picture at its own size, where it is in memory."""
        return self._models.get((picture.model, picture.weights, ""))

    def is_own_size(self, picture: Picture) -> bool:
        """Whether the size that a picture names is its model's own, so far as that is known: the model is in memory."""
        model = self.loaded(picture) if picture.size else None
        if model is None:
            return False
        from vitexplorer.models.input_size import sides

        return sides(picture.size) == tuple(model.preprocessing.input_size)

    def base_of(self, picture: Picture) -> Picture:
        """The model that a tuned one was made from; any other is its own. Raises WeightsError for one that is gone."""
        file = self.places.file_of(picture.model)
        if file is None:
            return picture
        from vitexplorer.models.about import about

        said = about(file)
        if said is None:
            return Picture("", picture.model)
        base = said.base
        return Picture("", base.model, "random" if base.weights == "random" else "trained")

    def _tuned(self, picture: Picture, report: Report) -> LoadedModel | None:
        """The model of a file, of a tuned one on the base that is in memory where there is one; None for other names.

        Raises WeightsError for one that is gone.
        """
        if not picture.model.startswith(MODEL):
            return None
        from vitexplorer.finetune.storing import load_tuned, no_longer_there
        from vitexplorer.models.about import about
        from vitexplorer.models.loading import load_backbone

        file = self.places.file_of(picture.model)
        if file is None:
            raise no_longer_there()
        said = about(file)
        if said is None:
            return opened_file(file, report)
        base = said.base
        if base.weights in ("bundled", "pretrained") and not said.merged:
            return load_tuned(file, self.model(base.model))
        if not (said.merged and self.holds(file, base.model)):
            self.check_allowed(Picture("", base.model, "random"))
        return load_backbone(base.model, file) if said.merged else load_tuned(file)

    def holds(self, file: Path, architecture: str) -> bool:
        """Whether a file has all tensors of an architecture: what is built for it is no larger than what was sent."""
        from vitexplorer.models.checkpoints.contents import tensors_in
        from vitexplorer.models.checkpoints.fits import fitting, fitting_shapes
        from vitexplorer.storage.checked_reading import read_header

        safe = file.is_file() and file.suffix.lower() == ".safetensors"
        return architecture in (fitting_shapes(read_header(file).shapes) if safe else fitting(tensors_in(file)))

    def _model(self, picture: Picture, report: Report) -> LoadedModel:
        """The model at the size of a picture; it shares the weights of the one at its own size while that is kept."""
        own = self.model(picture.model, picture.weights)
        if not picture.size:
            return own
        from vitexplorer.models.input_size import at_size

        key = (picture.model, picture.weights, picture.size)
        sized = self._models.get(key)
        if sized is None or sized.unsized is not own:
            sized = at_size(own, picture.size)
            if sized is not own:
                self._models.put(key, sized)
        return sized

    def _load(self, picture: Picture, report: Report) -> LoadedModel:
        from vitexplorer.models.loading import load_backbone

        if (tuned := self._tuned(picture, report)) is not None:
            return tuned
        self.check_allowed(picture)
        self._fetch(picture)
        report(0, 0, SERVICE_WORDS["status_load"].format(model=picture.model))
        return load_backbone(picture.model, weights="random" if picture.weights == "random" else "auto")

    def _fetch(self, picture: Picture) -> None:
        """The weights of a model are on this machine; or nowhere, which is said by whoever loads them."""
        from vitexplorer.models.hub import download_pretrained, pretrained_state

        entry = find(picture.model)
        bundled = entry is not None and entry.bundled
        if bundled or picture.weights == "random" or pretrained_state(picture.model).kind != "download":
            return

        def work(report: Report) -> None:
            def told(done: int, total: int) -> None:
                said = SERVICE_WORDS["status_download"]
                report(done, total, said.format(model=picture.model, done=done / 1e6, total=total / 1e6))

            download_pretrained(picture.model, progress=told)

        self.fetching.need(picture.model, work)

    def check_allowed(self, picture: Picture) -> None:
        """Raises ExplainedError for a model or weights that visitors may not load."""
        entry = find(picture.model)
        if entry is None and not self._settings.any_model:
            raise ExplainedError(
                Text(
                    "This installation offers the listed models only; {model} is not among them.",
                    "此处只提供列表中的模型，{model} 不在其中。",
                ).format(model=picture.model)
            )
        bundled = entry is not None and entry.bundled
        if picture.weights == "trained" and not bundled and not self._settings.downloads:
            raise ExplainedError(
                Text(
                    "This installation does not fetch weights; choose a bundled model, or random weights.",
                    "此处不下载权重；请选择内置模型或随机权重。",
                )
            )


def opened_file(path: Path, report: Report) -> LoadedModel:
    """Whatever model a file, a folder or a zip of one holds, told from its tensors. Raises ExplainedError."""
    from vitexplorer.models.loading import load_model

    name = path.name
    report(0, 0, FILE_WORDS["status_read"].format(file=name))

    def told(done: int, total: int) -> None:
        said = FILE_WORDS["status_unpack"].format(file=name, done=done / 1e6, total=total / 1e6)
        report(done, total, said)
        if done == total:
            report(0, 0, FILE_WORDS["status_read"].format(file=name))

    return load_model(weights=path, progress=told)


def weights_of(model: LoadedModel) -> int:
    """Bytes of a model's parameters, without those that it shares with itself at its own size."""
    shared = {id(parameter) for parameter in model.unsized.module.parameters()} if model.unsized else set()
    return sum(p.numel() * p.element_size() for p in model.module.parameters() if id(p) not in shared)


def size_of(result: Result) -> int:
    """Bytes of a result's numbers."""
    return sum(part.nbytes for part in vars(result).values() if isinstance(part, np.ndarray))
