"""Turns: nobody holds a thread while they wait, whoever asks for little goes first, equal work is done once."""

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

from tests.helpers.app import Steps, run_apart
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import load_small, picture
from vitexplorer.capturing.capture import capture
from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import same
from vitexplorer.service import scheduler as module
from vitexplorer.service.fair_shares import Shares
from vitexplorer.service.scheduler import Turns, end_unwanted_passes
from vitexplorer.service.work import CrowdedError, Done, Report, Step, StoppedError, Waiter
from vitexplorer.ui.gradio_adapter.page_blocks import PatientBlocks, answer, answered
from vitexplorer.views import VIEWS

PATIENCE = 5.0
"""seconds until a test gives up"""


def until(condition: Callable[[], object]) -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


class Gated:
    """Work of so many passes, each of which waits for the test."""

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
        """Let so many passes go on."""
        self.gate.release(passes)


@pytest.fixture
def turns() -> Turns:
    return Turns("test")


@pytest.fixture
def busy(turns: Turns) -> Iterator[Gated]:
    """Somebody has the turn until the test is over, or opens it."""
    work = Gated("busy")
    steps = waiting(turns, "somebody", work)
    until(lambda: work.seen)
    yield work
    work.open()
    list(steps)


def waiting(turns: Turns, visitor: str, work: Callable[[Report], object], key: object = None, wants: str = "") -> Steps:
    """One who waits, from now on."""
    steps = Steps(turns.steps(Waiter(visitor, wants), key or work, work))
    steps.first = next(steps)
    return steps


def last(steps: Steps) -> object:
    """What one who waits is told in the end."""
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


def test_many_passes_give_way_to_who_asks_for_little(turns: Turns) -> None:
    seen: list[str] = []
    long, quick, other = Gated("long", 3, seen), Gated("quick", 1, seen), Gated("other", 1, seen)
    everybody = [waiting(turns, "a", long)]
    until(lambda: seen)
    everybody += [waiting(turns, "b", quick), waiting(turns, "c", other)]
    for work in (quick, other, long):
        work.open(3)
    assert [last(steps) for steps in everybody] == [Done("long"), Done("quick"), Done("other")]
    assert seen == ["long1", "quick1", "other1", "long2", "long3"]


def test_long_ones_take_turns_and_only_so_many_begin(turns: Turns) -> None:
    seen: list[str] = []
    works = [Gated(name, 2, seen) for name in "abcdef"]
    everybody = [waiting(turns, work.name, work) for work in works]
    for work in works:
        work.open(2)
    assert [last(steps) for steps in everybody] == [Done(work.name) for work in works]
    assert seen[: module.BEGUN] == ["a1", "b1", "c1", "d1"]
    assert seen[module.BEGUN].endswith("2")


def test_a_place_in_the_queue_is_told(turns: Turns, busy: Gated) -> None:
    works = [Gated(name) for name in "abc"]
    first, second, third = (waiting(turns, work.name, work) for work in works)
    assert [steps.first for steps in (first, second, third)] == [Step(place=1), Step(place=2), Step(place=3)]
    first.close()
    assert next(second) == Step(place=1)
    for work in (busy, *works):
        work.open()
    assert [last(steps) for steps in (second, third)] == [Done("b"), Done("c")]
    assert works[0].seen == []


def test_equal_work_is_done_once(turns: Turns, busy: Gated) -> None:
    works = [Gated("same") for _ in range(3)]
    everybody = [waiting(turns, visitor, work, key="same") for visitor, work in zip("abc", works, strict=True)]
    busy.open()
    until(lambda: works[0].seen)
    late = waiting(turns, "late", Gated(), key="same")
    everybody[0].close()  # whose work it was; others still wait for it
    works[0].open()
    assert [last(steps) for steps in (*everybody[1:], late)] == [Done("same")] * 3
    assert [work.seen for work in works] == [["same1"], [], []]


# ---------------------------------------------------------------------------------------------- how far it is


def test_steps_are_told_and_what_is_done(turns: Turns) -> None:
    heard = threading.Semaphore(0)

    def work(report: Report) -> None:
        for done, total, doing in ((0, 0, "Loading"), (1, 4, "Downloading")):
            report(done, total, same(doing))
            assert heard.acquire(timeout=PATIENCE)

    steps = Steps(turns.steps(Waiter("a"), "a", work))
    until(lambda: next(steps).doing == same("Loading"))
    heard.release()
    until(lambda: (step := next(steps)).doing == same("Downloading") and step.share == 0.25)
    heard.release()
    assert last(steps) == Done(None)


