"""Runner with processes of this machine; each requests its next shard once it has opened the last images of its own.

A worker that dies (out of memory, killed) loses only its current work; another takes over its shards. If a second one
dies at the same shard, a finder process tries its images one by one, reporting each before it starts: an image that
ends two finders becomes a row with that reason, and the shard is done without it. Workers map the model from one file,
so they share its memory. They end when the process that started them ends, however it ends.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import shared
from vitexplorer.survey.card import SurveyError, read_card
from vitexplorer.survey.manifest import read_manifest
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.runners import Job, RowCallback
from vitexplorer.survey.shard import Work, survey_shards, try_row

MODEL_FILE = ".model-{token}.pt"
"""Name of the model file, one for each claim on a folder"""
START = "spawn"
"""Start method; a forked process would inherit locks held by threads that it does not have"""
MOST_DEATHS = 5
"""Deaths of workers at one shard, or before their start, after which the survey fails"""
SUSPECT = 2
"""Deaths of workers at one shard before its images are tried one by one, and of finders at one image to blame it"""
MOST_KILLERS = 8
"""Number of consecutive blamed images after which the survey fails, as the images are not the cause"""
_BEFORE = -1
Killers = dict[int, dict[int, Text]]
"""Shard -> row -> reason, for images that ended processes"""


def run(job: Job, shards: Sequence[int], report: RowCallback) -> None:
    """Do these shards; a single worker is this process.

    Raises DiskFullError, SurveyError if workers die repeatedly, and any exception of `report`.
    """
    if job.workers == 1:
        work = Work.of(job.folder, job.model, job.batch_size, job.threads, job.schema)
        for _, rows in survey_shards(work, shards):
            if rows:
                report(rows)
        return
    model_file = job.folder / MODEL_FILE.format(token=job.token)
    try:
        with explain_full_disk(job.folder), open(model_file, "wb") as file:  # torch's own does not say why it failed
            torch.save(job.model, file)
        _Crew(job, shards, report).work()
    finally:
        model_file.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------- the workers


class _Process:
    """Worker process with its connection."""

    def __init__(self, job: Job, doing: Callable[[Work, Connection], None]):
        context = multiprocessing.get_context(START)
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_begin, args=(other, job.for_worker(), doing), daemon=True)
        with _as_main(job.model):
            self.process.start()
        other.close()

    def ended(self) -> int | None:
        """Wait for the process to end and return its exit code."""
        self.process.join()
        self.connection.close()
        return self.process.exitcode


class _Worker(_Process):
    """Process with the shards assigned to it."""

    def __init__(self, job: Job):
        super().__init__(job, _do_shards)
        self.given: list[int] = []
        self.rows = 0
        """Finished rows of the first shard"""


class _Finder(_Process):
    """Process that tries the images of some shards one by one."""

    def __init__(self, job: Job, shards: Sequence[int], first: tuple[int, int], killers: Killers):
        super().__init__(job, partial(_try_rows, shards=tuple(shards), first=first, killers=killers))
        self.shards, self.first = shards, first
        self.at: tuple[int, int] | None = None
        """Last reported (index in `shards`, row)"""


class _Crew:
    """Running workers of a job."""

    def __init__(self, job: Job, shards: Sequence[int], report: RowCallback):
        self._job = job
        self._report = report
        self._waiting = deque(shards)
        self._deaths: Counter[int] = Counter()
        self._workers: dict[Connection, _Worker | _Finder] = {}
        self._killers: Killers = defaultdict(dict)
        self._tried: set[int] = set()
        """Shards that a finder has tried"""
        self._ends: Counter[tuple[int, int]] = Counter()
        """Number of finders that ended at (shard, row)"""
        self._in_a_row = 0
        """Number of consecutive blamed images"""

    def work(self) -> None:
        """Run until all shards are done. No worker is left when it returns or raises."""
        try:
            for _ in range(min(self._job.workers, len(self._waiting))):
                self._begin()
            while self._workers:
                for connection in wait(list(self._workers)):
                    self._listen(self._workers[connection])
        finally:
            for worker in self._workers.values():
                worker.process.kill()  # safe at any moment
                worker.ended()

    def _begin(self) -> None:
        worker = _Worker(self._job)
        self._workers[worker.connection] = worker

    def _find(self, shards: Sequence[int], first: tuple[int, int] = (0, 0)) -> None:
        finder = _Finder(self._job, shards, first, self._killers)
        self._workers[finder.connection] = finder

    def _listen(self, worker: _Worker | _Finder) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            self._ended(worker)
            return
        if isinstance(message, Exception):
            raise message
        if isinstance(worker, _Finder):
            if worker.at is not None:  # it survived the previous image
                self._in_a_row = 0
            worker.at = message
            self._deaths[_BEFORE] = 0
            return
        if message is None:
            self._deaths[_BEFORE] = 0
            number = self._waiting.popleft() if self._waiting else None
            worker.given += [number] if number is not None else []
            with suppress(OSError):  # it has died, which the next `wait` reports
                worker.connection.send(None if number is None else (number, self._killers.get(number, {})))
            return
        number, rows = message
        if rows:
            worker.rows += rows
            self._report(rows)
        else:
            worker.rows = 0
            worker.given.remove(number)

    def _ended(self, worker: _Worker | _Finder) -> None:
        """Handle a process that has finished or died; reassign its shards."""
        code = worker.ended()
        del self._workers[worker.connection]
        if isinstance(worker, _Finder):
            self._finder_ended(worker, code)
            return
        if not worker.given and code == 0:
            return
        if worker.rows:
            self._report(-worker.rows)
        for lost in worker.given or [_BEFORE]:
            self._died(lost)
        suspects = [shard for shard in worker.given if self._deaths[shard] >= SUSPECT and shard not in self._tried]
        self._tried.update(suspects)
        self._waiting.extendleft(shard for shard in reversed(worker.given) if shard not in suspects)
        if suspects:
            self._find(suspects)
        elif self._waiting:
            self._begin()

    def _died(self, lost: int) -> None:
        self._deaths[lost] += 1
        if self._deaths[lost] >= MOST_DEATHS:
            raise SurveyError(_what_died(self._job.folder, lost, MOST_DEATHS))

    def _finder_ended(self, finder: _Finder, code: int | None) -> None:
        """Handle a finder that has tried all its images, or has died at one."""
        if code == 0:
            self._waiting.extendleft(reversed(finder.shards))
            self._begin()
            return
        if finder.at is None:
            self._died(_BEFORE)
            self._find(finder.shards, finder.first)
            return
        at, row = finder.at
        shard = finder.shards[at]
        self._ends[shard, row] += 1
        if self._ends[shard, row] < SUSPECT:
            self._find(finder.shards, finder.at)
            return
        self._killers[shard][row] = _KILLER.format(how=_how(code))
        self._in_a_row += 1
        if self._in_a_row >= MOST_KILLERS:
            raise SurveyError(_what_died(self._job.folder, shard, MOST_KILLERS * SUSPECT))
        self._find(finder.shards, (at, row + 1))


def _how(code: int | None) -> str:
    names = {sig.value: sig.name for sig in signal.Signals}
    return names.get(-(code or 0), str(code))


def _what_died(folder: Path, shard: int, times: int) -> Text:
    if shard == _BEFORE:
        return _NEVER_BEGAN
    card = read_card(folder)
    first = shard * card.rows_per_shard
    return _DIED.format(times=times, first=first, last=first + card.rows_of(shard) - 1)


_DIED = Text(
    "Worker processes were killed {times:time} at rows {first} to {last}, as the system does where memory runs out. "
    "All other rows are kept: run it again with fewer workers or a smaller batch.",
    "处理第 {first} 到 {last} 行时，工作进程被终止 {times} 次；内存不足时，系统会这样做。其余各行均已保留："
    "请减少工作进程或批大小后重新运行。",
)
_KILLER = Text(
    "The process that read this image was ended twice ({how}). Open the image in another program and save it again.",
    "读取该图像的进程两次意外终止（{how}）。请用其他程序打开并重新保存该图像。",
)
_NEVER_BEGAN = Text(
    "The worker processes ended before they began; their messages are above. Run it with one worker.",
    "工作进程尚未开始便已退出，原因见上文。请只用一个工作进程运行。",
)


# ------------------------------------------------------------------------------------------------- in a worker


def _begin(connection: Connection, job: Job, doing: Callable[[Work, Connection], None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    torch.set_num_threads(job.torch_threads)
    keep_freed_memory()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):  # the parent is gone
        try:
            with shared(job.folder, job.token):
                model_file = job.folder / MODEL_FILE.format(token=job.token)
                model = torch.load(model_file, mmap=True, weights_only=False)  # written by `run`
                doing(Work.of(job.folder, model, job.batch_size, job.threads), connection)
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise
        except ExplainedError as error:
            connection.send(error)
        except Exception:
            connection.send(RuntimeError(traceback.format_exc()))


def _do_shards(work: Work, connection: Connection) -> None:
    """Do shards as the parent assigns them (a worker's task)."""
    for message in survey_shards(work, _asked_for(work, connection)):
        connection.send(message)


def _asked_for(work: Work, connection: Connection) -> Iterator[int]:
    """Request and yield shards until there are none."""
    while True:
        connection.send(None)
        given = connection.recv()
        if given is None:
            return
        number, work.killers[number] = given
        yield number


def _try_rows(
    work: Work, connection: Connection, *, shards: Sequence[int], first: tuple[int, int], killers: Killers
) -> None:
    """Try images one by one, reporting each before it starts (a finder's task)."""
    for at, number in enumerate(shards):
        for row, planned in enumerate(read_manifest(work.folder, number)):
            if (at, row) >= first and row not in killers.get(number, ()):
                connection.send((at, row))
                try_row(work, number, row, planned)


@contextmanager
def _as_main(model: Any) -> Iterator[None]:
    """Hide the main script from processes started in this context, unless the model uses classes of the script.

    A script that calls us outside `if __name__ == "__main__":` would otherwise call us again in each process.
    """
    main = sys.modules["__main__"]
    if not any(type(part).__module__ == "__main__" for part in (model.family, *model.module.modules())):
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
