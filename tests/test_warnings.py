"""Warnings of our own modules fail the suite; warnings of other libraries do not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.helpers.tree import ROOT

INI = ROOT / ".pytest.ini"
LIBRARY = """
import random, threading, warnings


def note(category=UserWarning, level=1):
    warnings.warn("something is odd", category, stacklevel=level)


def fail():
    raise ValueError


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


class Leaving:
    def __init__(self, work):
        self.work = work

    def __del__(self):
        self.work()
"""
HEAD = """
import random, threading, time, warnings
import foreign, numpy
from hypothesis import given, settings, strategies as st


def fail():
    raise ValueError

"""
PASSES = {
    "a_warning_of_a_library": "foreign.note()",
    "a_failing_thread_of_a_library": "foreign.in_a_thread(foreign.fail)",
    "a_failing_destructor_of_a_library": "foreign.Leaving(foreign.fail)",
    "a_call_that_a_later_release_will_not_know": "foreign.note(DeprecationWarning, 2)",
    "a_call_that_a_later_release_will_answer_otherwise": "foreign.note(FutureWarning, 2)",
    "a_deprecation_in_words": "warnings.warn('asarray is deprecated')",
    "what_the_garbage_collector_closed": "warnings.warn('unclosed transport', ResourceWarning)",
    "a_server_that_draws_while_hypothesis_does": """
    ended = threading.Event()

    def draw():
        while not ended.wait(0.0001):
            random.random()

    server = threading.Thread(target=draw)
    server.start()

    @settings(database=None, max_examples=20, derandomize=True, deadline=None)
    @given(st.integers().map(lambda number: time.sleep(0.002)))
    def one(case):
        pass

    try:
        one()
    finally:
        ended.set()
        server.join()""",
}
FAILS = {
    "a_warning_of_ours": "warnings.warn('odd')",
    "a_warning_about_a_call_of_ours": "foreign.note(UserWarning, 2)",
    "arithmetic_of_ours": "numpy.zeros(1) / numpy.zeros(1)",
    "a_failing_thread_of_ours": "foreign.in_a_thread(fail)",
    "a_failing_destructor_of_ours": "foreign.Leaving(fail)",
    "a_file_that_we_leave_open": "open(__file__)",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return PASSED or FAILED by test name, for a small tree with the suite's own settings."""
    root, library = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("environment") / "site-packages"
    (root / "tests").mkdir()
    library.mkdir()
    (library / "foreign.py").write_text(LIBRARY)
    tests = [f"\ndef test_{name}():\n    {body.strip()}\n" for name, body in (PASSES | FAILS).items()]
    (root / "tests" / "test_them.py").write_text(HEAD + "\n".join(tests))
    shutil.copy(INI, root)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-rA", "-p", "no:cacheprovider"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    return {name: outcome for outcome, name in re.findall(r"^(PASSED|FAILED) \S+::test_(\w+)", run.stdout, re.M)}


@pytest.mark.parametrize("name", PASSES)
def test_what_others_warn_of_does_not_fail(outcomes, name):
    assert outcomes[name] == "PASSED"


@pytest.mark.parametrize("name", FAILS)
def test_what_we_are_warned_of_fails(outcomes, name):
    assert outcomes[name] == "FAILED"
