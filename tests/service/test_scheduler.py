"""Scheduler: waiting holds no thread, light users go first, equal work runs once."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator

import gradio as gr
import httpx
import pytest
import torch
from starlette.applications import Starlette

from tests.helpers.app import Steps
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import load_small, picture
from tests.helpers.waiting import now, until
from vitexplorer.capturing.capture import capture
from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import same
from vitexplorer.service import scheduler as module
from vitexplorer.service.answer_threads import THREADS, in_thread, waiting_in_thread
from vitexplorer.service.fair_shares import Shares
from vitexplorer.service.jobs import CrowdedError, Done, Report, Step, StoppedError, Waiting, following, waiting
from vitexplorer.service.scheduler import Scheduler, end_unwanted_passes
from vitexplorer.ui.gradio_adapter.page_blocks import PageBlocks
from vitexplorer.views import VIEWS

PATIENCE = 60.0
"""Seconds until a test gives up"""


class Gated:
    """Work of several passes, each of which waits for the test."""

    def __init__(self, name: str = "it", passes: int = 1, seen: list[str] | None = None):
        self.name, self.passes, self.seen = name, passes, [] if seen is None else seen
        self.gate, self.ended = threading.Semaphore(0), threading.Event()

    def __call__(self, report: Report) -> str:
        try:
            for done in range(1, self.passes + 1):
                self.seen.append(f"{self.name}{done}")
                assert self.gate.acquire(timeout=PATIENCE)
                report(done, self.passes)
        finally:
            self.ended.set()
        return self.name

    def open(self, passes: int = 1) -> None:
        """Let several passes go on."""
        self.gate.release(passes)


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler("test")


@pytest.fixture
def busy(scheduler: Scheduler) -> Iterator[Gated]:
    """Hold the turn until the test is over, or opens it."""
    work = Gated("busy")
    steps = waits(scheduler, "somebody", work)
    until(lambda: work.seen)
    yield work
    work.open()
    list(steps)


def waits(
    scheduler: Scheduler, visitor: str, work: Callable[[Report], object], key: object = None, wants: str = ""
) -> Steps:
    """Start to wait as a visitor."""
    steps = Steps(following(Waiting(visitor, wants), scheduler.run(key or work, work)))
    steps.first = next(steps)
    return steps


def last(steps: Steps) -> object:
    """Return the last message to a waiting visitor."""
    end, step = time.monotonic() + PATIENCE, None
    for step in steps:
        assert time.monotonic() < end, step
    return step


# ---------------------------------------------------------------------------------------------- whose turn it is


def test_who_had_least_is_next() -> None:
    shares = Shares()
    shares.enter("a", [])
    shares.pay(10, ["a"], ["a"])
    shares.enter("b", ["a"])  # with the 10 of a, who is the only one there
    shares.pay(1, ["b"], ["a", "b"])
    shares.pay(4, ["a"], ["a", "b"])
    assert (shares.of(["a"]), shares.of(["b"]), shares.of(["a", "b"])) == (14, 11, 11)
    shares.enter("c", ["a", "b"])
    shares.pay(6, ["b", "c"], ["a", "b", "c"])  # what both wait for costs each the half
    assert (shares.of(["b"]), shares.of(["c"])) == (14, 14)
    shares.pay(0, [], ["a"])  # b and c are gone with what they had, for a has had as much
    shares.pay(6, ["a"], ["a"])
    shares.enter("b", ["a"])
    assert shares.of(["b"]) == 20
    assert shares.of([]) < shares.of(["b"])


def test_many_passes_give_way_to_who_asks_for_little(scheduler: Scheduler) -> None:
    seen: list[str] = []
    long, quick, other = Gated("long", 3, seen), Gated("quick", 1, seen), Gated("other", 1, seen)
    everybody = [waits(scheduler, "a", long)]
    until(lambda: seen)
    everybody += [waits(scheduler, "b", quick), waits(scheduler, "c", other)]
    for work in (quick, other, long):
        work.open(3)
    assert [last(steps) for steps in everybody] == [Done("long"), Done("quick"), Done("other")]
    assert seen == ["long1", "quick1", "other1", "long2", "long3"]


def test_a_line_about_the_work_gives_the_turn_to_nobody(scheduler: Scheduler) -> None:
    """A capture tells what it does before its only pass; others who came later would all overtake it."""
    seen: list[str] = []
    gate = threading.Semaphore(0)

    def work(report: Report) -> None:
        seen.append("begins")
        assert gate.acquire(timeout=PATIENCE)
        report(0, 0, same("loading"))
        seen.append("ends")

    first = waits(scheduler, "first", work)
    until(lambda: seen)
    other = waits(scheduler, "other", lambda report: seen.append("other"))
    gate.release()
    assert (last(first), last(other), seen) == (Done(None), Done(None), ["begins", "ends", "other"])


def test_long_ones_take_turns_and_only_so_many_begin(scheduler: Scheduler) -> None:
    seen: list[str] = []
    works = [Gated(name, 2, seen) for name in "abcdef"]
    everybody = [waits(scheduler, work.name, work) for work in works]
    for work in works:
        work.open(2)
    assert [last(steps) for steps in everybody] == [Done(work.name) for work in works]
    assert seen[: module.BEGUN] == ["a1", "b1", "c1", "d1"]
    assert seen[module.BEGUN].endswith("2")


def test_the_place_in_the_queue_is_reported(scheduler: Scheduler, busy: Gated) -> None:
    works = [Gated(name) for name in "abc"]
    first, second, third = (waits(scheduler, work.name, work) for work in works)
    assert [steps.first for steps in (first, second, third)] == [Step(place=1), Step(place=2), Step(place=3)]
    first.close()
    assert next(second) == Step(place=1)
    for work in (busy, *works):
        work.open()
    assert [last(steps) for steps in (second, third)] == [Done("b"), Done("c")]
    assert works[0].seen == []


def test_equal_work_is_done_once(scheduler: Scheduler, busy: Gated) -> None:
    works = [Gated("same") for _ in range(3)]
    everybody = [waits(scheduler, visitor, work, key="same") for visitor, work in zip("abc", works, strict=True)]
    busy.open()
    until(lambda: works[0].seen)
    late = waits(scheduler, "late", Gated(), key="same")
    everybody[0].close()  # whose work it was; others still wait for it
    works[0].open()
    assert [last(steps) for steps in (*everybody[1:], late)] == [Done("same")] * 3
    assert [work.seen for work in works] == [["same1"], [], []]


# ---------------------------------------------------------------------------------------------- how far it is


def test_steps_and_their_progress_are_reported(scheduler: Scheduler) -> None:
    heard = threading.Semaphore(0)

    def work(report: Report) -> None:
        for done, total, doing in ((0, 0, "Loading"), (1, 4, "Downloading")):
            report(done, total, same(doing))
            assert heard.acquire(timeout=PATIENCE)

    steps = Steps(following(Waiting("a"), scheduler.run("a", work)))
    until(lambda: next(steps).doing == same("Loading"))
    heard.release()
    until(lambda: (step := next(steps)).doing == same("Downloading") and step.share == 0.25)
    heard.release()
    assert last(steps) == Done(None)


def test_the_remaining_time_follows_the_pace_so_far() -> None:
    assert Step(5, 20, 1.0).seconds_left == pytest.approx(3.0)
    assert Step().seconds_left is None


def test_what_goes_wrong_is_raised_where_one_waits_and_the_next_has_its_turn(scheduler: Scheduler) -> None:
    with pytest.raises(ValueError, match="no number"):
        last(Steps(following(Waiting("a"), scheduler.run("a", lambda report: int("no number")))))
    assert last(Steps(following(Waiting("a"), scheduler.run("a", lambda report: 1)))) == Done(1)


# ---------------------------------------------------------------------------------------------- who leaves


def test_work_that_nobody_waits_for_ends_with_its_next_report(scheduler: Scheduler) -> None:
    work, other = Gated("left", 9), Gated("other")
    steps = waits(scheduler, "a", work, wants="figure")
    until(lambda: work.seen)
    scheduler.leave("b")
    scheduler.leave("a", "page")
    work.open()
    until(lambda: len(work.seen) == 2)  # neither meant it
    scheduler.leave("a", "figure")
    with pytest.raises(StoppedError):
        list(steps)
    work.open()
    assert work.ended.wait(PATIENCE)
    assert len(work.seen) == 2
    other.open()
    assert last(waits(scheduler, "a", other, key="other")) == Done("other")


def test_a_pass_that_nobody_waits_for_ends_before_its_next_module(scheduler: Scheduler) -> None:
    end_unwanted_passes()
    begun, left, passed = threading.Event(), threading.Event(), []

    class Layer(torch.nn.Module):
        def forward(self, number: int) -> int:
            passed.append(number)
            begun.set()
            assert left.wait(PATIENCE)
            return number + 1

    steps = Steps(
        following(Waiting("a"), scheduler.run("pass", lambda report: torch.nn.Sequential(Layer(), Layer())(0)))
    )
    until(lambda: next(steps) is not None and begun.is_set())
    scheduler.leave("a")
    left.set()
    with pytest.raises(StoppedError):
        list(steps)
    until(lambda: not len(scheduler))
    assert passed == [0]


def test_a_question_that_was_overtaken_does_not_end_the_later_one(scheduler: Scheduler, busy: Gated) -> None:
    asked = [
        Steps(following(Waiting("a", "figure", number), scheduler.run(number, lambda report: "found")))
        for number in (1, 2)
    ]
    for steps in asked:
        next(steps)
    scheduler.leave("a", "figure", before=2)
    busy.open()
    with pytest.raises(StoppedError):
        list(asked[0])
    assert last(asked[1]) == Done("found")


def test_who_comes_back_for_it_gets_it(scheduler: Scheduler) -> None:
    work = Gated("it", 2)
    waits(scheduler, "a", work, key="it").close()
    again = waits(scheduler, "a", Gated(), key="it")
    work.open(2)
    assert last(again) == Done("it")


def test_work_that_has_not_begun_never_does(scheduler: Scheduler, busy: Gated) -> None:
    work, after = Gated(), Gated("after")
    steps = waits(scheduler, "a", work)
    scheduler.leave("a")
    with pytest.raises(StoppedError):
        list(steps)
    busy.open()
    after.open()
    assert last(waits(scheduler, "b", after)) == Done("after")
    assert work.seen == []


# ---------------------------------------------------------------------------------------------- how much may wait


def test_one_visitor_waits_for_so_much_and_no_more(scheduler: Scheduler, busy: Gated) -> None:
    everybody = [waits(scheduler, "a", Gated()) for _ in range(module.EACH)]
    with pytest.raises(CrowdedError) as refused:
        waits(scheduler, "a", Gated())
    assert str(module.EACH) in refused.value.text.en
    assert "等待" in refused.value.text.zh
    everybody.append(waits(scheduler, "b", Gated()))
    for steps in everybody:
        steps.close()


def test_all_together_wait_for_so_much_and_no_more(
    scheduler: Scheduler, busy: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALL", 3)
    everybody = [waits(scheduler, visitor, Gated()) for visitor in "ab"]
    with pytest.raises(CrowdedError, match="try again in a minute"):
        waits(scheduler, "c", Gated())
    for steps in everybody:
        steps.close()


# ---------------------------------------------------------------------------------------------- what an answer needs


class Composed:
    """Make a value in one scheduler's turn that needs another scheduler's value."""

    def __init__(self, scheduler: Scheduler):
        self.scheduler, self.others, self.made = scheduler, Scheduler("others"), []
        self.cache: BytesCache[str, str] = BytesCache(1000, len)

    async def get(self, name: str) -> str:
        weights = await self._cached(self.others, "weights", "weights")
        return await self._cached(self.scheduler, name, f"{name} of {weights}")

    async def _cached(self, scheduler: Scheduler, name: str, made: str) -> str:
        def make(report: Report) -> str:
            self.made.append(made)
            return name

        return await scheduler.cached(self.cache, name, make)


def test_an_answer_awaits_one_thing_after_the_other(scheduler: Scheduler) -> None:
    composed, begun = Composed(scheduler), []

    async def answer() -> str:
        begun.append(waiting.get().visitor)
        return f"{await composed.get('a')} {await composed.get('b')}"

    *_, last = Steps(following(Waiting("me"), answer()))
    assert last == Done("a b")
    assert composed.made == ["weights", "a of weights", "b of weights"]
    assert begun == ["me"]
    assert now(composed.get("a")) == "a"  # nobody in particular: a script


def test_what_is_in_memory_comes_without_a_loop_or_a_thread(scheduler: Scheduler) -> None:
    composed = Composed(scheduler)
    now(composed.get("a"))
    with pytest.raises(StopIteration) as ended:
        composed.get("a").send(None)
    assert ended.value.value == "a"


def test_many_answers_that_wait_hold_no_thread(scheduler: Scheduler, busy: Gated) -> None:
    composed = Composed(scheduler)
    composed.cache.put("weights", "weights")
    before = threading.active_count()
    everybody = [Steps(following(Waiting(str(n)), composed.get("a"))) for n in range(30)]
    assert all(next(steps).place == 1 for steps in everybody)
    assert threading.active_count() <= before + len(everybody)  # the loop of each
    assert now(in_thread(lambda: "from memory")) == "from memory"
    busy.open()
    assert [last(steps) for steps in everybody] == [Done("a")] * 30


async def test_who_has_left_is_let_go_of(scheduler: Scheduler, busy: Gated) -> None:
    async def leaves_later(step: Step) -> None:
        raise StoppedError

    work = Gated()
    task = asyncio.create_task(scheduler.run("given up", work))
    await asyncio.sleep(0)
    assert len(scheduler) == 2  # somebody's and this one
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(scheduler) == 1
    waiting.set(Waiting("a", tell=leaves_later))
    with pytest.raises(StoppedError):
        await scheduler.run("left", work)
    assert len(scheduler) == 1
    assert work.seen == []


async def test_functions_that_wait_in_their_middle_stand_in_a_line_of_their_own(
    scheduler: Scheduler, busy: Gated
) -> None:
    composed = Composed(scheduler)
    asking = [waiting_in_thread(lambda wait: wait(composed.get("a"))) for _ in range(2 * THREADS)]
    many = [asyncio.create_task(one) for one in asking]
    while len(scheduler) < 2:
        await asyncio.sleep(0.01)
    assert await in_thread(lambda: "from memory") == "from memory"
    assert not any(task.done() for task in many)
    busy.open()
    assert await asyncio.gather(*many) == ["a"] * 2 * THREADS
    assert composed.made == ["weights", "a of weights"]


async def test_a_function_that_waits_in_its_middle_ends_where_nobody_waits_for_it(
    scheduler: Scheduler, busy: Gated
) -> None:
    ended, raised = threading.Event(), []

    def asks_twice(wait: Callable) -> None:
        try:
            for key in ("first", "second"):
                try:
                    wait(scheduler.run(key, lambda report: None))
                except BaseException as error:
                    raised.append(type(error).__name__)
        finally:
            ended.set()

    task = asyncio.create_task(waiting_in_thread(asks_twice))
    while len(scheduler) < 2:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    while len(scheduler) > 1:
        await asyncio.sleep(0.01)
    assert ended.wait(PATIENCE)
    assert raised == ["CancelledError", "StoppedError"]


def client_of(page: PageBlocks) -> httpx.AsyncClient:
    """Mount a page and return a client for it."""
    page.queue()
    app = gr.mount_gradio_app(Starlette(), page, path="", ssr_mode=False)
    page.run_startup_events()
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page/gradio_api")


async def test_the_page_answers_while_forty_five_wait_for_the_model(scheduler: Scheduler, busy: Gated) -> None:
    composed = Composed(scheduler)

    async def ask_for_a() -> str:
        return await composed.get("a")

    async def ask(function: int, session: str) -> str:
        body = {"data": [], "fn_index": function, "session_hash": session}
        return (await client.post("run/predict", json=body)).json()["data"][0]

    with PageBlocks(analytics_enabled=False) as page:
        textbox = gr.Textbox()
        for asking in (ask_for_a, lambda: "from memory"):
            gr.Button().click(asking, None, textbox, queue=False)
    async with client_of(page) as client:
        many = [asyncio.create_task(ask(0, str(number))) for number in range(45)]
        while len(scheduler) < 2:  # somebody's and theirs
            await asyncio.sleep(0.01)
        assert await ask(1, "another") == "from memory"
        assert (await client.get("http://page/")).status_code == 200
        assert not any(task.done() for task in many)
        busy.open()
        assert await asyncio.gather(*many) == ["a"] * 45
    assert composed.made == ["weights", "a of weights"]


async def _a_then_b() -> AsyncGenerator[str, None]:
    yield "a"
    yield "b"


async def _outputs(visibility: str) -> list[tuple[str, list]]:
    """Return messages and outputs of the stream of an event with two outputs."""
    with PageBlocks(analytics_enabled=False) as page:
        gr.Button().click(_a_then_b, None, gr.Textbox(), api_visibility=visibility)
    async with client_of(page) as client:
        await client.post("queue/join", json={"data": [], "fn_index": 0, "session_hash": "somebody"})
        stream = (await client.get("queue/data", params={"session_hash": "somebody"})).text
    messages = [json.loads(line.removeprefix("data: ")) for line in stream.split("\n\n") if line]
    return [(one["msg"], one["output"]["data"]) for one in messages if "output" in one]


async def test_the_last_value_is_repeated_at_the_end_for_a_script_and_not_for_a_page() -> None:
    page, script = await _outputs("private"), await _outputs("public")
    assert page[:2] == script[:2] == [("process_generating", ["a"]), ("process_generating", [[["replace", [], "b"]]])]
    assert page[2:] == [("process_completed", [gr.skip()])]
    assert script[2:] == [("process_completed", ["b"])]


# ---------------------------------------------------------------------------------------------- the numbers


@pytest.mark.parametrize("view", [key for key, view in VIEWS.items() if view.runs == "many"])
def test_what_runs_beside_many_passes_changes_no_number(view: str) -> None:
    model = load_small("vit")
    image = picture(*model.preprocessing.input_size)
    alone, plain = (capture(model, image, fit="squash") for _ in range(2))
    result, ended, others = cheaply(view, alone), threading.Event(), []

    def explore() -> None:
        while not ended.is_set():
            others.append(capture(model, image, fit="squash").output)

    beside = threading.Thread(target=explore)
    beside.start()
    again = cheaply(view, plain)
    ended.set()
    beside.join()
    assert (result.values == again.values).all()
    assert all(torch.equal(output, plain.output) for output in others)
