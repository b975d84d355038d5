"""What every test runs under: shapes and types checked, no network, one thread; and the small models.

`any_model` and `any_capture` run a test once for every geometry of `tests/small_models.py`.
"""

from __future__ import annotations

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
from playwright.sync_api import Browser  # noqa: E402

from tests.app import Visit, browser, running_app  # noqa: E402
from tests.small_models import RECIPES, capture_small, load_small  # noqa: E402
from vitexplorer.capture import Capture  # noqa: E402
from vitexplorer.models.loading import LoadedModel  # noqa: E402

torch.set_num_threads(1)


CAPTURES = [(key, "squash") for key in RECIPES] + [(key, "native") for key in RECIPES if RECIPES[key].native_size]


@pytest.fixture(scope="session", params=RECIPES)
def any_model(request: pytest.FixtureRequest) -> LoadedModel:
    """Each small model in turn; nobody may change it."""
    return load_small(request.param)


@pytest.fixture(scope="session", params=CAPTURES, ids="-".join)
def any_capture(request: pytest.FixtureRequest) -> Capture:
    """A capture with each small model, at its input size and, where it takes another, at one that is not square."""
    return capture_small(*request.param)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """A test of how a wrong argument is answered where users have no type checks."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The running app's address."""
    with running_app() as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One for a file: Playwright allows no second one beside it."""
    with browser() as launched:
        yield launched


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A page of its own; the test fails where it complained."""
    opened = Visit(chromium)
    yield opened
    opened.close()
