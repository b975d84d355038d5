"""What every test runs under: no network, one thread; the small models, one server and one browser a process.

`any_model` and `any_capture` run a test once for every geometry of `tests/small_models.py`. Shapes and types are
checked in tests marked `contract`, which go over everything registered, and in all under `--types` or `--thorough`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: threads that a test starts get it too
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import jaxtyping

import tests.typecheck  # noqa: F401  (the hook looks it up by its name)

jaxtyping.install_import_hook("vitexplorer", "tests.typecheck.check")

import pytest  # noqa: E402
import torch  # noqa: E402
from playwright.sync_api import Browser, BrowserContext  # noqa: E402

from tests.app import Visit, browser, running_app  # noqa: E402
from tests.small_models import CAPTURES, RECIPES, capture_small, load_small  # noqa: E402
from vitexplorer.capture import Capture  # noqa: E402
from vitexplorer.models.loading import LoadedModel  # noqa: E402

torch.set_num_threads(1)

LONGEST_FIRST = (
    "test_rooms_browser",
    "test_finetune_browser",
    "test_page_browser",
    "test_finetune_jobs",
    "test_views",
    "test_canvas_browser",
    "test_tuned",
    "test_bundled_recipes",
    "test_more_figures",
    "test_methods",
    "test_training",
    "test_interventions",
    "test_every_family",
)
"""files of more than half a minute: where one of them came last, the other process would wait for it"""


# ------------------------------------------------------------------------------------------------ what is run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vitexplorer")
    group.addoption("--thorough", action="store_true", help="every product of the cases, and whole walks")
    group.addoption("--types", action="store_true", help="check shapes and types in every test")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two; none for a single file, which one process answers sooner."""
    return 0 if len(config.args) == 1 and ".py" in config.args[0] else 2


def pytest_configure(config: pytest.Config) -> None:
    check_types(config.getoption("types") or config.getoption("thorough"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `--thorough` tries; the longest files first."""
    if not config.getoption("thorough"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    place = {name: at for at, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


def pytest_collection_finish() -> None:
    """Collections of garbage, which a training asks for, need not go through all that torch and gradio are made of."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # libraries that count what is left at the end would call it leaked


# ------------------------------------------------------------------------------------------------ types and shapes


def check_types(wanted: bool) -> None:
    """Whether annotated functions of the package look at what they get and give."""
    jaxtyping.config.update("jaxtyping_disable", not wanted)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    everywhere = item.config.getoption("types") or item.config.getoption("thorough")
    check_types(everywhere or item.get_closest_marker("contract") is not None)


@pytest.fixture
def unchecked() -> None:
    """A test of how a wrong argument is answered where users have no type checks."""
    check_types(False)  # what comes next is set up anew


@pytest.fixture
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether `--thorough` was asked for: for a test that walks further then."""
    return request.config.getoption("thorough")


# ------------------------------------------------------------------------------------------------ small models


@pytest.fixture(scope="session", params=RECIPES)
def any_model(request: pytest.FixtureRequest) -> LoadedModel:
    """Each small model in turn; nobody may change it."""
    return load_small(request.param)


@pytest.fixture(scope="session", params=CAPTURES, ids="-".join)
def any_capture(request: pytest.FixtureRequest) -> Capture:
    """A capture with each small model, at its input size and, where it takes another, at one that is not square."""
    return capture_small(*request.param)


# ------------------------------------------------------------------------------------------------ the page


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app's address; trainings are kept in a folder of this run."""
    with running_app(VIT_RUNS_FOLDER=str(tmp_path_factory.mktemp("runs"))) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One for the process: Playwright allows no second one beside it."""
    with browser() as launched:
        yield launched


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Iterator[BrowserContext]:
    """Whose pages fetch and compile gradio's scripts once; for pages that remember nothing of a person."""
    with chromium.new_context(accept_downloads=True) as context:
        yield context


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A page of its own; the test fails where it complained."""
    opened = Visit(chromium)
    yield opened
    opened.close()
