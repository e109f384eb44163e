"""Measure what a tuning changes: fill the same held-out holes without it and with it."""

from collections.abc import Sequence
from pathlib import Path

from intarsia.infill.filling.options import FillOptions
from intarsia.training.repository_files import RepositoryFiles
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.compare import Comparison, compare
from intarsia_research.evaluation.judge import judge
from intarsia_research.evaluation.record import Row
from intarsia_research.evaluation.run import RunProgress, run
from intarsia_research.evaluation.sets.repository import repository_cases
from intarsia_research.evaluation.systems.direct import Direct
from intarsia.training.progress import ReportProgress

WITHOUT, WITH = "without", "with"


def held_out_cases(root: Path, files: RepositoryFiles, *, limit: int, seed: int) -> list[Case]:
    """Cut holes out of the held-out files. Raises EvaluationFault if there is none to cut."""
    paths = [root.resolve() / file.path for file in files.held_out]
    return repository_cases(paths, languages=None, kinds=None, limit=limit, seed=seed)


async def measure(
    cases: Sequence[Case],
    *,
    model: str,
    tuning: Path,
    on_progress: ReportProgress,
) -> Comparison:
    """Fill the cases through the user's engine, first without the tuning, and compare.

    An engine holds one model, so the two sides do not alternate and times are not comparable.
    Raises EvaluationFault.
    """
    sides: list[Sequence[Row]] = []
    for name, full_model in ((WITHOUT, model), (WITH, f"{model}+{tuning}")):

        def report(progress: RunProgress, *, num_before: int = len(sides)) -> None:
            on_progress(progress.in_words, (num_before + progress.share) / 2)

        system = Direct(FillOptions(model=full_model), name=name)
        sides.append(await run(cases, [system], judge=judge, on_progress=report))
    without_tuning, with_tuning = sides
    return compare(without_tuning, with_tuning)
