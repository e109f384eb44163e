"""Finds next edits by the product's own steps: window, engine, and rule for what to show."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import msgspec
import psutil

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.errors import EngineError, EngineUnavailable, FillFailed
from intarsia.engine.ipc.messages import FindNextEdits, NextEdit, NextEdits
from intarsia.infill.canvas import Window
from intarsia.infill.languages import language_for
from intarsia.infill.next_edit.offer import NextEditOffer, best_first, read_offer
from intarsia.infill.next_edit.plan import (
    EditedText,
    NextEditPlan,
    plan_next_edits,
    plan_reading,
)
from intarsia.infill.next_edit.settled_edit import LineRange, settled_edit
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_case import lines_of
from intarsia_research.evaluation.edits.finder import (
    Direction,
    Found,
    FoundPlace,
    Level,
    Question,
)
from intarsia_research.evaluation.edits.still_open import Replacement
from intarsia_research.evaluation.record import SystemInfo
from intarsia_research.evaluation.systems.client import described_engine

LIMIT_S = 120.0
"""Time after which a question is abandoned."""

_GONE_FOR_GOOD = ("model", "out_of_memory")
_FIRST_TEXT = "def add(left, right):\n    return left + right\n"


class EngineFinderSystem:
    """``address`` None: the user's own engine. ``max_places`` are corrected in each direction."""

    def __init__(
        self, *, model: str | None = None, max_places: int, address: Address | None = None
    ) -> None:
        self._model = model
        self._max_places = max_places
        self._address = address

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["EngineFinder"]:
        """Start the engine where none runs, and have the model loaded.

        Raises EvaluationFault, also for a model that cannot find next edits.
        """
        async with EngineClient(name="eval", address=self._address) as client:
            try:
                loaded = await client.preload(self._model)
                engine = await described_engine(self._address)
                plan = plan_reading(_FIRST_TEXT, 0, language_for("python", "first.py"))
                await client.find_next_edits(plan.request("below", self._model))
            except EngineError as error:
                raise EvaluationFault(str(error)) from error
            info = SystemInfo(
                name="next edits",
                way="engine",
                model=loaded.model,
                details={"max_places": str(self._max_places)} | engine,
            )
            yield EngineFinder(client, info, model=self._model, max_places=self._max_places)


