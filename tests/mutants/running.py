"""Run some tests in a copy of the tree, in a process that has imported all libraries but not the package.

Starting Python with torch takes longer than most of these tests; a fork of a process that has imported the libraries
starts immediately.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.tree import ROOT

LIBRARIES = (
    "torch",
    "timm",
    "pytest",
    "jaxtyping",
    "beartype",
    "gradio",
    "plotly.graph_objects",
    "playwright.sync_api",
)
LIBRARIES += ("sklearn.linear_model", "sklearn.decomposition", "captum.attr", "cv2", "accelerate", "einops")
LONGEST = 300
"""Seconds for one test; a test that does not end has not noticed the fault"""
FORKED_IN_VAIN = 70
FAILURE = re.compile(r"^(?:FAILED|ERROR) tests/(\S+::[^\s\[]+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """Result of a run of tests."""

    passed: bool
    noticed: str
    """First test that failed, relative to tests/; empty if none did"""
    seconds: float
    output: str
    """End of pytest's output"""

    @property
    def broken(self) -> bool:
        """True if tests neither passed nor failed: they could not be collected, or did not end."""
        return not self.passed and not self.noticed


def import_libraries() -> None:
    """Import the libraries that tests use, but not the package."""
    os.environ["OMP_NUM_THREADS"] = "1"  # no threads before the fork
    for name in LIBRARIES:
        importlib.import_module(name)


@dataclass(frozen=True)
class Running:
    """Process that runs tests."""

    pid: int
    log: Path
    start: float

    def outcome(self, status: int) -> Outcome:
        """Return the outcome, given the exit status of the process."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # a browser or server that a failing test left behind
        output = self.log.read_text(encoding="utf-8", errors="replace")
        failure = FAILURE.search(output)
        return Outcome(status == 0, failure[1] if failure else "", time.monotonic() - self.start, output[-2000:])


def start(tests: tuple[str, ...], folder: Path, log: Path) -> Running:
    """Run tests in a folder until the first of them fails."""
    pid = os.fork()
    if pid:
        return Running(pid, log, time.monotonic())
    code = FORKED_IN_VAIN
    try:
        os.setsid()
        signal.alarm(LONGEST * len(tests))
        with _output_in(log):
            code = _run_here(tests, folder)
    finally:
        os._exit(code)  # skip the parent's cleanup in this process, whatever was raised


def _run_here(tests: tuple[str, ...], folder: Path) -> int:
    import pytest

    os.chdir(folder)
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "vitexplorer")]:
        del sys.modules[name]
    options = ["-x", "-q", "--tb=short", "-rfE", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    options += ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *tests]))


@contextmanager
def _output_in(log: Path) -> Iterator[None]:
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
