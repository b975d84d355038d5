"""Scripts and style sheets of the page.

Node runs the tests of the arithmetic (`tests/ui/**/*.test.mjs`). Types and form are checked where Python's are, in
`.ci/run`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.helpers.tree import PACKAGE, ROOT, tracked_files

NODE = shutil.which("node")
TESTS = sorted(Path(__file__).parent.rglob("*.test.mjs"))
IN_ONE_PROCESS = "for (const file of process.argv.slice(1)) await import(file);"
"""Script for node, whose own `--test` starts a process for each file"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_arithmetic_of_the_modules_is_right() -> None:
    command = [NODE, "--input-type=module", "--eval", IN_ONE_PROCESS, "--", *(file.as_uri() for file in TESTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[1]) >= len(TESTS)


UI = PACKAGE / "ui"
IMPORTED = re.compile(r"(?:\bfrom |\bimport\()'(\.[^']+\.js)'")
"""A module that is imported, or whose types are named"""


def page_layers() -> list[str]:
    """Return the layers of the page from above, which are those of its Python."""
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter")
    return contracts["importlinter:contract:page"]["layers"].split()


def breaks_layers(module: str, imported: str) -> bool:
    """Return whether an import between two modules, named below `ui`, points up or from one room into another."""
    order = page_layers()
    levels = [order.index(name.split("/")[0].removesuffix(".js")) for name in (module, imported)]
    rooms = {name.split("/")[1] for name in (module, imported) if name.startswith("rooms/")}
    return levels[1] < levels[0] or len(rooms) > 1


def test_imports_of_modules_point_down() -> None:
    wrong = []
    for path in UI.rglob("*.js"):
        for target in IMPORTED.findall(path.read_text(encoding="utf-8")):
            imported = Path(os.path.normpath(path.parent / target)).relative_to(UI).as_posix()
            if breaks_layers(path.relative_to(UI).as_posix(), imported):
                wrong.append(f"{path.relative_to(UI)} imports {imported}")
    assert wrong == []


@pytest.mark.parametrize(
    ("module", "imported", "wrong"),
    [
        ("kit/form.js", "controls/choice.js", True),
        ("canvas/sharing.js", "rooms/flow/room.js", True),
        ("rooms/flow/room.js", "page.js", True),
        ("rooms/flow/room.js", "rooms/size/story.js", True),
        ("rooms/size/size_board.js", "rooms/size/story.js", False),
        ("page.js", "shell/rail.js", False),
        ("panel/figure_panel.js", "kit/dom.js", False),
    ],
)
def test_an_import_that_points_up_is_noticed(module: str, imported: str, wrong: bool) -> None:
    assert breaks_layers(module, imported) == wrong


def test_no_line_is_longer_than_120() -> None:
    """Biome breaks code, but neither comments nor texts."""
    files = [file for file in tracked_files() if file.suffix in (".js", ".mjs", ".css")]
    assert len(files) > 100
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line) > 120] == []
