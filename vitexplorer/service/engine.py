"""Models, captures and results of one process, answered from memory if possible.

The first call imports torch and timm, the page never does: it is open before they are loaded. Every load or run of a
model is awaited as a job (`scheduler.py`). Captures, models and results are cached within a bound on bytes, shared by
all visitors, who hold only keys. A job never awaits another job: the engine awaits what it needs first. A job loads the
model that it runs, so there are never more models in use than jobs that may have begun.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from vitexplorer.core.cache import BytesCache, Memory
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Fit, Result
from vitexplorer.models.catalog import find, title_of
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.image_store import open_image
from vitexplorer.service.jobs import Report
from vitexplorer.service.model_file_words import FILE_WORDS
from vitexplorer.service.scheduler import Scheduler, end_unwanted_passes
from vitexplorer.service.user_storage import MODEL, UserStorage
from vitexplorer.service.words import SERVICE_WORDS

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.models.loading import LoadedModel
    from vitexplorer.quantities.size_choices import SizeCost
    from vitexplorer.views.record import View

T = TypeVar("T")
NICE, NICER = 4, 10
"""Niceness of threads: a single pass yields to answers from memory, many passes yield to a single one"""
SIZES = 1024
"""Most input sizes whose cost is cached"""


@dataclass(frozen=True)
class Picture:
    """Identity of a capture; small enough for a session and a URL."""

    image: str
    """Name of an example or an upload"""
    model: str
    weights: Literal["trained", "random"] = "trained"
    fit: Fit = "crop"
    size: str = ""
    """Size of the input in pixels, `384` or `384x512`; empty for the model's own"""


@dataclass(frozen=True)
class TimedCapture:
    """A capture and the duration of its forward pass in seconds."""

    capture: Capture
    seconds: float


