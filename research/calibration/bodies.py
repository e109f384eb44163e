"""How probable it is that a body which was asked for is right: it passes the tests of its problem.

Fitted on the bodies of HumanEval, at the cursor below their docstrings. The functions of other sets
are harder: there bodies of the same evidence were right less often, so the odds are lowered
(docs/design-notes/show-threshold.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intarsia.infill.calibration import Calibration
from intarsia.infill.filling.judged import is_whole_body
from intarsia.infill.syntax.text import leading_blank
from intarsia_research.calibration.answers import CollectedAnswer
from intarsia_research.calibration.examples import Suggested, suggested
from intarsia_research.calibration.fit import fit
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.run_tests import program_to_run
from intarsia_research.evaluation.sets.problem_file import read_problems
from intarsia_research.sandbox.execute import Sandbox

HARDER_ELSEWHERE = 1.0
"""In nats of the odds. Chosen on HumanEval-X in five languages, checked on functions with doctests
of three packages."""

_ENTRY_POINT = re.compile(r"check\((\w+)\)\s*\Z")


def body_cases(humaneval: Path) -> list[Case]:
    """Return a case for each problem of a file of single lines: its body, as the cursor is there.

    The function of another problem follows it. Raise EvaluationFault where the file has none.
    """
    lines = read_problems(humaneval, limit=None, seed=0)
    first = {case.group: case for case in sorted(lines, key=lambda it: -len(it.prefix))}
    firsts = [first[group] for group in sorted(first)]
    return [
        replace(
            case,
            id=f"{case.group}/body",
            set="humaneval-body",
            kind="block",
            prefix=case.prefix + (blank := leading_blank(case.truth)),
            truth=(case.truth + case.suffix).removeprefix(blank).rstrip(),
            suffix=f"\n\n\n{_function(other)}\n",
        )
        for case, other in zip(firsts, [*firsts[1:], *firsts[:1]], strict=True)
    ]


def _function(case: Case) -> str:
    """Return a problem's function, and what follows it."""
    text, entry = case.filled(case.truth), _ENTRY_POINT.search(case.test or "")
    if entry is None:
        raise EvaluationFault(f"{case.id} does not tell which function it tests")
    return text[text.index(f"def {entry[1]}(") :].rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedBodies:
    calibration: Calibration
    num_bodies: int
    num_right: int


def fit_bodies(
    answers: Sequence[CollectedAnswer], cases: Sequence[Case], sandbox: Sandbox
) -> FittedBodies:
    """Fit on the bodies that were asked for, and that their answer ended. Runs their tests."""
    bodies = [it for it in suggested(answers, cases) if is_whole_body(it.plan, it.end_confidence)]
    is_right = [_passes(it, sandbox) for it in bodies]
    found = fit([it.evidence for it in bodies], is_right, ("total", "mean"))
    return FittedBodies(
        calibration=replace(found, bias=found.bias - HARDER_ELSEWHERE),
        num_bodies=len(bodies),
        num_right=sum(is_right),
    )


def _passes(body: Suggested, sandbox: Sandbox) -> bool:
    return sandbox.passes(program_to_run(body.case, body.text))
