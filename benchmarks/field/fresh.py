"""How much memory a piece of work takes at its peak: in a process of its own, which has done nothing else.

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
"""what takes seconds to import"""
SHARE = 0.6
"""of the memory that is available: what a case may take before it counts as out of memory"""


@dataclass(frozen=True)
class Peak:
    """What one case took."""

    grown: int = 0
    """bytes: peak resident size of the process while it worked, over what it held before"""
    gpu: int = 0
    """bytes: `torch.cuda.max_memory_allocated` while it worked, over what was allocated before; 0 without a GPU"""
    seconds: float = 0.0
    """of wall time"""
    fell: str = ""
    """`OUT_OF_MEMORY` or `TOO_LONG` where it could not finish"""


class CaseError(Exception):
    """A case failed in its process; the traceback is its text."""


def preload() -> None:
    """Have `LIBRARIES` imported once for all cases; call it before the first."""
    here = [name for name in LIBRARIES if importlib.util.find_spec(name.partition(".")[0])]
    multiprocessing.get_context("forkserver").set_forkserver_preload(here)


Case = Callable[..., Callable[[], object]]
"""prepares the work and returns it; a function at the top of a module that can be imported"""


def fresh(case: Case, *args: Any, threads: int = 1, timeout_s: float = 300.0, most: int | None = None) -> Peak:
    """Run `case(*args)` and then the work that it returns in a process of its own; only the work is measured.

    Args:
        case: see `Case`.
        args: what can be pickled.
        threads: of torch.
        timeout_s: seconds for all of it.
        most: bytes of address space that the process may add once it runs; `SHARE` of what is available when None.

    Raises CaseError where the case raised anything but a lack of memory.
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
    """Whether an error says that no memory was left."""
    said = str(error)
    return isinstance(error, MemoryError) or "allocate memory" in said or "out of memory" in said


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
    else:  # a GPU's driver reserves more addresses than there is memory
        resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + most, resource.RLIM_INFINITY))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = _status("VmRSS"), time.perf_counter()
    kept = work()
    if cuda:
        cuda.synchronize()
    took, grown = time.perf_counter() - start, _status("VmHWM") - before
    gpu = cuda.max_memory_allocated() - allocated if cuda else 0
    del kept
    return Peak(grown, gpu, took)


def _status(line: str) -> int:
    """Bytes that the kernel tells of this process."""
    kilobytes = re.search(rf"^{line}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kilobytes[1]) * 1024
