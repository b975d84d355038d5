"""Strategies for damaged files and hostile input: bytes cut, flipped and inserted; altered JSON values.

hypothesis draws everything, so it reduces a fault to its smallest case.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import configuration
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "vitexplorer-hypothesis")

_MOST_PATHS = 400

ODD: list[Any] = [
    None,
    True,
    False,
    "",
    " ",
    "x",
    "\0",
    "..",
    "../..",
    "/etc/passwd",
    "NaN",
    "1",
    "é" * 400,
    "9" * 5000,
]
ODD += [-1, 0, 1, 0.5, -0.0, 2**31, 2**53, 2**63, 10**30, 1e308, float("nan"), float("inf"), float("-inf")]
ODD += [[], {}, [[]], [None], [1, 2], {"": None}, {"a": {"b": []}}, ["x"] * 1000, [["a", 1], ["b", "c"]]]
"""values that no file of ours has where they are put"""

_EDITS = st.lists(
    st.tuples(
        st.sampled_from(("cut", "flip", "put", "over", "drop", "zero", "twice")),
        st.integers(0, 2**20),
        st.binary(min_size=1, max_size=64),
    ),
    min_size=1,
    max_size=3,
)
"""Edits of bytes: kind, place, and content or length"""


def _changes(put: list[Any]) -> SearchStrategy[list[tuple[str, int, Any]]]:
    """Draw changes of JSON values: the kind of each, the place, and the new value."""
    kinds = st.sampled_from(("other", "other", "other", "missing", "extra"))
    values = st.sampled_from(ODD) | st.integers() | st.floats() | st.text(max_size=8)
    values = st.sampled_from(put) | values if put else values
    return st.lists(st.tuples(kinds, st.integers(0, 2**20), values), min_size=1, max_size=3)


_CHANGES = _changes([])


def edited(whole: bytes) -> SearchStrategy[bytes]:
    """Draw `whole` with one to three edits of its bytes."""
    return _EDITS.map(lambda edits: _edited(whole, edits))


def _edited(whole: bytes, edits: list[tuple[str, int, bytes]]) -> bytes:
    for kind, place, put in edits:
        at, size = place % (len(whole) + 1), len(put)
        before, after = whole[:at], whole[at:]
        whole = {
            "cut": before,
            "flip": before + bytes([byte ^ 1 << place % 8 for byte in after[:1]]) + after[1:],
            "put": before + put + after,
            "over": before + put + after[size:],
            "drop": before + after[size:],
            "zero": before + bytes(len(after[:size])) + after[size:],
            "twice": before + after[:size] + after,
        }[kind]
    return whole


def altered(whole: Any, put: list[Any] | None = None) -> SearchStrategy[Any]:
    """Draw JSON values of which one to three are replaced (also by values of `put`), removed, or unknown."""
    return _changes(put or []).map(lambda changes: _altered(whole, changes))


def _altered(whole: Any, changes: list[tuple[str, int, Any]]) -> Any:
    tree = {"": copy.deepcopy(whole)}
    for kind, place, value in changes:
        places = list(_places(tree))
        holder, key = places[place % len(places)]
        if kind == "missing" and holder is not tree:
            del holder[key]
        elif kind == "extra" and isinstance(holder, dict) and holder is not tree:
            holder["unheard_of"] = copy.deepcopy(value)
        else:
            holder[key] = copy.deepcopy(value)
    return tree[""]


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """List (container, key) of nested values, the first few hundred."""
    waiting, found = [tree], 0
    while waiting and found < _MOST_PATHS:
        holder = waiting.pop(0)
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            found += 1
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])


def wreck(path: Path, how: str) -> None:
    """Damage a file; `how` is one of `WRECKS`."""
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.unlink()
    if how == "a folder":
        path.mkdir()
        (path / "something").write_bytes(b"of somebody")
        return
    path.write_bytes(
        {
            "empty": b"",
            "cut": whole[:middle],
            "noise": random.Random(0).randbytes(len(whole)),
            "a bit": whole[: middle // 2] + bytes([whole[middle // 2] ^ 64]) + whole[middle // 2 + 1 :],
            "zeros": whole[: middle // 2] + bytes(middle) + whole[middle // 2 + middle :],
            "closed": whole,
        }[how]
    )
    if how == "closed":
        path.chmod(0)


WRECKS = ("empty", "cut", "noise", "a bit", "zeros", "a folder", "closed")
"""Kinds of damage to a whole file; root can still read a "closed" one"""


def torn(whole: bytes) -> SearchStrategy[bytes]:
    """Draw a file with damaged bytes; JSON as often with altered values."""
    try:
        value = json.loads(whole)
    except ValueError:
        return edited(whole)
    return edited(whole) | altered(value).map(as_json)


def torn_lines(whole: bytes) -> SearchStrategy[bytes]:
    """Draw a damaged JSON-lines file: one altered line, or damaged bytes."""
    lines = whole.splitlines(keepends=True)

    def one(drawn: tuple[int, list]) -> bytes:
        at, changes = drawn
        return b"".join((*lines[:at], as_json(_altered(json.loads(lines[at]), changes)), b"\n", *lines[at + 1 :]))

    return edited(whole) | st.tuples(st.integers(0, len(lines) - 1), _CHANGES).map(one)


def as_json(value: Any) -> bytes:
    """Write JSON as Python does, NaN included."""
    return json.dumps(value).encode(errors="surrogatepass")