def test_what_is_left_is_told_from_the_pace_so_far() -> None:
    assert Step(5, 20, 1.0).seconds_left == pytest.approx(3.0)
    assert Step().seconds_left is None


def test_what_goes_wrong_is_raised_where_one_waits_and_the_next_has_its_turn(turns: Turns) -> None:
    with pytest.raises(ValueError, match="no number"):
        last(Steps(turns.steps(Waiter("a"), "a", lambda report: int("no number"))))
    assert last(Steps(turns.steps(Waiter("a"), "a", lambda report: 1))) == Done(1)


# ---------------------------------------------------------------------------------------------- who leaves


def test_work_that_nobody_waits_for_ends_with_its_next_report(turns: Turns) -> None:
    work, other = Gated("left", 9), Gated("other")
    steps = waiting(turns, "a", work, wants="figure")
    until(lambda: work.seen)
    turns.leave("b")
    turns.leave("a", "page")
    work.open()
    until(lambda: len(work.seen) == 2)  # neither meant it
    turns.leave("a", "figure")
    with pytest.raises(StoppedError):
        list(steps)
    work.open()
    assert work.ended.wait(PATIENCE)
    assert len(work.seen) == 2
    other.open()
    assert last(waiting(turns, "a", other, key="other")) == Done("other")


def test_a_pass_that_nobody_waits_for_ends_before_its_next_module(turns: Turns) -> None:
    end_unwanted_passes()
    begun, left, passed = threading.Event(), threading.Event(), []

    class Layer(torch.nn.Module):
        def forward(self, number: int) -> int:
            passed.append(number)
            begun.set()
            assert left.wait(PATIENCE)
            return number + 1

    steps = Steps(turns.steps(Waiter("a"), "pass", lambda report: torch.nn.Sequential(Layer(), Layer())(0)))
    until(lambda: next(steps) is not None and begun.is_set())
    turns.leave("a")
    left.set()
    with pytest.raises(StoppedError):
        list(steps)
    until(lambda: not len(turns))
    assert passed == [0]


def test_a_question_that_was_overtaken_does_not_end_the_later_one(turns: Turns, busy: Gated) -> None:
    asked = [Steps(turns.steps(Waiter("a", "figure", number), number, lambda report: "found")) for number in (1, 2)]
    for steps in asked:
        next(steps)
    turns.leave("a", "figure", before=2)
    busy.open()
    with pytest.raises(StoppedError):
        list(asked[0])
    assert last(asked[1]) == Done("found")


def test_who_comes_back_for_it_gets_it(turns: Turns) -> None:
    work = Gated("it", 2)
    waiting(turns, "a", work, key="it").close()
    again = waiting(turns, "a", Gated(), key="it")
    work.open(2)
    assert last(again) == Done("it")


def test_work_that_has_not_begun_never_does(turns: Turns, busy: Gated) -> None:
    work, after = Gated(), Gated("after")
    steps = waiting(turns, "a", work)
    turns.leave("a")
    with pytest.raises(StoppedError):
        list(steps)
    busy.open()
    after.open()
    assert last(waiting(turns, "b", after)) == Done("after")
    assert work.seen == []


# ---------------------------------------------------------------------------------------------- how much may wait


def test_one_visitor_waits_for_so_much_and_no_more(turns: Turns, busy: Gated) -> None:
    everybody = [waiting(turns, "a", Gated()) for _ in range(module.EACH)]
    with pytest.raises(CrowdedError) as refused:
        waiting(turns, "a", Gated())
    assert str(module.EACH) in refused.value.text.en
    assert "等待" in refused.value.text.zh
    everybody.append(waiting(turns, "b", Gated()))
    for steps in everybody:
        steps.close()


