"""Runs every system on every case and judges the answers.

The systems take turns at each case, in rotating order. Systems that share an engine share its KV
cache, so the first to ask pays for the prefill. A row has that part on its own (``read_ms``,
``num_read``), so that ``engine_ms - read_ms`` is a fair comparison. An engine holds one model at a
time: evaluate systems with different models in separate runs.

Knows neither where cases come from nor how an answer is judged.
"""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.judge import Judgement
from intarsia_research.evaluation.record import Row, SystemInfo
from intarsia_research.evaluation.system import ReadySystem, System

CHARS_BEFORE, CHARS_AFTER = 600, 300

FIRST_CASE = Case(
    id="first",
    set="first",
    kind="rest_of_line",
    language="python",
    path="first.py",
    group="first",
    prefix="def add(left, right):\n    return ",
    truth="left + right",
    suffix="\n",
)
"""Filled by every system and not judged, so that one-time work is in no case's time."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run is doing now, and how much of it is done."""

    in_words: str
    num_done: int  # answers
    num_all: int

    @property
    def share(self) -> float:
        """The share of the work that is done, 0 to 1."""
        return self.num_done / max(1, self.num_all)


OnRunProgress: TypeAlias = Callable[[RunProgress], None]
T = TypeVar("T")


async def run(
    cases: Sequence[Case],
    systems: Sequence[System],
    *,
    judge: Callable[[Case, Answer], Judgement],
    on_progress: OnRunProgress | None = None,
    on_ready: Callable[[SystemInfo], None] | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> tuple[Row, ...]:
    """Return a row for every case and system. All systems are closed, whatever ends the run.

    ``on_ready`` and ``on_row`` are called at once, so that nothing is lost if the run is cancelled
    or raises EvaluationFault.
    """
    _require_names(systems)
    rows: list[Row] = []
    num_all = len(cases) * len(systems)

    def tell(words: str) -> None:
        if on_progress is not None:
            on_progress(RunProgress(words, len(rows), num_all))

    async with AsyncExitStack() as stack:
        clients: list[ReadySystem] = []
        for system in systems:
            tell(f"getting {system.name} ready")
            clients.append(await stack.enter_async_context(system.ready()))
            await clients[-1].fill(FIRST_CASE)
            if on_ready is not None:
                on_ready(clients[-1].info)
        for number, case in enumerate(cases):
            for client in _in_turn(clients, number):
                tell(f"case {number + 1} of {len(cases)}, {client.info.name}")
                answer = await client.fill(case)
                rows.append(_row(case, client.info.name, answer, judge(case, answer)))
                if on_row is not None:
                    on_row(rows[-1])
    return tuple(rows)


def _require_names(systems: Sequence[System]) -> None:
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise EvaluationFault(f"two systems have the name {name!r}: give them different names")


def _in_turn(clients: Sequence[T], number: int) -> Sequence[T]:
    first = number % len(clients) if clients else 0
    return [*clients[first:], *clients[:first]]


def _row(case: Case, system: str, answer: Answer, judgement: Judgement) -> Row:
    return Row(
        case=case.id,
        set=case.set,
        kind=case.kind,
        language=case.language,
        group=case.group,
        system=system,
        before=case.prefix[-CHARS_BEFORE:],
        after=case.suffix[:CHARS_AFTER],
        truth=case.truth,
        text=answer.text,
        reason=answer.reason,
        is_failure=answer.is_failure,
        judgement=judgement,
        ms=answer.ms,
        engine_ms=answer.engine_ms,
        read_ms=answer.read_ms,
        num_forwards=answer.num_forwards,
        num_tokens=answer.num_tokens,
        mean_entropy=answer.mean_entropy,
        num_read=answer.num_read,
        num_reused=answer.num_reused,
        num_project=answer.num_project,
    )
