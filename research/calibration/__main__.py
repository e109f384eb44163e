"""Fit how probable it is that a user keeps a suggestion of the default model.

``python -m intarsia_research.calibration collect ANSWERS.jsonl`` has the engine fill holes with
known text; run again, it goes on where it ended. ``… fit ANSWERS.jsonl`` prints the held-out
figures; ``--write`` writes infill/fitted_calibrations.py and docs/img/calibration.svg.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.ipc.errors import EngineError
from intarsia_research.calibration.answers import collect, read_answers
from intarsia_research.calibration.cases import HUMANEVAL, SEED, all_cases, sample
from intarsia_research.calibration.examples import suggested
from intarsia_research.calibration.fit import fit
from intarsia_research.calibration.held_out import measure
from intarsia_research.calibration.results import as_text, draw, fitted_module
from intarsia_research.errors import EvaluationFault

_ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect or fit; return the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.step == "collect":
            _collect(parsed.answers, parsed.humaneval, parsed.limit)
        else:
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
    collecting = steps.add_parser("collect", help="have the engine fill holes")
    fitting = steps.add_parser("fit", help="fit, and print held-out figures")
    for step in (collecting, fitting):
        step.add_argument("answers", type=Path, help="file of the answers, a line each")
        step.add_argument("--humaneval", type=Path, default=HUMANEVAL, help="its single lines")
    collecting.add_argument("--limit", type=int, help="only the first of the holes")
    fitting.add_argument("--write", action="store_true", help="write the module and the diagram")
    return parser


def _collect(answers: Path, humaneval: Path, limit: int | None) -> None:
    cases = sample(all_cases(humaneval))[:limit]

    def on_answer(done: int, of: int) -> None:
        sys.stderr.write(f"\r{done} of {of} holes")

    asyncio.run(collect(cases, answers, on_answer=on_answer))
    sys.stderr.write("\n")


def _fit(answers: Path, humaneval: Path, *, writes: bool) -> None:
    collected = list(read_answers(answers))
    models = {it.filled.model for it in collected if it.filled is not None}
    if len(models) != 1:
        raise EvaluationFault(f"the answers must be of one model, not of {len(models)}")
    examples = list(suggested(collected, all_cases(humaneval)))
    figures = measure(examples, SEED)
    calibration = fit([it.evidence for it in examples], [it.is_kept for it in examples])
    sys.stdout.write(f"{as_text(figures)}\n{calibration}\n")
    if writes:
        module = fitted_module(models.pop(), calibration, figures)
        (_ROOT / "infill/fitted_calibrations.py").write_text(module, encoding="utf-8")
        draw(figures, _ROOT / "docs/img/calibration.svg")


if __name__ == "__main__":
    sys.exit(main())
