"""Does shards in processes of this machine: each asks for the next one when it has opened the last images of its own.

A worker that dies (the system's memory ran out, somebody killed it) loses what it was doing and nothing else: another
takes its place and its shards. Workers read the model from one file, whose pages they share; when the process that
started them ends, however it ends, so do they.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from vitexplorer.survey.card import SurveyError, read_card
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.runners import Job, Told
from vitexplorer.survey.shard import Work, survey_shards
from vitexplorer.words import ExplainedError, Text

MODEL_FILE = ".model.pt"
START = "spawn"
"""how a process begins: a copy of this one (fork) would have its locks, held by threads that it does not have"""
MOST_DEATHS = 5
"""of workers on one shard, or of workers that never began, before it is no accident"""
_BEFORE = -1


def run(job: Job, shards: Sequence[int], told: Told) -> None:
    """Do these shards. With one worker it is this process.

    Raises what `told` raises, DiskFullError, and SurveyError where workers die again and again.
    """
    if job.workers == 1:
        work = Work.of(job.folder, job.model, job.batch_size, job.threads, job.schema)
        for _, rows in survey_shards(work, shards):
            if rows:
                told(rows)
        return
    kept = job.folder / MODEL_FILE
    try:
        torch.save(job.model, kept)
        _Crew(job, shards, told).work()
    finally:
        kept.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------- the workers


class _Worker:
    """A process and the shards that it was given."""

    def __init__(self, job: Job):
        context = multiprocessing.get_context(START)
        self.connection, other = context.Pipe()
        numbers = job.batch_size, job.threads, job.torch_threads
        self.process = context.Process(target=_work, args=(other, str(job.folder), *numbers), daemon=True)
        with _as_main(job.model):
            self.process.start()
        other.close()
        self.given: list[int] = []
        self.rows = 0
        """answered of the first of them"""


class _Crew:
    """The workers of a job, while they work."""

    def __init__(self, job: Job, shards: Sequence[int], told: Told):
        self._job, self._told, self._waiting = job, told, deque(shards)
        self._deaths: Counter[int] = Counter()
        self._workers: dict[Connection, _Worker] = {}

    def work(self) -> None:
        """Until all is done; nobody works any more when it returns or raises."""
        try:
            for _ in range(min(self._job.workers, len(self._waiting))):
                self._begin()
            while self._workers:
                for connection in wait(list(self._workers)):
                    self._listen(self._workers[connection])
        finally:
            for worker in self._workers.values():
                worker.process.kill()  # it may be killed at any moment
                worker.process.join()
                worker.connection.close()

    def _begin(self) -> None:
        worker = _Worker(self._job)
        self._workers[worker.connection] = worker

    def _listen(self, worker: _Worker) -> None:
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            self._ended(worker)
            return
        if isinstance(said, Exception):
            raise said
        if said is None:
            self._deaths[_BEFORE] = 0
            number = self._waiting.popleft() if self._waiting else None
            worker.given += [number] if number is not None else []
            with suppress(OSError):  # it has died: the next that is heard of it
                worker.connection.send(number)
            return
        number, rows = said
        if rows:
            worker.rows += rows
            self._told(rows)
        else:
            worker.rows = 0
            worker.given.remove(number)

    def _ended(self, worker: _Worker) -> None:
        """One has finished, or has died and left something."""
        worker.process.join()
        worker.connection.close()
        del self._workers[worker.connection]
        if not worker.given and worker.process.exitcode == 0:
            return
        if worker.rows:
            self._told(-worker.rows)
        lost = worker.given[0] if worker.given else _BEFORE
        self._deaths[lost] += 1
        if self._deaths[lost] >= MOST_DEATHS:
            raise SurveyError(_what_died(self._job.folder, lost))
        self._waiting.extendleft(reversed(worker.given))
        if self._waiting:
            self._begin()


def _what_died(folder: Path, shard: int) -> Text:
    if shard == _BEFORE:
        return _NEVER_BEGAN
    card = read_card(folder)
    first = shard * card.rows_per_shard
    return _DIED.format(times=MOST_DEATHS, first=first, last=first + card.rows_of(shard) - 1)


_DIED = Text(
    "Worker processes were killed {times} times at rows {first} to {last}, as the system does where memory runs out. "
    "All other rows are kept: run it again with fewer workers or a smaller batch.",
    "处理第 {first} 到 {last} 行时，工作进程被终止 {times} 次，内存不足时系统会如此。其余各行均已保留："
    "请减少工作进程或批大小后重新运行。",
)
_NEVER_BEGAN = Text(
    "The worker processes end before they begin; what they say stands above. Run it with one worker.",
    "工作进程尚未开始便已退出，原因见上文。请只用一个工作进程运行。",
)


# ------------------------------------------------------------------------------------------------- in a worker


def _work(connection: Connection, folder: str, batch_size: int, threads: int, torch_threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever pressed it has stopped the one who waits for us
    torch.set_num_threads(torch_threads)
    keep_freed_memory()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):  # nobody waits any more
        try:
            model = torch.load(Path(folder) / MODEL_FILE, mmap=True, weights_only=False)  # our own file
            work = Work.of(Path(folder), model, batch_size, threads)
            for said in survey_shards(work, _asked_for(connection)):
                connection.send(said)
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise
        except ExplainedError as error:
            connection.send(error)
        except Exception:
            connection.send(RuntimeError(traceback.format_exc()))


def _asked_for(connection: Connection) -> Iterator[int]:
    """The next shard as often as one is wanted."""
    while True:
        connection.send(None)
        number = connection.recv()
        if number is None:
            return
        yield number


@contextmanager
def _as_main(model: Any) -> Iterator[None]:
    """Processes that begin in this context import the script that is run only where the model is made of its classes.

    A script that calls us outside `if __name__ == "__main__":` would call us again in each of them.
    """
    main = sys.modules["__main__"]
    if not any(type(part).__module__ == "__main__" for part in (model.family, *model.module.modules())):
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