def test_all_together_wait_for_so_much_and_no_more(turns: Turns, busy: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ALL", 3)
    everybody = [waiting(turns, visitor, Gated()) for visitor in "ab"]
    with pytest.raises(CrowdedError, match="try again in a minute"):
        waiting(turns, "c", Gated())
    for steps in everybody:
        steps.close()


# ---------------------------------------------------------------------------------------------- what an answer needs


class Kept:
    """Something that is made in a turn, of something else that is made in another."""

    def __init__(self, turns: Turns):
        self.turns, self.others, self.made = turns, Turns("others"), []
        self.cache: BytesCache[str, str] = BytesCache(1000, len)

    def get(self, name: str) -> str:
        turns = self.others if name == "weights" else self.turns
        return turns.kept(self.cache, name, lambda report: self._make(name))

    def _make(self, name: str) -> str:
        self.made.append(name if name == "weights" else f"{name} of {self.get('weights')}")
        return name


def test_an_answer_is_asked_again_when_all_it_needs_is_there(turns: Turns) -> None:
    kept, asked = Kept(turns), []

    def asking() -> str:
        asked.append(threading.current_thread().name)
        return f"{kept.get('a')} {kept.get('b')}"

    *_, last = Steps(answered(Waiter("me"), asking))
    assert last == Done("a b")
    assert kept.made == ["weights", "a of weights", "b of weights"]
    assert len(asked) == 3


def test_a_script_waits_for_what_it_needs(turns: Turns) -> None:
    kept = Kept(turns)
    assert kept.get("a") == "a"
    assert kept.made == ["weights", "a of weights"]


def test_many_answers_that_wait_hold_no_thread(turns: Turns, busy: Gated) -> None:
    kept = Kept(turns)
    before = threading.active_count()
    everybody = [Steps(answered(Waiter(str(n)), lambda: kept.get("a"))) for n in range(30)]
    assert all(next(steps).place == 1 for steps in everybody)
    assert threading.active_count() <= before + 2 * len(everybody)  # the loop of each, and what made its answer
    assert run_apart(answer(Waiter("quick"), lambda: "from memory")) == "from memory"
    busy.open()
    assert [last(steps) for steps in everybody] == [Done("a")] * 30


def test_the_page_answers_while_forty_five_wait_for_the_model(turns: Turns, busy: Gated) -> None:
    kept = Kept(turns)

    async def visit() -> list[str]:
        with PatientBlocks(analytics_enabled=False) as page:
            shown = gr.Textbox()
            for asking in (lambda: kept.get("a"), lambda: "from memory"):
                gr.Button().click(asking, None, shown, queue=False)
        page.queue()
        app = gr.mount_gradio_app(Starlette(), page, path="", ssr_mode=False)
        page.run_startup_events()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page") as client:

            async def ask(function: int, session: str) -> str:
                body = {"data": [], "fn_index": function, "session_hash": session}
                return (await client.post("/gradio_api/run/predict", json=body)).json()["data"][0]

            many = [asyncio.create_task(ask(0, str(number))) for number in range(45)]
            while len(turns._jobs) < 2:  # somebody's and theirs
                await asyncio.sleep(0.01)
            assert await ask(1, "another") == "from memory"
            assert (await client.get("/")).status_code == 200
            assert not any(task.done() for task in many)
            busy.open()
            return await asyncio.gather(*many)

    assert run_apart(visit()) == ["a"] * 45
    assert kept.made == ["weights", "a of weights"]


async def _a_then_b() -> AsyncGenerator[str, None]:
    yield "a"
    yield "b"


async def _told(visibility: str) -> list[tuple[str, list]]:
    """What the stream says of an event that says two things."""
    with PatientBlocks(analytics_enabled=False) as page:
        gr.Button().click(_a_then_b, None, gr.Textbox(), api_visibility=visibility)
    page.queue()
    app = gr.mount_gradio_app(Starlette(), page, path="", ssr_mode=False)
    page.run_startup_events()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page/gradio_api/queue") as client:
        await client.post("join", json={"data": [], "fn_index": 0, "session_hash": "somebody"})
        stream = (await client.get("data", params={"session_hash": "somebody"})).text
    said = [json.loads(line.removeprefix("data: ")) for line in stream.split("\n\n") if line]
    return [(one["msg"], one["output"]["data"]) for one in said if "output" in one]


def test_a_page_is_not_told_again_at_the_end_and_a_script_is() -> None:
    page, script = run_apart(_told("private")), run_apart(_told("public"))
    assert page[:2] == script[:2] == [("process_generating", ["a"]), ("process_generating", [[["replace", [], "b"]]])]
    assert page[2:] == [("process_completed", [gr.skip()])]
    assert script[2:] == [("process_completed", ["b"])]


# ---------------------------------------------------------------------------------------------- the numbers


@pytest.mark.parametrize("view", [key for key, view in VIEWS.items() if view.runs == "many"])
def test_what_runs_beside_many_passes_changes_no_number(view: str) -> None:
    model = load_small("vit")
    image = picture(*model.preprocessing.input_size)
    alone, plain = (capture(model, image, fit="squash") for _ in range(2))
    found, ended, others = cheaply(view, alone), threading.Event(), []

    def explore() -> None:
        while not ended.is_set():
            others.append(capture(model, image, fit="squash").output)

    beside = threading.Thread(target=explore)
    beside.start()
    again = cheaply(view, plain)
    ended.set()
    beside.join()
    assert (found.values == again.values).all()
    assert all(torch.equal(output, plain.output) for output in others)
