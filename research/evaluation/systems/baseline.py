"""Another program with the same backbone, as two systems: its own text, and that text cleaned.

The program sees as much of a file as our engine, but its prefix includes a half-typed word: only
our engine heals tokens. Its own text ends at the hole's stop texts; other rules for the end, such
as indentation, are part of the cleaning.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from intarsia.infill.canvas import Canvas
from intarsia.infill.filling.plan import FillOptions, FillPlan, inserted_at_cursor
from intarsia.infill.postprocess.clean import clean
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import newline_of
from intarsia_research.evaluation.answer import Answer, Failures, failed
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo
from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Program, Prompt, Written
from intarsia_research.evaluation.systems.client import plan_case

_EMPTY_SUFFIX = "\n"  # as our engine has it: an empty suffix would turn off fill-in-the-middle


@dataclass(frozen=True, kw_only=True, slots=True)
class _TimedReply:
    """A program's reply, or why there is none, and its time."""

    written: Written | NoAnswer
    ms: float


class Baseline:
    """One program for two systems: started for the first that is made ready, ended after the last.

    Its decoding is greedy, so it is asked once for a hole that both systems fill.
    """

    def __init__(
        self,
        *,
        name: str,
        way: str,
        model: str | None,
        start: Callable[[], AbstractAsyncContextManager[Program]],
    ) -> None:
        self.name = name
        self.way = way
        self.model = model
        self._start = start
        self._running = AsyncExitStack()
        self._program: Program | None = None
        self._num_users = 0
        self._last: tuple[Prompt, _TimedReply] | None = None
        self._lock = asyncio.Lock()

    def system(self, *, cleans: bool) -> "BaselineSystem":
        """Return the system with the program's own text, or the one with the cleaned text."""
        return BaselineSystem(baseline=self, cleans=cleans)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Program]:
        """Keep the program running during the block. Raise EvaluationFault if it does not start."""
        async with self._lock:
            if self._program is None:
                self._program = await self._running.enter_async_context(self._start())
            self._num_users += 1
        try:
            yield self._program
        finally:
            self._num_users -= 1
            if not self._num_users:
                self._program = self._last = None
                await self._running.aclose()

    async def write(self, prompt: Prompt) -> _TimedReply:
        """Return the running program's reply; the last prompt is not sent twice."""
        assert self._program is not None, "fill is called only inside ready()"
        async with self._lock:
            if self._last is None or self._last[0] != prompt:
                self._last = prompt, await _ask(self._program, prompt)
            return self._last[1]


async def _ask(program: Program, prompt: Prompt) -> _TimedReply:
    started = time.perf_counter()
    written: Written | NoAnswer
    try:
        written = await program.write(prompt)
    except NoAnswer as failure:
        written = failure
    return _TimedReply(written=written, ms=_ms_since(started))


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselineSystem:
    """A baseline's text, cleaned or not (implements System)."""

    baseline: Baseline
    cleans: bool

    @property
    def name(self) -> str:
        return f"{self.baseline.name}+cleaning" if self.cleans else self.baseline.name

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["BaselineClient"]:
        async with self.baseline.running() as program:
            info = SystemInfo(
                name=self.name,
                way=self.baseline.way,
                model=self.baseline.model,
                details={**program.details, "cleaning": "ours" if self.cleans else "none"},
            )
            yield BaselineClient(baseline=self.baseline, cleans=self.cleans, info=info)


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselineClient:
    """A baseline that runs (implements ReadySystem)."""

    baseline: Baseline
    cleans: bool
    info: SystemInfo
    _failures: Failures = field(default_factory=Failures, init=False)

    async def fill(self, case: Case) -> Answer:
        return self._failures.noted(await self._fill(case))

    async def _fill(self, case: Case) -> Answer:
        started = time.perf_counter()
        plan = plan_case(case, FillOptions())
        if isinstance(plan, NoSuggestion):
            return Answer(text="", reason=plan.reason, ms=_ms_since(started))
        prompt = prompt_of(plan.canvas)
        own_ms = _ms_since(started)
        timed = await self.baseline.write(prompt)
        if isinstance(timed.written, NoAnswer):
            return failed(str(timed.written), own_ms + timed.ms)
        return self._read(timed.written, plan, waited_ms=own_ms + timed.ms)

    def _read(self, written: Written, plan: FillPlan, *, waited_ms: float) -> Answer:
        started = time.perf_counter()
        raw = cut_at_stop(written.text, plan.canvas.stop)
        found = _cleaned(raw, plan) if self.cleans else _uncleaned(raw, plan)
        return answer_of(written, found, ms=waited_ms + _ms_since(started))


def answer_of(written: Written, text: str | NoSuggestion, *, ms: float) -> Answer:
    """Return the answer with this text, or with the reason for none, and the program's cost."""
    return Answer(
        text="" if isinstance(text, NoSuggestion) else text,
        reason=text.reason if isinstance(text, NoSuggestion) else None,
        ms=ms,
        engine_ms=written.ms,
        read_ms=written.read_ms,
        num_forwards=written.num_forwards,
        num_tokens=written.num_tokens,
        num_read=written.num_read,
        num_reused=written.num_reused,
    )


def prompt_of(canvas: Canvas) -> Prompt:
    """Return the prompt for a program without token healing."""
    return Prompt(
        prefix=canvas.prefix + canvas.given,
        suffix=canvas.suffix or _EMPTY_SUFFIX,
        stop=canvas.stop,
        max_tokens=canvas.max_tokens,
    )


def cut_at_stop(text: str, stop: tuple[str, ...]) -> str:
    """Return the text before the first stop text."""
    return text[: min((text.index(mark) for mark in stop if mark in text), default=len(text))]


def _uncleaned(raw: str, plan: FillPlan) -> str | NoSuggestion:
    text = raw.replace("\n", newline_of(plan.text))
    return text or NoSuggestion(reason="the model wrote nothing")


def _cleaned(raw: str, plan: FillPlan) -> str | NoSuggestion:
    found = clean(raw, plan.hole, plan.canvas)
    if isinstance(found, NoSuggestion):
        return found
    return inserted_at_cursor(found, plan.text, plan.cursor)


def _ms_since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)
