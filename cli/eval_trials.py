"""Each hole once in every settle mode, its context read beforehand.

Knows neither where the holes come from nor how an answer is judged.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from intarsia.cli.console import notices
from intarsia.cli.load_bar import LoadBar
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import Filled, SettleMode
from intarsia.filling.options import FillOptions


class Case(Protocol):
    """A hole whose text is known."""

    @property
    def truth(self) -> str: ...


C = TypeVar("C", bound=Case)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What stands in the hole (empty: nothing was suggested), and what it took."""

    text: str
    filled: Filled


Ask: TypeAlias = Callable[[EngineClient, C, FillOptions], Awaitable[Answer]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One hole. ``read`` is a fill of one token, made only to have the context read.

    A missing ``read`` or answer is one that the engine failed to give.
    """

    truth: str
    read: Filled | None
    answers: Mapping[SettleMode, Answer]


async def run_trials(
    cases: Sequence[C], modes: Sequence[SettleMode], ask: Ask[C], model: str | None
) -> list[Trial]:
    """Ask for every hole in every mode. Raises EngineError where there is no engine or model."""
    trials = []
    with LoadBar(notices()) as bar:
        async with EngineClient(
            name="eval", on_load_progress=lambda seen: bar.update(seen.stage, seen.fraction)
        ) as client:
            await client.preload(model)  # so that no fill's time holds the load
            for done, case in enumerate(cases):
                bar.update(f"hole {done + 1} of {len(cases)}", done / len(cases))
                trials.append(await _try(client, case, modes, ask, model))
    return trials


async def _try(
    client: EngineClient,
    case: C,
    modes: Sequence[SettleMode],
    ask: Ask[C],
    model: str | None,
) -> Trial:
    read = await _ask(client, case, ask, FillOptions(max_tokens=1, max_steps=1, model=model))
    answers = {}
    for mode in modes:
        answer = await _ask(client, case, ask, FillOptions(settle=mode, model=model))
        if answer is not None:
            answers[mode] = answer
    return Trial(truth=case.truth, read=read.filled if read else None, answers=answers)


async def _ask(client: EngineClient, case: C, ask: Ask[C], options: FillOptions) -> Answer | None:
    try:
        return await ask(client, case, options)
    except FillFailed as failure:
        notices().print(f"no answer: {failure}")
        return None
