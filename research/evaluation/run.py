"""Who fills what, in which order: cases and contestants come in, judged answers go out.

Contestants take turns at each case, in an order that goes round. Those that share an engine share
the contexts that it holds: who asks first has them read. That part is told apart in each row
(``read_ms``, ``num_read``), so that ``engine_ms - read_ms`` is fair between them. An engine holds
one model at a time: contestants of different models are for runs of their own.

Knows neither where cases come from nor how an answer is judged.
"""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.answer import Answer
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.judge import Judgement
from intarsia.research.evaluation.record import Row, SystemInfo
from intarsia.research.evaluation.system import ReadySystem, System

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
"""Filled by everyone, unjudged, so that no case's time holds what is done only once."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done now, and how much of all is behind it."""

    in_words: str
    num_done: int  # answers
    num_all: int

    @property
    def share(self) -> float:
        """How much of all the work is done, 0 to 1."""
        return self.num_done / max(1, self.num_all)


OnProgress: TypeAlias = Callable[[Progress], None]
T = TypeVar("T")


async def run(
    cases: Sequence[Case],
    contestants: Sequence[System],
    *,
    judge: Callable[[Case, Answer], Judgement],
    on_progress: OnProgress | None = None,
    on_ready: Callable[[SystemInfo], None] | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> tuple[Row, ...]:
    """Have every case filled by everyone, and every contestant closed, whatever ends the run.

    ``on_ready`` and ``on_row`` get what there is as soon as there is, so that nothing is lost where
    the run is cancelled or raises EvaluationFault.
    """
    _require_names(contestants)
    rows: list[Row] = []
    num_all = len(cases) * len(contestants)

    def tell(words: str) -> None:
        if on_progress is not None:
            on_progress(Progress(words, len(rows), num_all))

    async with AsyncExitStack() as stack:
        askers: list[ReadySystem] = []
        for contestant in contestants:
            tell(f"getting {contestant.name} ready")
            askers.append(await stack.enter_async_context(contestant.ready()))
            await askers[-1].fill(FIRST_CASE)
            if on_ready is not None:
                on_ready(askers[-1].info)
        for number, case in enumerate(cases):
            for asker in _in_turn(askers, number):
                tell(f"case {number + 1} of {len(cases)}, {asker.info.name}")
                answer = await asker.fill(case)
                rows.append(_row(case, asker.info.name, answer, judge(case, answer)))
                if on_row is not None:
                    on_row(rows[-1])
    return tuple(rows)


def _require_names(contestants: Sequence[System]) -> None:
    names = [contestant.name for contestant in contestants]
    for name in names:
        if names.count(name) > 1:
            raise EvaluationFault(f"two contestants are named {name!r}: name them apart")


def _in_turn(askers: Sequence[T], number: int) -> Sequence[T]:
    first = number % len(askers) if askers else 0
    return [*askers[first:], *askers[:first]]


def _row(case: Case, contestant: str, answer: Answer, verdict: Judgement) -> Row:
    return Row(
        case=case.id,
        set=case.set,
        kind=case.kind,
        language=case.language,
        group=case.group,
        contestant=contestant,
        before=case.prefix[-CHARS_BEFORE:],
        after=case.suffix[:CHARS_AFTER],
        truth=case.truth,
        text=answer.text,
        reason=answer.reason,
        is_failure=answer.is_failure,
        verdict=verdict,
        ms=answer.ms,
        engine_ms=answer.engine_ms,
        read_ms=answer.read_ms,
        passes=answer.passes,
        num_tokens=answer.num_tokens,
        mean_entropy=answer.mean_entropy,
        num_read=answer.num_read,
        num_reused=answer.num_reused,
    )
