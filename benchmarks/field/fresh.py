"""Peak memory of a piece of work, measured in a fresh process.

The processes are forked from one that has imported the libraries and computed nothing, so that a case costs its own
work only. What counts is the peak resident size after the case is prepared, over the size it had then: libraries and
weights are not in it. `ru_maxrss` would not do, as a process inherits it from the one that started it.
"""

from __future__ import annotations

import gc
import importlib.util
import multiprocessing
import re
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

OUT_OF_MEMORY = "out of memory"
TOO_LONG = "too long"
LIBRARIES = ("torch", "timm", "transformers", "vitexplorer", "vitexplorer.capturing.capture")
"""Libraries that take seconds to import"""
SHARE = 0.6
"""Share of the available memory beyond which a case counts as out of memory"""


@dataclass(frozen=True)
class Peak:
    """Memory and time of one case."""

    grown: int = 0
    """Peak resident bytes of the process during the work, over those before it"""
    gpu: int = 0
    """Bytes of `torch.cuda.max_memory_allocated` over those allocated before the work; 0 without a GPU"""
    seconds: float = 0.0
    """Seconds of wall time"""
    fell: str = ""
    """`OUT_OF_MEMORY` or `TOO_LONG` if the case could not finish"""


class CaseError(Exception):
    """A case failed in its process; the traceback is its text."""


def preload() -> None:
    """Import `LIBRARIES` once for all cases; call it before the first."""
    here = [name for name in LIBRARIES if importlib.util.find_spec(name.partition(".")[0])]
    multiprocessing.get_context("forkserver").set_forkserver_preload(here)


Case = Callable[..., Callable[[], object]]
"""Function that prepares the work and returns it; it must be importable from its module"""


def fresh(case: Case, *args: Any, threads: int = 1, timeout_s: float = 300.0, most: int | None = None) -> Peak:
    """Run `case(*args)` and then the returned work in a fresh process; measure the work only.

    Args:
        case: see `Case`.
        args: arguments that can be pickled.
        threads: number of torch's threads.
        timeout_s: seconds for preparation and work.
        most: bytes of address space that the work may add; `SHARE` of the available memory when None.

    Raises:
        CaseError: the case raised an error other than a lack of memory.
    """
    context = multiprocessing.get_context("forkserver")
    here, there = context.Pipe(duplex=False)
    most = most or int(SHARE * psutil.virtual_memory().available)
    process = context.Process(target=_run, args=(there, case, args, threads, most), daemon=True)
    process.start()
    there.close()
    try:
        answer = here.recv() if here.poll(timeout_s) else Peak(fell=TOO_LONG)
    except EOFError:  # killed
        answer = Peak(fell=OUT_OF_MEMORY)
    process.kill()
    process.join()
    if isinstance(answer, str):
        raise CaseError(answer)
    return answer


def _run(answer: Connection, case: Case, args: tuple, threads: int, most: int) -> None:
    try:
        answer.send(_measured(case, args, threads, most))
    except Exception as error:
        answer.send(Peak(fell=OUT_OF_MEMORY) if lacks_memory(error) else traceback.format_exc())


def lacks_memory(error: Exception) -> bool:
    """Return True for an error that reports a lack of memory."""
    message = str(error)
    return isinstance(error, MemoryError) or "allocate memory" in message or "out of memory" in message


def _measured(case: Case, args: tuple, threads: int, most: int) -> Peak:
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
    work = case(*args)
    torch = sys.modules.get("torch")
    cuda = torch.cuda if torch and torch.cuda.is_initialized() else None
    gc.collect()
    if cuda:
        cuda.synchronize()
        cuda.reset_peak_memory_stats()
        allocated = cuda.memory_allocated()
    else:  # on a GPU the driver reserves more addresses than there is memory
        resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + most, resource.RLIM_INFINITY))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = _status("VmRSS"), time.perf_counter()
    result = work()
    if cuda:
        cuda.synchronize()
    took, grown = time.perf_counter() - start, _status("VmHWM") - before
    gpu = cuda.max_memory_allocated() - allocated if cuda else 0
    del result
    return Peak(grown, gpu, took)


def _status(line: str) -> int:
    """Return a number of bytes from this process's status in /proc."""
    kilobytes = re.search(rf"^{line}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kilobytes[1]) * 1024
