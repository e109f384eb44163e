"""A long fill is suspended between two passes for a short one, and resumes afterwards."""

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from in_process_engine import always
from rule_filler import RuleFiller

from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Failed, Fill, Filled, Preload
from intarsia.engine.service import scheduler, worker
from intarsia.engine.service.job import Answer, Job
from intarsia.engine.service.model_slot import LoadFiller, ModelSlot
from intarsia.engine.service.worker import MAX_SUSPENDED, Worker

PATIENCE_S = 20.0
NUM_PASSES = 3


class Engine:
    """A worker with a log of its fills, which have ``NUM_PASSES`` passes each.

    ``log`` has the prefix of a fill for each of its passes, and the prefix with a full stop when it
    is answered. A prefix with "w" is a background fill.
    """

    def __init__(self, load: LoadFiller | None = None) -> None:
        self.log: list[str] = []
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self.at_pass: dict[tuple[str, int], Callable[[], None]] = {}  # (prefix, pass) → is called
        self._writing: list[str] = []
        self._passes: dict[str, int] = {}
        self.filler = RuleFiller(
            self._begin, num_steps=NUM_PASSES, between_steps=lambda _: self._pass()
        )
        self.worker = Worker(
            ModelSlot(EngineConfig(), load or always(self.filler), lambda *_: None)
        )
        self.jobs: dict[str, Job] = {}

    def ask(self, prefix: str, client: str = "", model: str | None = None, **fields: bool) -> None:
        request = Fill(
            id=len(self.jobs), prefix=prefix, suffix="", model=model, is_background=prefix[0] == "w"
        )
        self.jobs[prefix] = Job(
            request=request,
            client=client or prefix,
            received_at=time.monotonic(),
            deliver=lambda answer: self._end(prefix, answer),
        )
        self.worker.submit(self.jobs[prefix])

    def run(self, num_answers: int) -> list[Answer]:
        """Start, and return the answers in their order."""
        self.worker.start()
        try:
            return [self.answers.get(timeout=PATIENCE_S) for _ in range(num_answers)]
        finally:
            assert self.worker.stop(PATIENCE_S)

    def _begin(self, request: Fill) -> str:
        if request.prefix.endswith("!"):
            raise KeyError(request.prefix)
        self._writing.append(request.prefix)
        return request.prefix

    def _pass(self) -> None:
        prefix = self._writing[-1]
        self.log.append(prefix)
        self._passes[prefix] = self._passes.get(prefix, 0) + 1
        self.at_pass.get((prefix, self._passes[prefix]), lambda: None)()

    def _end(self, prefix: str, answer: Answer) -> None:
        self.log.append(f"{prefix}.")
        if self._writing[-1:] == [prefix]:
            self._writing.pop()
        self.answers.put(answer)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def no_time_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fill's time slice is over at once."""
    monkeypatch.setattr(worker, "TIME_SLICE_S", 0.0)


@pytest.fixture
def long_time_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TIME_SLICE_S", 1_000.0)


@pytest.mark.usefixtures("long_time_slice")
def test_a_background_fill_is_suspended_and_makes_a_pass_between_any_two_fills(engine: Engine):
    def type_on() -> None:
        engine.ask("a")
        engine.ask("b")

    engine.at_pass["work", 1] = type_on
    engine.ask("work")
    answers = engine.run(3)
    assert engine.log == [
        *("work", "a", "a", "a", "a.", "work", "b", "b", "b", "b.", "work", "work.")
    ]
    assert [it.text for it in answers if isinstance(it, Filled)] == ["a", "b", "work"]


@pytest.mark.parametrize(
    ("time_slice", "log"),
    [
        ("long_time_slice", ["a", "a", "a", "a.", "b", "b", "b", "b."]),
        ("no_time_slice", ["a", "b", "b", "b", "b.", "a", "a", "a."]),
    ],
)
def test_a_fill_is_suspended_after_its_time_slice_and_not_within(engine, time_slice, log, request):
    request.getfixturevalue(time_slice)
    engine.at_pass["a", 1] = lambda: engine.ask("b")
    engine.ask("a")
    engine.run(2)
    assert engine.log == log


class Minutes:
    """A clock that goes on by a minute with each pass of Bob's fills."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def monotonic(self) -> float:
        return 60.0 * sum(name[0] == "b" and name[-1] != "." for name in self.engine.log)


@pytest.fixture
def short_and_long(engine, long_time_slice, monkeypatch) -> Engine:
    """An engine that has answered Ann quickly, and Bob slowly. "b…" are Bob's fills."""
    monkeypatch.setattr(scheduler, "time", Minutes(engine))
    engine.ask("b0", "bob")
    engine.ask("a0", "ann")
    return engine


def test_a_short_fill_does_not_wait_for_a_long_one(short_and_long: Engine):
    engine = short_and_long
    engine.at_pass["a0", 3] = lambda: engine.ask("b1", "bob")
    engine.at_pass["b1", 1] = lambda: engine.ask("a1", "ann")
    engine.run(4)
    assert engine.log[8:] == [*("b1", "a1", "a1", "a1", "a1.", "b1", "b1", "b1.")]


def test_a_long_fill_waits_for_a_short_one_and_for_a_long_one(short_and_long: Engine):
    engine = short_and_long
    engine.at_pass["a0", 1] = lambda: engine.ask("b1", "bob")
    engine.at_pass["b1", 1] = lambda: engine.ask("b2", "bob")
    engine.run(4)
    assert engine.log[4:] == [
        *("a0", "a0", "a0", "a0.", "b1", "b1", "b1", "b1.", "b2", "b2", "b2", "b2.")
    ]