class EngineFinder:
    """Asks through one connection."""

    def __init__(
        self, client: EngineClient, info: SystemInfo, *, model: str | None, max_places: int
    ) -> None:
        self.info = info
        self._client = client
        self._model = model
        self._max_places = max_places
        self._windows: tuple[Window, ...] = ()  # of the case so far, the newest first

    async def prepare(self, question: Question) -> None:
        """Ask for the text before the edit to be read around the place where it will be made."""
        language = language_for(question.language, question.path)
        edit = settled_edit(question.before, question.edited)
        line = 0 if isinstance(edit, NoSuggestion) else edit.start
        plan = plan_reading(question.before, line, language)
        self._windows = (plan.window,)
        # A failure is met again, and told, when the question is asked.
        await self._ask_each([plan.request("below", self._model)], lambda _: False)

    async def find(self, question: Question) -> Found:
        """Answer a question."""
        started, cpu_s = time.perf_counter(), self._processor_seconds()
        plan = self._plan(question)
        if isinstance(plan, NoSuggestion):
            whole = len(lines_of(question.present))
            found = Found(first_line=0, end_line=whole, reason=plan.reason)
        else:
            self._windows = (plan.window, *self._windows)
            found = _found(plan, await self._answered(plan, question.directions))
        spent = self._processor_seconds()
        return replace(
            found,
            ms=1000 * (time.perf_counter() - started),
            cpu_s=None if spent is None or cpu_s is None else spent - cpu_s,
        )

    def _plan(self, question: Question) -> NextEditPlan | NoSuggestion:
        edit = settled_edit(question.before, question.edited)
        if isinstance(edit, NoSuggestion):
            return edit
        edited = EditedText(
            before=question.before,
            after=question.present,
            edit=edit,
            newest=LineRange(start=question.newest_start, end=question.newest_end),
        )
        language = language_for(question.language, question.path)
        return plan_next_edits(edited, language, self._windows)

    async def _answered(
        self, plan: NextEditPlan, directions: Sequence[Direction]
    ) -> "Sequence[_Read] | NoSuggestion":
        """Ask in each direction, until there is an offer at the surest level, as the product does.

        Return what was read of the answers, or why there is none.
        """
        requests = [
            msgspec.structs.replace(
                plan.request(direction, self._model), max_places=self._max_places
            )
            for direction in directions
            if plan.has_lines(direction)
        ]
        answers = await self._ask_each(requests, lambda it: _read(plan, it).has_sure_offer)
        if isinstance(answers, NoSuggestion):
            return answers
        return [_read(plan, answer) for answer in answers]

    async def _ask_each(
        self, requests: Sequence[FindNextEdits], is_enough: Callable[[NextEdits], bool]
    ) -> Sequence[NextEdits] | NoSuggestion:
        """Return the answers up to one that is enough, or why there is none."""
        answers: list[NextEdits] = []
        try:
            async with asyncio.timeout(LIMIT_S):
                for request in requests:
                    answers.append(await self._client.find_next_edits(request))
                    if is_enough(answers[-1]):
                        break
        except TimeoutError:
            return NoSuggestion(reason=f"no answer within {LIMIT_S:g} s")
        except FillFailed as failure:
            if failure.code in _GONE_FOR_GOOD:
                raise EvaluationFault(str(failure)) from failure
            return NoSuggestion(reason=str(failure))
        except EngineUnavailable as error:
            raise EvaluationFault(str(error)) from error
        return answers

    def _processor_seconds(self) -> float | None:
        """Return the seconds of one core that the engine has spent, None if it is not known."""
        welcome = self._client.welcome
        if welcome is None:
            return None
        try:
            times = psutil.Process(welcome.pid).cpu_times()
        except psutil.Error:
            return None
        return float(times.user + times.system)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """An answer of the engine, and what the product makes of its corrections."""

    answer: NextEdits
    offered: Sequence[tuple[NextEdit, NextEditOffer]]  # best first
    others: Sequence[NextEdit]  # the likeliest place first

    @property
    def has_sure_offer(self) -> bool:
        return any(offer.is_sure for _, offer in self.offered)


def _read(plan: NextEditPlan, answer: NextEdits) -> _Read:
    read = [(edit, read_offer(plan, edit)) for edit in answer.edits]
    offered = [(edit, offer) for edit, offer in read if isinstance(offer, NextEditOffer)]
    best = best_first(offer for _, offer in offered)
    return _Read(
        answer=answer,
        offered=[(edit, one) for one in best for edit, offer in offered if offer is one],
        others=[edit for edit, offer in read if not any(offer is one for one in best)],
    )


def _found(plan: NextEditPlan, answers: Sequence[_Read] | NoSuggestion) -> Found:
    """Return the places of all answers: what is offered first, best first, then the others."""
    end_line = plan.first_line + sum(len(lines_of(part.after)) for part in plan.parts)
    if isinstance(answers, NoSuggestion):
        return Found(
            first_line=plan.first_line, end_line=end_line, reason=answers.reason, is_failure=True
        )
    first = answers[0].answer if answers else None
    return Found(
        first_line=plan.first_line,
        end_line=end_line,
        places=tuple(place for read in answers for place in _places(plan, read)),
        line=None if first is None or first.line is None else plan.first_line + first.line,
        drop=0.0 if first is None else first.drop,
        num_read=sum(read.answer.num_prefilled for read in answers),
        num_reused=sum(read.answer.num_reused for read in answers),
    )


def _places(plan: NextEditPlan, read: _Read) -> Iterator[FoundPlace]:
    for edit, offer in read.offered:
        lines = offer.lines
        change = Replacement(
            first_line=lines.start, num_lines=lines.end - lines.start, text=offer.text
        )
        yield _place(edit, change, offer.level)
    for edit in read.others:
        change = Replacement(
            first_line=plan.first_line + edit.first_line, num_lines=edit.num_lines, text=edit.text
        )
        yield _place(edit, change, None)


def _place(edit: NextEdit, change: Replacement, level: Level | None) -> FoundPlace:
    return FoundPlace(
        change=change,
        drop=edit.drop,
        gain=edit.gain,
        gain_before=edit.gain_before,
        log_p=edit.log_p,
        is_agreed=edit.is_agreed,
        level=level,
    )
