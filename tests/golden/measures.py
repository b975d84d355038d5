"""Measurements of the package by task: digests by key."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow.parquet as pq
import torch

import vitexplorer as vx
from tests.golden.asked import CALLS, CHANGES, EVALUATED, STATES, SURVEYED, TRAININGS

# ---- all inner modules that are used: change these imports when one moves
from tests.helpers.app import running_app
from tests.helpers.finetune_folders import class_folder
from tests.helpers.least_settings import LEAST
from tests.helpers.long_token import planted
from tests.helpers.small_families import CASES, load_case
from tests.helpers.small_models import RECIPES, load_small, picture
from vitexplorer.comparisons import reading as reading_of_two
from vitexplorer.core.text import ExplainedError
from vitexplorer.learn import STEPS
from vitexplorer.models.examples import examples
from vitexplorer.ui.shell.address import Address, SelectedView

# ---- end of inner modules

VARYING = {"seconds", "feature_seconds", "file", "folder"}
"""Fields that differ in every run"""

# ------------------------------------------------------------------------------------------------ digests


def digest(thing: Any) -> str:
    return hashlib.sha256(json.dumps(plain(thing), sort_keys=True).encode()).hexdigest()[:32]


def plain(thing: Any) -> Any:
    """Convert to JSON values, an array as type, shape and hash; leave out varying fields and paths."""
    if isinstance(thing, torch.Tensor):
        thing = thing.detach().numpy()
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        content = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
        return [str(thing.dtype), list(thing.shape), content]
    if dataclasses.is_dataclass(thing):
        thing = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items() if key not in VARYING}
    if isinstance(thing, list | tuple | np.ndarray):
        return [plain(item) for item in thing]
    return thing if isinstance(thing, str | int | float | bool | None) else str(thing)


def saved(suffix: str, result: Any) -> str:
    with TemporaryDirectory() as folder:
        return vx.save(result, Path(folder) / f"result{suffix}").read_text(encoding="utf-8")


def drawn(result: Any) -> Any:
    figure = vx.render(result)
    return figure.to_json() if hasattr(figure, "to_json") else figure


def readings(reading: Callable[..., str], result: Any) -> list[str]:
    return [reading(result, language) for language in ("en", "zh")]


NUMBERS = {"/values": lambda result: result.values, "/json": partial(saved, ".json"), "/csv": partial(saved, ".csv")}
OF_VIEW = {**NUMBERS, "/reading": partial(readings, vx.reading)}
OF_COMPARISON = {**NUMBERS, "/reading": partial(readings, reading_of_two)}
WHOLE = {"": lambda made: made}


class Ruler:
    """The digests of one task."""

    def __init__(self, task: str, only: str):
        self.task, self._only, self.found = task, only, {}

    def wants(self, key: str) -> bool:
        return self._only in f"{self.task}/{key}"

    def keep(self, key: str, make: Callable[[], Any], parts: Mapping[str, Callable[[Any], Any]] = WHOLE) -> None:
        """Store digests of parts of the result of `make`, or its refusal or failure."""
        selected = {key + part: of for part, of in parts.items() if self.wants(key + part)}
        if not selected:
            return
        torch.set_num_threads(1)
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(0)
        try:
            made = make()
            self.found |= {f"{self.task}/{name}": digest(of(made)) for name, of in selected.items()}
        except ExplainedError as error:
            self.found[f"{self.task}/{key}"] = f"refused: {error.text.en} {error.text.zh}"
        except Exception as error:
            self.found[f"{self.task}/{key}"] = f"failed: {type(error).__name__}: {error}"


# ------------------------------------------------------------------------------------------------ models

LOAD = {
    "bundled": vx.load_model,
    "small": load_small,
    "native": load_small,
    "family": load_case,
    "random": partial(vx.load_model, weights="random"),
    "backbone": vx.load_backbone,
    "long_token": lambda pool: planted(pool).model,
}
PUBLIC = ("bundled", "random")
"""Kinds of models that anyone can load; their figures are included"""


def measure_model(ruler: Ruler) -> None:
    """Measure everything about one model and one image."""
    kind, name = ruler.task.split("/")
    model = LOAD[kind](name)
    if kind != "backbone":
        explain(ruler, kind, model)
    if kind != "native":
        attach(ruler, model)


def explain(ruler: Ruler, kind: str, model: Any) -> None:
    of_view, of_comparison, image, fit = OF_VIEW, OF_COMPARISON, picture(*model.preprocessing.input_size), "squash"
    if kind in PUBLIC:
        of_view, of_comparison = ({**parts, "/figure": drawn} for parts in (OF_VIEW, OF_COMPARISON))
        image = examples()["creature_forktail" if "creatures" in model.name else "scene_fish"].path
        for other in ("pad", "native"):
            ruler.keep(f"capture/{other}", partial(vx.capture, model, examples()["chelsea"].path, fit=other), PASS)
    if kind == "native":
        image, fit = picture(*RECIPES[model.name].native_size), "native"
    capture = vx.capture(model, image, fit=fit)
    ruler.keep("capture", lambda: capture, PASS)
    for key in vx.views():
        ruler.keep(f"view/{key}", partial(vx.compute, key, capture, **LEAST.get(key, {})), of_view)
    changed = cache(partial(vx.intervene, capture))
    for changes in (*vx.interventions(), *CHANGES):
        ruler.keep(f"change/{changes}", partial(changed, changes), PASS)
        ruler.keep(f"change/{changes}/view", lambda c=changes: vx.compute("before_after", changed(c)), of_view)
    beside = vx.load_model("scenes_vit_patch16_192") if kind in PUBLIC else load_small("vit")
    other = vx.capture(beside, image, fit="squash")
    for key in vx.comparisons():
        ruler.keep(f"comparison/{key}/other", partial(vx.compare, key, capture, other), of_comparison)
        shifted = partial(vx.compare, key, capture, changed("shift_image"))
        ruler.keep(f"comparison/{key}/shifted", shifted, of_comparison)


def layers(capture: Any) -> Iterator[Any]:
    """Yield attention of each block and the residual stream, as far as a family supports them."""
    for block in range(capture.depth):
        for state in (capture.attention, capture.residual, capture.residual_after):
            with suppress(ExplainedError):
                yield state(block)


PASS = {
    "/output": lambda capture: [capture.output, capture.logits],
    "/layers": lambda capture: list(layers(capture)),
    "/said": lambda capture: [capture.provenance, capture.input.notes, capture.model.notes],
}


def attach(ruler: Ruler, model: Any) -> None:
    """Measure parameter counts, initial weights and outputs of each fine-tuning method before training."""
    images = torch.randn(1, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    of_tuned = {
        "/count": vx.count_parameters,
        "/weights": lambda tuned: tuned.module.state_dict(),
        "/answer": torch.no_grad()(lambda tuned: tuned.module(images)),
    }
    for method in vx.methods():
        ruler.keep(f"method/{method}", partial(vx.attach, model, method, num_classes=5), of_tuned)


# ------------------------------------------------------------------------------------------------ whole runs


def measure_training(ruler: Ruler) -> None:
    name = ruler.task.split("/")[1]
    options = {"weights": "random" if name == "test_vit" else "auto", "epochs": 2, "batch_size": 8, "precision": "no"}
    with TemporaryDirectory() as folder:
        images = class_folder(Path(folder) / "colours", per_class=6)
        for method in TRAININGS[name] or vx.methods():
            run = partial(vx.finetune, images, name, method, out=Path(folder) / method, **options)
            ruler.keep(method, run, OF_TRAINING)


def merged(run: Any) -> Any:
    with suppress(ExplainedError):
        return vx.merge(run.model).module.state_dict()


OF_TRAINING = {"/report": lambda run: run, "/weights": lambda run: run.model.module.state_dict(), "/merged": merged}


def measure_evaluation(ruler: Ruler) -> None:
    model = vx.load_model(ruler.task.split("/")[1])
    views = ("input_x_gradient", "attention_rollout")
    ruler.keep("table", lambda: vx.evaluate(model, views, targets=1), {**NUMBERS, "/figure": drawn})


def measure_survey(ruler: Ruler) -> None:
    with TemporaryDirectory() as folder:
        images = class_folder(Path(folder) / "colours", per_class=2)
        ask = partial(vx.survey, images, SURVEYED, out=Path(folder) / "survey", workers=1)
        ruler.keep("rows", lambda: [pq.read_table(file).to_pydict() for file in sorted(glob(ask().rows))])


# ------------------------------------------------------------------------------------------------ the page


def measure_page(ruler: Ruler) -> None:
    """Measure the endpoints over HTTP, as a client of a running page gets them."""
    calls = [(f"{name}/{at}", name, arguments) for name, cases in CALLS.items() for at, arguments in enumerate(cases)]
    selected = [call for call in calls if ruler.wants(call[0])]
    if not selected and not ruler.wants("described"):
        return
    from gradio_client import Client

    with TemporaryDirectory() as runs, running_app(VIT_RUNS_FOLDER=runs, VIT_CACHE_FOLDER=runs) as address:
        client = Client(address, verbose=False)
        ruler.keep("described", lambda: client.view_api(return_format="dict", print_info=False))
        for key, name, arguments in selected:
            ruler.keep(key, partial(answered, client, name, arguments))


def answered(client: Any, name: str, given: Mapping[str, Any]) -> Any:
    from gradio_client.exceptions import AppError

    try:
        return client.predict(**given, api_name=f"/{name}")
    except AppError as error:
        return f"refused: {error.message}"


def measure_addresses(ruler: Ruler) -> None:
    steps = [{**step.state, **(step.leads or {})} for step in STEPS]
    for at, state in enumerate([*STATES, *steps]):
        ruler.keep(str(at), partial(read_twice, state))
        for name in FIELDS & state.keys():  # of two that cannot be, either may be named
            ruler.keep(f"{at}/{name}", partial(Address.exactly, **{name: state[name]}))


def read_twice(state: Mapping[str, str]) -> list[Any]:
    """Read an address from a link, and from the browser's message about it."""
    address = Address.read(state)
    view = SelectedView.read(json.dumps({"search": f"?{urlencode(state)}", "theme": "dark"}))
    return [address, address.display, address.picture, address.other, Address.read(address.parameters()), view]


