"""Plant faults one at a time and report which quick test notices each: `python -m tests.mutants [words of a name ...]`.

First the tests run on the product as it is, since a test that fails anyway notices nothing. The exit status is 1 when a
fault was noticed by no test.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.mutants import MUTANTS
from tests.mutants.mutant import Mutant, find, node_of
from tests.mutants.planting import Copy
from tests.mutants.running import Outcome, Running, import_libraries, start


def main() -> int:
    """Run the command line."""
    options = _options()
    chosen = [mutant for mutant in MUTANTS if all(word in mutant.name for word in options.words)]
    if not chosen:
        print("No fault has these words in its name.", file=sys.stderr)
        return 2
    places = {mutant.name: find(mutant) for mutant in chosen}  # first, so that an outdated list fails early
    import_libraries()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(min(options.workers, len(chosen)))]
        if not options.at_once and not _pass_unplanted(chosen, copies[0]):
            return 1
        outcomes = _plant_each(chosen, copies, everything=options.anywhere)
    rows = [(mutant, places[mutant.name].path, outcomes[mutant.name]) for mutant in chosen]
    print("\n| fault | where | noticed by | seconds |\n|---|---|---|---|")
    for mutant, path, outcome in rows:
        where = f"{path.relative_to(path.parts[0])} {mutant.definition}"
        print(f"| {mutant.name} | {where} | {_verdict(outcome)} | {outcome.seconds:.0f} |")
    missed = [mutant.name for mutant, _, outcome in rows if not outcome.noticed]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} faults noticed.")
    return int(bool(missed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="plant only faults with these words in their names")
    parser.add_argument("-j", "--workers", type=int, default=1, metavar="N", help="copies of the tree at work at once")
    parser.add_argument(
        "--anywhere", action="store_true", help="run all quick tests, not only those that are to notice"
    )
    parser.add_argument("--at-once", action="store_true", help="do not run the tests without faults first")
    return parser.parse_args()


def _pass_unplanted(chosen: list[Mutant], copy: Copy) -> bool:
    tests = tuple(dict.fromkeys(map(node_of, chosen)))
    running = start(tests, copy.folder, copy.folder / "log")
    _, status = os.waitpid(running.pid, 0)
    outcome = running.outcome(status)
    print(
        f"Without a fault, {len(tests)} tests named here: {'passed' if outcome.passed else outcome.output}", flush=True
    )
    return outcome.passed


def _plant_each(chosen: list[Mutant], copies: list[Copy], everything: bool) -> dict[str, Outcome]:
    """Run each fault in a free copy of the tree, as many at once as there are copies."""
    todo, free, outcomes = list(chosen), list(copies), {}
    at_work: dict[int, tuple[Running, Mutant, Copy, ExitStack]] = {}
    while todo or at_work:
        while todo and free:
            mutant, copy, stack = todo.pop(0), free.pop(), ExitStack()
            stack.enter_context(copy.with_fault(mutant))
            running = start(("tests",) if everything else (node_of(mutant),), copy.folder, copy.folder / "log")
            at_work[running.pid] = running, mutant, copy, stack
        pid, status = os.wait()
        running, mutant, copy, stack = at_work.pop(pid)
        outcomes[mutant.name] = outcome = running.outcome(status)
        stack.close()
        free.append(copy)
        print(f"{outcome.seconds:4.0f} s  {mutant.name}: {_verdict(outcome)}", flush=True)
        if outcome.broken:
            print(outcome.output, flush=True)
    return outcomes


def _verdict(outcome: Outcome) -> str:
    return outcome.noticed or ("BROKEN: it ran no test" if outcome.broken else "SURVIVED")


if __name__ == "__main__":
    sys.exit(main())
