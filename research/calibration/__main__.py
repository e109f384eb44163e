"""Fit how probable it is that a user keeps a suggestion of the default model.

``python -m intarsia_research.calibration collect ANSWERS.jsonl`` has the engine fill holes with
known text; run again, it goes on where it ended. ``… fit ANSWERS.jsonl`` prints the held-out
figures; ``--write`` writes infill/fitted_calibrations.py and docs/img/calibration.svg.
``collect-bodies`` and ``fit-bodies`` do the same for bodies that are asked for, which their tests
judge, and infill/fitted_bodies.py.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.ipc.errors import EngineError
from intarsia_research.calibration.answers import CollectedAnswer, collect, read_answers
from intarsia_research.calibration.bodies import fit_bodies
from intarsia_research.calibration.cases import HUMANEVAL, SEED, all_cases, sample
from intarsia_research.calibration.examples import suggested
from intarsia_research.calibration.fit import fit
from intarsia_research.calibration.held_out import measure
from intarsia_research.calibration.results import as_text, bodies_module, draw, fitted_module
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.bodies import body_cases
from intarsia_research.sandbox.execute import find_sandbox

_ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect or fit; return the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        match parsed.step:
            case "collect":
                _collect(sample(all_cases(parsed.humaneval))[: parsed.limit], parsed.answers)
            case "collect-bodies":
                _collect(body_cases(parsed.humaneval)[: parsed.limit], parsed.answers)
            case "fit-bodies":
                _fit_bodies(parsed.answers, parsed.humaneval, writes=parsed.write)
            case _:
                _fit(parsed.answers, parsed.humaneval, writes=parsed.write)
    except (EvaluationFault, EngineError, ValueError) as error:
        sys.stderr.write(f"calibration: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    steps = parser.add_subparsers(dest="step", required=True)
    for kind in ("", "-bodies"):
        collecting = steps.add_parser(f"collect{kind}", help="have the engine fill holes")
        fitting = steps.add_parser(f"fit{kind}", help="fit, and print figures")
        for step in (collecting, fitting):
            step.add_argument("answers", type=Path, help="file of the answers, a line each")
            step.add_argument("--humaneval", type=Path, default=HUMANEVAL, help="its single lines")
        collecting.add_argument("--limit", type=int, help="only the first of the holes")
        fitting.add_argument("--write", action="store_true", help="write what is used and shown")
    return parser


def _collect(cases: Sequence[Case], answers: Path) -> None:
    def on_answer(done: int, of: int) -> None:
        sys.stderr.write(f"\r{done} of {of} holes")

    asyncio.run(collect(cases, answers, on_answer=on_answer))
    sys.stderr.write("\n")


def _read_of_one_model(file: Path) -> tuple[list[CollectedAnswer], str]:
    collected = list(read_answers(file))
    models = {it.filled.model for it in collected if it.filled is not None}
    if len(models) != 1:
        raise EvaluationFault(f"the answers must be of one model, not of {len(models)}")
    return collected, models.pop()


def _fit_bodies(answers: Path, humaneval: Path, *, writes: bool) -> None:
    collected, model = _read_of_one_model(answers)
    fitted = fit_bodies(collected, body_cases(humaneval), find_sandbox())
    sys.stdout.write(f"{fitted}\n")
    if writes:
        file = _ROOT / "infill/fitted_bodies.py"
        file.write_text(bodies_module(model, fitted), encoding="utf-8")


def _fit(answers: Path, humaneval: Path, *, writes: bool) -> None:
    collected, model = _read_of_one_model(answers)
    examples = list(suggested(collected, all_cases(humaneval)))
    figures = measure(examples, SEED)
    calibration = fit([it.evidence for it in examples], [it.is_kept for it in examples])
    sys.stdout.write(f"{as_text(figures)}\n{calibration}\n")
    if writes:
        module = fitted_module(model, calibration, figures)
        (_ROOT / "infill/fitted_calibrations.py").write_text(module, encoding="utf-8")
        draw(figures, _ROOT / "docs/img/calibration.svg")


if __name__ == "__main__":
    sys.exit(main())
