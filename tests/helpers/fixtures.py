"""Fixtures: small models and captures, one server and one browser per process; no network, one thread.

They are not in `conftest.py`, since pytest-xdist's controller process needs neither torch nor gradio.
`any_model` and `any_capture` run a test once for every geometry of `tests/helpers/small_models.py`. Shapes and types
are checked in tests marked `contract`, which go over everything registered, and in all under `--types` or `--thorough`.
"""

from __future__ import annotations

import gc

gc.disable()  # until all is imported and collected: what lasts as long as the process need not be looked at ten times

import atexit  # noqa: E402
import inspect  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from typing import TYPE_CHECKING  # noqa: E402

import jaxtyping  # noqa: E402

import tests.helpers.typecheck  # noqa: E402

jaxtyping.jaxtyped = tests.helpers.typecheck.jaxtyped  # which the hook writes before every function
jaxtyping.install_import_hook("vitexplorer", "tests.helpers.typecheck.check")

import pytest  # noqa: E402
import torch  # noqa: E402
from playwright.sync_api import Browser, BrowserContext  # noqa: E402

from tests.helpers.app import PATIENCE, Visit, Visiting, browser, hear, running_app  # noqa: E402
from tests.helpers.small_models import CAPTURES, RECIPES, capture_small, load_small  # noqa: E402
from tests.helpers.thorough import quick  # noqa: E402
from tests.helpers.waiting import now  # noqa: E402
from vitexplorer.capturing.capture import Capture  # noqa: E402
from vitexplorer.core.settings import Settings, settings  # noqa: E402
from vitexplorer.models.loading import LoadedModel  # noqa: E402

if TYPE_CHECKING:
    from vitexplorer.service.engine import Engine

torch.set_num_threads(1)


def pytest_collection_finish() -> None:
    """Freeze existing objects, so that garbage collections skip those of torch and gradio; and collect seldom."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries that count what is left at the end would call it leaked


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    now(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


# ------------------------------------------------------------------------------------------------ types and shapes


def pytest_configure(config: pytest.Config) -> None:
    check_types(config.getoption("types") or config.getoption("thorough"))


def check_types(enabled: bool) -> None:
    """Switch the runtime type checks of annotated functions on or off."""
    jaxtyping.config.update("jaxtyping_disable", not enabled)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    everywhere = item.config.getoption("types") or item.config.getoption("thorough")
    check_types(everywhere or item.get_closest_marker("contract") is not None)


@pytest.fixture
def unchecked() -> None:
    """Switch type checks off, for tests of wrong arguments as users meet them."""
    check_types(False)  # what comes next is set up anew


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run without the environment's settings, and forget cached ones."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"VIT_{name.upper()}", raising=False)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def thorough(request: pytest.FixtureRequest) -> bool:
    """Return True under `--thorough`, for tests that then cover more."""
    return request.config.getoption("thorough")


# ------------------------------------------------------------------------------------------------ small models


@pytest.fixture(scope="session", params=RECIPES)
def any_model(request: pytest.FixtureRequest) -> LoadedModel:
    """Return each small model in turn; tests must not change it."""
    return load_small(request.param)


AT_BOTH_SIZES = ("vit", "deit_distilled", "dinov2_registers", "siglip", "swin", "swin_padded")
ONE_EACH = [(key, fit) for key, fit in CAPTURES if fit == "native" or not RECIPES[key].native_size]
ONE_EACH += [(key, "squash") for key in AT_BOTH_SIZES]


@pytest.fixture(scope="session", params=quick(CAPTURES, keep=ONE_EACH))
def any_capture(request: pytest.FixtureRequest) -> Capture:
    """Return a capture of each small model at a size that is not square or, if its size is fixed, at its own.

    Models with special geometry, and all under `--thorough`, are captured at both sizes.
    """
    return capture_small(*request.param)


# ------------------------------------------------------------------------------------------------ the page


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the app and return its address; trainings are stored in a folder of this run."""
    with running_app(VIT_RUNS_FOLDER=str(tmp_path_factory.mktemp("runs")), VIT_MCP="1") as address:
        yield address


@pytest.fixture(scope="module")
def engine() -> Engine:
    """Give the engine of an installation with default settings."""
    from vitexplorer.service.engine import Engine  # most tests need nothing of it

    return Engine(Settings())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start one Chromium for the process; Playwright allows no second one."""
    with browser() as launched:
        yield launched


@pytest.fixture(scope="session")
def desktop_errors() -> list[str]:
    """Return the errors of pages of `desktop` in a test; a test that causes some empties the list."""
    return []


@pytest.fixture(scope="session")
def desktop(chromium: Browser, desktop_errors: list[str]) -> Iterator[BrowserContext]:
    """Return a shared browser context that caches gradio's scripts, for pages without a visitor's state."""
    with chromium.new_context(accept_downloads=True) as context:
        context.set_default_timeout(PATIENCE)
        hear(context, desktop_errors)
        yield context


@pytest.fixture(autouse=True)
def pages_without_errors(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a page of `desktop` reported errors."""
    errors: list[str] = request.getfixturevalue("desktop_errors") if "desktop" in request.fixturenames else []
    yield
    reported = errors.copy()
    errors.clear()
    assert reported == []


@pytest.fixture(scope="session")
def pages() -> Iterator[str]:
    """Serve pages of components without gradio and return their address."""
    from tests.helpers.plain_page import plain_pages  # gradio's style and files: most tests need nothing of it

    with plain_pages() as served:
        yield served


@pytest.fixture(scope="session")
def visiting(chromium: Browser) -> Visiting:
    """Return a function that opens a page for a new visitor, in a window that another has left if there is one.

    What uses it fails if the page reports errors. A window in which gradio has run opens it in a third of the time.
    """
    left: list[Visit] = []

    @contextmanager
    def opened() -> Iterator[Visit]:
        visit = left.pop() if left else Visit(chromium)
        yield visit
        visit.leave()
        left.append(visit)

    return opened


@pytest.fixture
def visit(visiting: Visiting) -> Iterator[Visit]:
    """Return a page of a new visitor."""
    with visiting() as opened:
        yield opened
