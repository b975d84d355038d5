"""What the page asks the engine for, answered from memory whenever it can be.

torch and timm are imported by the first call, never by the page: the page is open before they are. Whatever runs or
loads a model is awaited as a job (`scheduler.py`); captures, models and results are kept in caches that are bounded in
bytes and shared by all visitors, who hold only keys. What a job needs of another one is awaited before it is asked for.
A model is loaded by the very job that runs it: so no more models are held than jobs may have begun.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from vitexplorer.core.cache import BytesCache, Memory
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Fit, Result
from vitexplorer.models.catalog import find
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.image_store import open_image
from vitexplorer.service.jobs import Report
from vitexplorer.service.model_file_words import FILE_WORDS
from vitexplorer.service.scheduler import Scheduler, end_unwanted_passes
from vitexplorer.service.user_storage import MODEL, UserStorage
from vitexplorer.service.words import SERVICE_WORDS

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.models.loading import LoadedModel
    from vitexplorer.quantities.size_choices import SizeCost

T = TypeVar("T")
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
        self.short = Scheduler("model", niceness=NICE, prepare=self._share_processors)
        """of what a page waits for: loading a model, one pass"""
        self.long = Scheduler("long", niceness=NICER, prepare=self._share_processors)
        """of many passes, beside those and behind them"""
        self.fetching = Scheduler("fetching", gives_way=False)
        """of downloads"""
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
    def queues(self) -> dict[str, Scheduler]:
        """The schedulers, by what is waited for."""
        return {"model": self.short, "long": self.long, "fetching": self.fetching}

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

    def kept(self, picture: Picture) -> Explored | None:
        """The capture of a picture where it is in memory."""
        return self._captures.get(picture)

    async def explore(self, picture: Picture) -> Explored:
        """Return the capture of a picture: from memory, or by loading the model and running it once.

        Raises:
            ExplainedError: an image, model, setting or download that a person can mend; see also `Scheduler.run`.
        """
        found = self._captures.get(picture)
        if found is None:
            await self.fetch(picture)
            found = await self.short.cached(self._captures, picture, partial(self._run, picture))
        return found

    async def capture(self, picture: Picture) -> Capture:
        """Return what `explore` does, without the time; it runs again only if the cache had to let go of it."""
        return (await self.explore(picture)).capture

    async def changed(self, picture: Picture, changes: str) -> Capture:
        """Return the changed run of a picture, from memory or by one pass; the plain one where no change is named.

        Raises ExplainedError for changes that are not possible, and as `explore`.
        """
        plain = await self.capture(picture)
        if not changes:
            return plain
        from vitexplorer.interventions import intervene

        return await self.short.cached(self._changed, (picture, changes), lambda _: intervene(plain, changes))

    async def compute(self, run: Hashable, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute a view of a capture; one that runs the model is remembered.

        Args:
            run: what the capture is a capture of: a picture, or a picture with its changes.
            capture: the run itself.
            view: a key of `views()`.
            given: settings, see `vx.compute`, which says what is raised; and as `explore`.
        """
        from vitexplorer.views import VIEWS, compute

        given = await self.resolved(run, given)
        runs = VIEWS[view].runs
        if runs == "nothing":
            return await in_thread(lambda: self._seen(run, compute(view, capture, **given)))
        settings = await in_thread(VIEWS[view].settings, capture, given)
        result = await self.remembered(
            self.long if runs == "many" else self.short,
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

    async def resolved(self, run: Hashable, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings with the other images that they name, as the same model sees them. Raises as `explore`."""
        from vitexplorer.controls import NamedCapture, like_capture, likeness, named_images

        plain, change = run[:2] if isinstance(run, tuple) else (run, "")
        if not isinstance(plain, Picture):
            return given
        if names := named_images(given.get("images")):
            seen = [NamedCapture(name, await self.changed(replace(plain, image=name), change)) for name in names]
            given = {**given, "images": seen}
        if found := likeness(given.get("target")):
            image, patch = found
            given = {**given, "target": like_capture(image, await self.capture(replace(plain, image=image)), patch)}
        return given

    async def compare(
        self, run: Hashable, left: Capture, right: Capture, comparison: str, given: Mapping[str, Any]
    ) -> Result:
        """Compare two captures; a comparison that runs a model is remembered. Raises as `compute`."""
        from vitexplorer.comparisons import COMPARISONS, compare

        record, given = COMPARISONS[comparison], await self.resolved(run, given)
        if record.runs == "nothing":
            return await in_thread(lambda: self._seen(run, compare(comparison, left, right, **given)))
        settings = await in_thread(record.settings, left, given)
        key = (run, comparison, *settings.items())
        make = partial(compare, comparison, left, right, **settings)
        return self._seen(run, await self.remembered(self.short, key, lambda _: make()))

    async def remembered(self, scheduler: Scheduler, key: Hashable, make: Callable[[Report], Result]) -> Result:
        """Return a result that is kept, made in a turn of `scheduler` where it is not. Raises as `make` and `run`."""
        return await scheduler.cached(self._results, key, make)

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
        model = self._sized(picture, report)
        report(0, 0, SERVICE_WORDS["status_run"].format(model=model.name))
        start = time.perf_counter()
        return Explored(capture(model, image, picture.fit), time.perf_counter() - start)

    async def model(self, name: str, weights: Literal["trained", "random"] = "trained") -> LoadedModel:
        """Return a model by the name that an address has, from memory where it is kept. Raises as `explore`."""
        picture = Picture("", name, weights)
        found = self.loaded(picture)
        return found if found is not None else await self.with_model(("model", name, weights), picture, _itself)

    async def with_model(self, key: Hashable, picture: Picture, work: Callable[[LoadedModel, Report], T]) -> T:
        """Run a job that works on the model of a picture at its own size. Raises as `explore` and `work`."""

        def run(report: Report) -> T:
            self.warm()
            return work(self._own_size(picture, report), report)

        await self.fetch(picture)
        return await self.short.run(key, run)

    async def size_choices(self, name: str, weights: Literal["trained", "random"] = "trained") -> tuple[SizeCost, ...]:
        """Return input sizes that a model can take with what each costs, its own first. Raises as `explore`."""
        costs = self._sizes.get((name, weights))
        if costs is None:
            from vitexplorer.quantities.size_choices import size_choices

            costs = await in_thread(size_choices, await self.model(name, weights))
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

    def _tuned(self, picture: Picture, report: Report) -> LoadedModel:
        """Load the model of a file, of a tuned one on the base that is in memory where there is one.

        Raises WeightsError for one that is gone.
        """
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
            return load_tuned(file, self._own_size(Picture("", base.model), report))
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

    def _own_size(self, picture: Picture, report: Report) -> LoadedModel:
        """Return the model at its own size in a job of `short`, from memory where it is kept."""
        if (model := self.loaded(picture)) is None:
            report(0, 0, SERVICE_WORDS["status_load"].format(model=picture.model))
            model = self.loaded(picture)  # a job that had its turn meanwhile may have loaded it
        if model is None:
            model = self._tuned(picture, report) if picture.model.startswith(MODEL) else self._of_timm(picture)
            self._models.put((picture.model, picture.weights, ""), model)
        return model

    def _sized(self, picture: Picture, report: Report) -> LoadedModel:
        """Return the model at the size of a picture; it shares weights with the one at its own size while it can."""
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
        """Download the weights of a model that is not in memory, or of its base, unless they are on this machine.

        Weights that are nowhere are a mistake that whoever loads them raises.
        """
        entry, is_file = find(picture.model), picture.model.startswith(MODEL)
        needs_none = picture.weights == "random" or (entry is not None and entry.bundled)
        if self.loaded(picture) is not None or (needs_none and not is_file):
            return
        missing = await self.short.run(("missing", picture.model), partial(self._missing, picture.model))
        if missing:
            await self.fetching.run(missing, partial(_download, missing))

    def _missing(self, name: str, report: Report) -> str:
        """Name the model whose weights are to be downloaded before this one can be loaded; empty for none."""
        report(0, 0, SERVICE_WORDS["status_engine"])
        self.warm()
        from vitexplorer.models.about import about
        from vitexplorer.models.hub import pretrained_state

        if name.startswith(MODEL):
            file = self.places.file_of(name)
            said = about(file) if file is not None else None
            if said is None or said.merged or said.base.weights not in ("bundled", "pretrained"):
                return ""
            name = said.base.model
        entry = find(name)
        if (entry is not None and entry.bundled) or self.loaded(Picture("", name)) is not None:
            return ""
        self.check_allowed(Picture("", name))
        return name if pretrained_state(name).kind == "download" else ""

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


def _itself(model: LoadedModel, report: Report) -> LoadedModel:
    return model


def _download(model: str, report: Report) -> None:
    from vitexplorer.models.hub import download_pretrained

    def told(done: int, total: int) -> None:
        said = SERVICE_WORDS["status_download"].format(model=model, done=done / 1e6, total=total / 1e6)
        report(done, total, said)

    download_pretrained(model, progress=told)


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
