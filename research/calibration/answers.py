"""The answers that a calibration is fitted on: the model's fills of evaluation holes, as a file.

One line of JSON per hole. An interrupted collection goes on where it ended.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Filled
from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import Attempts, FillOptions
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.suggestions import FIRST_BUDGET
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.systems.client import patient, plan_case


class CollectedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's answer to one case: the first that passes the filters, else the first of all.

    ``filled`` None: there is no hole to fill, so the engine was not asked.
    """

    set: str
    case: str
    filled: Filled | None


async def collect(
    cases: Sequence[Case],
    file: Path,
    *,
    address: Address | None = None,
    on_answer: Callable[[int, int], None] = lambda done, of: None,
) -> None:
    """Append the answers to the cases that the file lacks. ``address`` None: the user's engine.

    ``on_answer`` gets how many cases are done, and of how many.
    """
    missing = _missing(cases, file)
    options = fill_options()
    async with EngineClient(name="eval", address=address) as client:
        for number, case in enumerate(missing, start=1 + len(cases) - len(missing)):
            answer = CollectedAnswer(
                set=case.set, case=case.id, filled=await _fill(client, case, options)
            )
            with file.open("ab") as stream:
                stream.write(msgspec.json.encode(answer) + b"\n")
            on_answer(number, len(cases))


def _missing(cases: Sequence[Case], file: Path) -> list[Case]:
    known = {(answer.set, answer.case) for answer in read_answers(file)} if file.exists() else set()
    return [case for case in cases if (case.set, case.id) not in known]


def fill_options() -> FillOptions:
    """Return the options of a first fill at a new place: its window is the smaller one."""
    return patient(FillOptions(budget=replace(Budget(), **FIRST_BUDGET)))


async def _fill(client: EngineClient, case: Case, options: FillOptions) -> Filled | None:
    """Fill a hole as for an inline completion request."""
    plan = plan_case(case, options)
    if isinstance(plan, NoSuggestion):
        return None
    attempts = Attempts(plan.read_at_cursor)
    for alternative in attempts:
        attempts.take(await client.fill(plan.request(options, alternative=alternative)))
    return attempts.filled


def read_answers(file: Path) -> Iterator[CollectedAnswer]:
    """Yield the answers of a file. Raise EvaluationFault where it has none, or is no such file."""
    try:
        lines = file.read_bytes().splitlines()
        yield from (msgspec.json.decode(line, type=CollectedAnswer) for line in lines)
    except (OSError, msgspec.DecodeError) as error:
        raise EvaluationFault(f"cannot read the answers in {file}: {error}") from error