FIELDS = {field.name for field in dataclasses.fields(Address)}


# ------------------------------------------------------------------------------------------------ all of it

MEASURES = {
    "training": (measure_training, tuple(TRAININGS)),
    "page": (measure_page, ("api",)),
    "evaluation": (measure_evaluation, EVALUATED),
    "bundled": (measure_model, tuple(entry.name for entry in vx.models() if entry.bundled)),
    "random": (measure_model, ("test_vit",)),
    "backbone": (measure_model, ("scenes_resnet_96",)),
    "survey": (measure_survey, (SURVEYED,)),
    "small": (measure_model, tuple(RECIPES)),
    "long_token": (measure_model, ("token",)),
    "native": (measure_model, tuple(key for key, recipe in RECIPES.items() if recipe.native_size)),
    "family": (measure_model, tuple(CASES)),
    "address": (measure_addresses, ("states",)),
}
"""Function and names of each kind of task, the longest first"""


def measured(task: str, only: str) -> tuple[dict[str, str], float]:
    """Return the digests of one task, and the seconds they took."""
    started, ruler = time.monotonic(), Ruler(task, only)
    try:
        MEASURES[task.split("/")[0]][0](ruler)
    except Exception as error:
        ruler.found[task] = f"failed: {type(error).__name__}: {error}"
    return ruler.found, time.monotonic() - started
