"""How probable it is that a body which was asked for is right: it passes the tests of its problem.

Fitted on the bodies of HumanEval, at the cursor below their docstrings. The functions of other sets
are harder: there bodies of the same evidence were right less often, so the odds are lowered
(docs/design-notes/show-threshold.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.infill.calibration import Calibration
from intarsia.infill.filling.judged import is_whole_body
from intarsia_research.calibration.answers import CollectedAnswer
from intarsia_research.calibration.examples import Suggested, suggested
from intarsia_research.calibration.fit import fit
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.run_tests import program_to_run
from intarsia_research.sandbox.execute import Sandbox

HARDER_ELSEWHERE = 1.0
"""In nats of the odds. Chosen on HumanEval-X in five languages, checked on functions with doctests
of three packages."""


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
