"""Selection, order and distribution of the tests. Fixtures are in `tests/helpers/fixtures.py`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: threads that a test starts get it too
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_CACHE"] = os.path.join(tempfile.gettempdir(), "vitexplorer-tests", "no-weights")  # nothing is there
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
sys.dont_write_bytecode = False  # a dozen processes import the same files: the first compiles them for all
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest  # noqa: E402
from xdist.scheduler import LoadFileScheduling  # noqa: E402

HERE = Path(__file__).resolve().parent
WALKED = (
    "ui/rooms/compare/test_room_browser",
    "ui/rooms/network/test_room_browser",
    "ui/test_links_browser",
    "ui/test_page_browser",
    "ui/rooms/test_rooms_browser",
    "ui/server/api/test_scripts",
    "ui/rooms/finetune/teach/test_teach_browser",
    "ui/shell/guide/test_guide_browser",
    "ui/shell/test_lecture_browser",
    "ui/canvas/test_sharpening",
)
WALKED_TOO = (
    "ui/rooms/finetune/test_room_browser",
    "ui/rooms/words/test_room_browser",
    "ui/rooms/check_up/test_room_browser",
    "ui/kit/test_motion_browser",
    "ui/shell/test_rail_browser",
    "ui/shell/welcome/test_welcome_browser",
    "ui/server/api/test_agents",
)
"""Files that walk through the running app, in two halves: one process runs a half and starts the app once"""
LONGEST_FIRST = (
    *WALKED,
    *WALKED_TOO,
    "ui/canvas/test_canvas_browser",
    "finetune/job/test_detached",
    "views/test_views",
    "finetune/test_storing",
    "training/test_recipes",
    "figures/test_renderers",
    "finetune/test_methods",
    "finetune/test_in_process",
    "interventions/test_interventions",
    "models/families/test_families",
)
"""Files of more than half a minute: if one came last, the other process would wait for it"""


# ------------------------------------------------------------------------------------------------ what is run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vitexplorer")
    group.addoption("--thorough", action="store_true", help="every product of the cases, and whole walks")
    group.addoption("--types", action="store_true", help="check shapes and types in every test")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use three processes for two cores, as one mostly waits for the page; none for one file, which is faster so."""
    return 0 if len(config.args) == 1 and ".py" in config.args[0] else 3


def pytest_configure(config: pytest.Config) -> None:
    """Import heavy modules in the processes that run tests, not in the one that distributes them."""
    hands_out = config.getoption("dist") != "no" and not config.getoption("collectonly")
    if not hands_out:
        config.pluginmanager.import_plugin("tests.helpers.fixtures")


class ByFile(LoadFileScheduling):
    """Send the tests of a file to one process, and so each half of the files that need the running app."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        name = file.removeprefix("tests/").removesuffix(".py")
        return next((half[0] for half in (WALKED, WALKED_TOO) if name in half), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests for `--thorough` only; put the longest files first."""
    if not config.getoption("thorough"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    place = {name: at for at, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.relative_to(HERE).with_suffix("").as_posix(), len(place)))