def test_a_fill_of_a_quick_client_is_not_suspended_for_a_slow_one(short_and_long, monkeypatch):
    """Not even after its time slice, as where it has to read a new place."""
    engine = short_and_long

    def end_slices() -> None:
        monkeypatch.setattr(worker, "TIME_SLICE_S", 0.0)
        engine.ask("a1", "ann")

    engine.at_pass["a0", 3] = end_slices
    engine.at_pass["a1", 1] = lambda: engine.ask("b1", "bob")
    engine.run(4)
    assert engine.log[8:] == ["a1", "a1", "a1", "a1.", "b1", "b1", "b1", "b1."]


def test_a_short_fill_is_suspended_within_many_long_ones(short_and_long: Engine, monkeypatch):
    """Where no more long ones may be suspended, a short one still goes first."""
    engine = short_and_long

    def ask_for_long_ones() -> None:
        monkeypatch.setattr(worker, "TIME_SLICE_S", 0.0)
        engine.ask("b1", "bob b1")

    engine.at_pass["a0", 3] = ask_for_long_ones
    for number in range(1, MAX_SUSPENDED + 2):
        then = f"b{number + 1}"
        engine.at_pass[f"b{number}", 1] = lambda then=then: engine.ask(then, f"bob {then}")
    last = f"b{MAX_SUSPENDED + 1}"
    engine.at_pass[last, 2] = lambda: engine.ask("a1", "ann")
    engine.run(5 + MAX_SUSPENDED)
    assert engine.log.index("a1.") < engine.log.index(f"{last}.")
    assert f"b{MAX_SUSPENDED + 1}" in engine.log[: engine.log.index("a1")]


@pytest.mark.usefixtures("no_time_slice")
def test_no_fill_is_suspended_for_a_background_fill(engine: Engine):
    for prefix in ("a", "work"):
        engine.at_pass[prefix, 1] = lambda: engine.ask("w2")
        engine.ask(prefix)
        engine.at_pass.clear()
    engine.run(2)
    assert engine.log == ["a", "a", "a", "a.", "work", "work", "work", "work."]


@pytest.mark.usefixtures("no_time_slice")
def test_the_number_of_suspended_fills_is_limited(engine: Engine):
    names = [f"{number}" for number in range(MAX_SUSPENDED + 3)]
    for one, then in itertools.pairwise(names):
        engine.at_pass[one, 1] = lambda then=then: engine.ask(then)
    engine.ask(names[0])
    engine.run(len(names))
    firsts = [engine.log.index(name) for name in names]
    assert firsts == sorted(firsts)
    deepest = MAX_SUSPENDED
    assert engine.log.index(f"{deepest}.") < engine.log.index(f"{deepest + 1}")
    assert engine.log.index(f"{deepest - 1}.") > engine.log.index(f"{deepest + 1}.")


def test_within_a_fill_no_other_model_is_loaded_or_run(engine: Engine):
    loaded: list[str] = []

    def load(_: object, model: str, __: object) -> Filler:
        loaded.append(model)
        return engine.filler

    def ask_for_others() -> None:
        engine.ask("a", model="other")
        engine.worker.submit(
            Job(
                request=Preload(id=99, model="other"),
                client="b",
                received_at=time.monotonic(),
                deliver=engine.answers.put,
            )
        )

    engine.worker = Worker(ModelSlot(EngineConfig(model="one"), load, lambda *_: None))
    engine.at_pass["work", 1] = ask_for_others
    engine.ask("work")
    engine.run(3)
    assert engine.log == ["work", "work", "work", "work.", "a", "a", "a", "a."]
    assert loaded == ["one", "other"]


def test_a_fault_of_an_inner_fill_does_not_fail_the_suspended_one(engine: Engine):
    engine.at_pass["work", 1] = lambda: engine.ask("bad!")
    engine.ask("work")
    bad, work = engine.run(2)
    assert isinstance(bad, Failed)
    assert (isinstance(work, Filled), engine.log) == (
        True,
        ["work", "bad!.", "work", "work", "work."],
    )


def test_a_fill_cancelled_while_suspended_makes_no_further_pass(engine: Engine):
    engine.at_pass["work", 1] = lambda: engine.ask("a")
    engine.at_pass["a", 1] = lambda: engine.worker.cancel(engine.jobs["work"])
    engine.ask("work")
    first, second = engine.run(2)
    assert engine.log == ["work", "a", "a", "a", "a.", "work."]
    assert isinstance(first, Filled)
    assert isinstance(second, Failed)
    assert second.code == "cancelled"


def test_a_cancelled_fill_is_not_suspended(engine: Engine):
    def cancel_and_ask() -> None:
        engine.worker.cancel(engine.jobs["work"])
        engine.ask("a")

    engine.at_pass["work", 1] = cancel_and_ask
    engine.ask("work")
    engine.run(2)
    assert engine.log == ["work", "work.", "a", "a", "a", "a."]


def test_stopping_the_worker_cancels_suspended_fills_too(engine: Engine):
    stopping = threading.Thread(target=engine.worker.stop, args=(PATIENCE_S,))

    def stop() -> None:
        stopping.start()
        assert engine.jobs["a"].cancelled.wait(PATIENCE_S)

    engine.at_pass["work", 1] = lambda: engine.ask("a")
    engine.at_pass["a", 1] = stop
    engine.ask("work")
    engine.run(2)
    stopping.join(PATIENCE_S)
    assert engine.log == ["work", "a", "a.", "work."]


def test_an_inner_fill_runs_within_suspended(engine: Engine):
    @contextmanager
    def suspended() -> Iterator[None]:
        engine.log.append("(")
        yield
        engine.log.append(")")

    engine.filler.suspended = suspended
    engine.at_pass["work", 1] = lambda: engine.ask("a")
    engine.ask("work")
    engine.run(2)
    assert engine.log == ["work", "(", "a", "a", "a", "a.", ")", "work", "work", "work."]