class Engine:
    """Models and captures of one process.

    Its coroutines raise ExplainedError for an image, model, setting or download that the user can correct, and
    StoppedError where the visitor let go of the job, or has left.
    """

    def __init__(self, settings: Settings):
        """Start without models; the settings bound the caches, and say what visitors may load."""
        self._settings = settings
        self.places = UserStorage.of_settings(settings)
        """Storage of trainings and tuned models"""
        self.short = Scheduler("model", niceness=NICE, prepare=self._share_processors)
        """Scheduler of work that a page waits for: loading a model, one pass"""
        self.long = Scheduler("long", niceness=NICER, prepare=self._share_processors)
        """Scheduler of many passes, which run beside single ones at a lower priority"""
        self.fetching = Scheduler("fetching", gives_way=False)
        """Scheduler of downloads"""
        self.has_company: Callable[[], bool] = lambda: False
        """Returns True if several pages are open; set by the page's server"""
        self.is_warm = False
        """True once the imports of the first capture are done"""
        models = settings.model_cache_megabytes << 20
        self._models: BytesCache[tuple[str, str, str], LoadedModel] = BytesCache(models, weights_of)
        self.memory = Memory(settings.capture_cache_megabytes << 20)
        """Memory shared by captures and everything computed from them"""
        self._captures: BytesCache[Picture, TimedCapture] = BytesCache(self.memory, lambda entry: entry.capture.nbytes)
        self._changed: BytesCache[tuple[Picture, str], Capture] = BytesCache(
            self.memory, lambda capture: capture.nbytes
        )
        self._sizes: BytesCache[tuple[str, str], tuple[SizeCost, ...]] = BytesCache(SIZES, len)
        self._results: BytesCache[tuple, Result] = BytesCache(self.memory, size_of)
        self._previews: BytesCache[tuple[Hashable, str], bytes] = BytesCache(self.memory, len)

    @property
    def caches(self) -> dict[str, BytesCache]:
        """Caches of the answers, by name."""
        return {
            "models": self._models,
            "captures": self._captures,
            "changed": self._changed,
            "results": self._results,
            "previews": self._previews,
        }

    @property
    def queues(self) -> dict[str, Scheduler]:
        """Schedulers by the kind of their work."""
        return {"model": self.short, "long": self.long, "fetching": self.fetching}

    def _share_processors(self) -> None:
        """Leave one processor of this thread's passes to others; a lone visitor's passes use all of them.

        The threads of a pass wait for each other after each step. If others take a processor, a pass on all processors
        takes three times as long as a pass on all but one.
        """
        if (torch := sys.modules.get("torch")) is not None:
            all_of_them = self._threads_of_torch  # read before this thread reduces its number
            others = self.has_company() or sum(map(len, self.queues.values())) > 1
            torch.set_num_threads(max(1, all_of_them - 1) if others else all_of_them)

    @cached_property
    def _threads_of_torch(self) -> int:
        """Number of threads that a pass takes by default: all processors, or OMP_NUM_THREADS."""
        import torch

        return torch.get_num_threads()

    def leave(self, visitor: str, wants: str | None = None, before: int | None = None) -> None:
        """Let go of jobs in all schedulers, see `Scheduler.leave`."""
        for scheduler in self.queues.values():
            scheduler.leave(visitor, wants, before)

    def warm(self) -> None:
        """Import what the first capture needs."""
        import vitexplorer.capturing.capture
        import vitexplorer.figures
        import vitexplorer.views  # noqa: F401

        end_unwanted_passes()
        self.is_warm = True

    def cached_capture(self, picture: Picture) -> TimedCapture | None:
        """Return the capture of a picture if it is in memory."""
        return self._captures.get(picture)

    async def explore(self, picture: Picture) -> TimedCapture:
        """Return the capture of a picture: from memory, or by loading the model and running it once."""
        entry = self._captures.get(picture)
        if entry is None:
            await self.fetch(picture)
            entry = await self.short.cached(self._captures, picture, partial(self._run, picture))
        return entry

    async def capture(self, picture: Picture) -> Capture:
        """Return the capture of `explore`."""
        return (await self.explore(picture)).capture

    async def changed(self, picture: Picture, changes: str) -> Capture:
        """Return the changed run of a picture, from memory or by one pass; the plain run if `changes` is empty."""
        plain = await self.capture(picture)
        if not changes:
            return plain
        from vitexplorer.interventions import intervene

        return await self.short.cached(self._changed, (picture, changes), lambda _: intervene(plain, changes))

    async def compute(self, run: Hashable, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute a view of a capture; results of views that run the model are cached.

        Args:
            run: identity of the capture: a picture, or a picture with its changes.
            capture: the run itself.
            view: a key of `views()`.
            given: settings, see `vx.compute`.
        """
        from vitexplorer.views import VIEWS, compute

        def make(settings: Mapping[str, Any], report: Report | None = None) -> Result:
            return compute(view, capture, progress=report, **settings)

        return await self._result(run, view, VIEWS[view], capture, given, make)

    def known(
        self, run: Hashable, capture: Capture, view: str, given: Mapping[str, Any] = MappingProxyType({})
    ) -> Result | None:
        """Return a view of a run if it is still cached, by default at its default settings."""
        from vitexplorer.views import VIEWS, refusal

        if refusal(view, capture) is not None:
            return None
        return self._results.get((run, view, *VIEWS[view].settings(capture, given).items()))

    async def resolved(self, run: Hashable, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings with captures, by the same model, of the other images that they name."""
        from vitexplorer.controls import NamedCapture, like_capture, likeness, named_images

        plain, change = run[:2] if isinstance(run, tuple) else (run, "")
        if not isinstance(plain, Picture):
            return given
        if names := named_images(given.get("images")):
            seen = [NamedCapture(name, await self.changed(replace(plain, image=name), change)) for name in names]
            given = {**given, "images": seen}
        if similar := likeness(given.get("target")):
            image, patch = similar
            given = {**given, "target": like_capture(image, await self.capture(replace(plain, image=image)), patch)}
        return given

    async def compare(
        self, run: Hashable, left: Capture, right: Capture, comparison: str, given: Mapping[str, Any]
    ) -> Result:
        """Compare two captures; results of comparisons that run a model are cached."""
        from vitexplorer.comparisons import COMPARISONS, compare

        def make(settings: Mapping[str, Any], report: Report | None = None) -> Result:
            return compare(comparison, left, right, **settings)

        return await self._result(run, comparison, COMPARISONS[comparison], left, given, make)

    async def _result(
        self,
        run: Hashable,
        key: str,
        record: View | Comparison,
        capture: Capture,
        given: Mapping[str, Any],
        make: Callable[..., Result],
    ) -> Result:
        """Return `make(settings, report)` and store its preview; a result that took a run of the model is cached."""
        from vitexplorer.controls import sharpens

        given = await self.resolved(run, given)
        runs = "many" if sharpens(given) else record.runs
        if runs == "nothing":
            return await in_thread(lambda: self._with_preview(run, make(given)))
        settings = await in_thread(record.settings, capture, given)
        scheduler = self.long if runs == "many" else self.short
        result = await self.remembered(scheduler, (run, key, *settings.items()), partial(make, settings))
        return self._with_preview(run, result)

    async def remembered(self, scheduler: Scheduler, key: Hashable, make: Callable[[Report], Result]) -> Result:
        """Return a cached result, or make it in a turn of `scheduler`."""
        return await scheduler.cached(self._results, key, make)

    def _with_preview(self, run: Hashable, result: Result) -> Result:
        """Store the preview of a view's first result for a run, and return the result."""
        from vitexplorer.figures.previews import preview

        self._previews.get_or_make((run, result.view), lambda: preview(result) or b"")
        return result

    def preview(self, run: Hashable, view: str) -> bytes | None:
        """Return a PNG of a view of a run; None if it was not computed, empty if it has no preview."""
        return self._previews.get((run, view))

    def _run(self, picture: Picture, report: Report) -> TimedCapture:
        report(0, 0, SERVICE_WORDS["status_engine"])
        self.warm()
        from vitexplorer.capturing.capture import capture

        image = open_image(picture.image)
        model = self._sized(picture, report)
        report(0, 0, SERVICE_WORDS["status_run"].format(model=model.title))
        start = time.perf_counter()
        return TimedCapture(capture(model, image, picture.fit), time.perf_counter() - start)

    async def model(self, name: str, weights: Literal["trained", "random"] = "trained") -> LoadedModel:
        """Return a model by its name in an address, from memory if it is there."""
        picture = Picture("", name, weights)
        loaded = self.loaded(picture)
        return loaded or await self.with_model(("model", name, weights), picture, lambda model, _: model)

    async def with_model(
        self, key: Hashable, picture: Picture, work: Callable[[LoadedModel, Report], T], is_long: bool = False
    ) -> T:
        """Run a job on the model of a picture at its own size, of many passes where `is_long`."""

        def run(report: Report) -> T:
            self.warm()
            return work(self._own_size(picture, report), report)

        await self.fetch(picture)
        return await (self.long if is_long else self.short).run(key, run)

    async def size_choices(self, name: str, weights: Literal["trained", "random"] = "trained") -> tuple[SizeCost, ...]:
        """Return the input sizes that a model takes, with their costs, its own size first."""
        costs = self._sizes.get((name, weights))
        if costs is None:
            from vitexplorer.quantities.size_choices import size_choices

            costs = await in_thread(size_choices, await self.model(name, weights))
            self._sizes.put((name, weights), costs)
        return costs

    def keep(self, name: str, model: LoadedModel) -> None:
        """Store a model that is already loaded, under its name in an address."""
        self._models.put((name, "trained", ""), model)

    def loaded(self, picture: Picture) -> LoadedModel | None:
        """Return the model of a picture at its own size if it is in memory."""
        return self._models.get((picture.model, picture.weights, ""))

    def is_own_size(self, picture: Picture) -> bool:
        """Return True if a picture names its model's own size; False also if the model is not in memory."""
        model = self.loaded(picture) if picture.size else None
        if model is None:
            return False
        from vitexplorer.models.input_size import sides

        return sides(picture.size) == tuple(model.preprocessing.input_size)

    def base_of(self, picture: Picture) -> Picture:
        """Return the model that a tuned one was made from, or the model itself where it is not tuned, or is gone."""
        file = self.places.file_of(picture.model)
        if file is None:
            return picture
        from vitexplorer.models.about import about

        description = about(file)
        if description is None:
            return Picture("", picture.model)
        base = description.base
        return Picture("", base.model, "random" if base.weights == "random" else "trained")

    def _load_file(self, picture: Picture, report: Report) -> LoadedModel:
        """Load the model of a file, a tuned one on its base; WeightsError where the file is gone."""
        from vitexplorer.finetune.storing import deleted_model_error, load_tuned
        from vitexplorer.models.about import about
        from vitexplorer.models.loading import load_backbone

        file = self.places.file_of(picture.model)
        if file is None:
            raise deleted_model_error()
        description = about(file)
        if description is None:
            return opened_file(file, report)
        base = description.base
        if base.weights in ("bundled", "pretrained") and not description.merged:
            return load_tuned(file, self._own_size(Picture("", base.model), report))
        if not (description.merged and self.holds(file, base.model)):
            self.check_allowed(Picture("", base.model, "random"))
        return load_backbone(base.model, file) if description.merged else load_tuned(file)

    def holds(self, file: Path, architecture: str) -> bool:
        """Return True if a file has all tensors of an architecture, so the model is no larger than the upload."""
        from vitexplorer.models.checkpoints.contents import tensors_in
        from vitexplorer.models.checkpoints.fits import fitting, fitting_shapes
        from vitexplorer.storage.checked_reading import read_header

        safe = file.is_file() and file.suffix.lower() == ".safetensors"
        return architecture in (fitting_shapes(read_header(file).shapes) if safe else fitting(tensors_in(file)))

    def _own_size(self, picture: Picture, report: Report) -> LoadedModel:
        """Return the model at its own size within a job of `short`, from memory if it is there."""
        if (model := self.loaded(picture)) is None:
            report(0, 0, SERVICE_WORDS["status_load"].format(model=title_of(picture.model)))
            model = self.loaded(picture)  # another job may have loaded it during the report
        if model is None:
            model = self._load_file(picture, report) if picture.model.startswith(MODEL) else self._of_timm(picture)
            self._models.put((picture.model, picture.weights, ""), model)
        return model

    def _sized(self, picture: Picture, report: Report) -> LoadedModel:
        """Return the model at the size of a picture; it shares weights with the model at its own size if possible."""
        own = self._own_size(picture, report)
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

    def _of_timm(self, picture: Picture) -> LoadedModel:
        from vitexplorer.models.loading import load_backbone

        self.check_allowed(picture)
        return load_backbone(picture.model, weights="random" if picture.weights == "random" else "auto")

    async def fetch(self, picture: Picture) -> None:
        """Download the weights of a model, or of its base, unless they are in memory or on this machine.

        Weights that exist nowhere raise an error only when they are loaded.
        """
        entry, is_file = find(picture.model), picture.model.startswith(MODEL)
        needs_none = picture.weights == "random" or (entry is not None and entry.bundled)
        if self.loaded(picture) is not None or (needs_none and not is_file):
            return
        missing = await self.short.run(("missing", picture.model), partial(self._missing_weights, picture.model))
        if missing:
            await self.fetching.run(missing, partial(_download, missing))

    def _missing_weights(self, name: str, report: Report) -> str:
        """Name the model whose weights must be downloaded before this one can be loaded; empty for none."""
        report(0, 0, SERVICE_WORDS["status_engine"])
        self.warm()
        from vitexplorer.models.about import about
        from vitexplorer.models.hub import pretrained_state

        if name.startswith(MODEL):
            file = self.places.file_of(name)
            description = about(file) if file is not None else None
            if description is None or description.merged or description.base.weights not in ("bundled", "pretrained"):
                return ""
            name = description.base.model
        entry = find(name)
        if (entry is not None and entry.bundled) or self.loaded(Picture("", name)) is not None:
            return ""
        self.check_allowed(Picture("", name))
        return name if pretrained_state(name).kind == "download" else ""

    def check_allowed(self, picture: Picture) -> None:
        """Raise ExplainedError where visitors may not load a model or its weights here."""
        entry = find(picture.model)
        if entry is None and not self._settings.any_model:
            raise ExplainedError(_NOT_LISTED.format(model=picture.model))
        bundled = entry is not None and entry.bundled
        if picture.weights == "trained" and not bundled and not self._settings.downloads:
            raise ExplainedError(_NOT_FETCHED)


_NOT_LISTED = Text(
    "This installation offers the listed models only; {model} is not among them.",
    "此处只提供列表中的模型，{model} 不在其中。",
)
_NOT_FETCHED = Text(
    "This installation does not fetch weights; choose a bundled model, or random weights.",
    "此处不下载权重；请选择内置模型或随机权重。",
)


def _download(model: str, report: Report) -> None:
    from vitexplorer.models.hub import download_pretrained

    def show_progress(done: int, total: int) -> None:
        text = SERVICE_WORDS["status_download"].format(model=model, done=done / 1e6, total=total / 1e6)
        report(done, total, text)

    download_pretrained(model, progress=show_progress)


def opened_file(path: Path, report: Report) -> LoadedModel:
    """Load the model in a file, a folder or a zip, recognised by its tensors; ExplainedError for any other file."""
    from vitexplorer.models.loading import load_model

    name = path.name
    report(0, 0, FILE_WORDS["status_read"].format(file=name))

    def show_progress(done: int, total: int) -> None:
        text = FILE_WORDS["status_unpack"].format(file=name, done=done / 1e6, total=total / 1e6)
        report(done, total, text)
        if done == total:
            report(0, 0, FILE_WORDS["status_read"].format(file=name))

    return load_model(weights=path, progress=show_progress)


def weights_of(model: LoadedModel) -> int:
    """Return the bytes of a model's parameters, without those shared with the model at its own size."""
    shared = {id(parameter) for parameter in model.unsized.module.parameters()} if model.unsized else set()
    return sum(p.numel() * p.element_size() for p in model.module.parameters() if id(p) not in shared)


def size_of(result: Result) -> int:
    """Return the bytes of a result's numbers."""
    return sum(part.nbytes for part in vars(result).values() if isinstance(part, np.ndarray))
