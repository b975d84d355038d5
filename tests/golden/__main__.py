"""Regression check for changes that must keep every number: `python -m tests.golden write`, change, then `check`.

Digests of what the package computes, to the bit: views, interventions, comparisons and methods of fine-tuning on every
bundled model and on small ones of every family, a few trainings, evaluations and a survey, what the page's endpoints
answer, and its addresses. A refusal is stored as its message. Digests of different machines need not agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from tests.golden.measures import MEASURES, measured


def measure_all(only: str) -> dict[str, str]:
    found: dict[str, str] = {}
    tasks = [f"{kind}/{name}" for kind, (_, names) in MEASURES.items() for name in names]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        running = {pool.submit(measured, task, only): task for task in tasks}
        for at, done in enumerate(as_completed(running), 1):
            keys, seconds = done.result()
            found |= keys
            if keys or not only:
                print(f"{at}/{len(tasks)} {running[done]}: {len(keys)} keys, {seconds:.1f} s", flush=True)
    return dict(sorted(found.items()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("what", choices=("write", "check"))
    parser.add_argument("file", type=Path, nargs="?", default=Path(".golden.json"))
    parser.add_argument("--only", default="", metavar="WORD", help="only keys that hold this word")
    options = parser.parse_args()
    before = json.loads(options.file.read_text(encoding="utf-8")) if options.what == "check" else {}
    now = measure_all(options.only)
    for key in (failed := [key for key, value in now.items() if value.startswith("failed: ")]):
        print(f"failed   {key}: {now[key]}")
    if options.what == "write":
        options.file.write_text(json.dumps(now, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{len(now)} keys written, {len(failed)} of them failures")
        return 0
    before = {key: value for key, value in before.items() if options.only in key}
    words = {key: "missing" if key not in now else "new" if key not in before else "differs" for key in before | now}
    wrong = [key for key in words if before.get(key) != now.get(key)]
    for key in wrong:
        print(f"{words[key]:8} {key}")
    print(f"{len(now)} keys, {len(wrong)} of them not as before")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
