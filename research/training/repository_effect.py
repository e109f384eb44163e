"""What a tuning changes: the same held-out holes filled without it and with it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from intarsia.infill.filling.options import FillOptions
from intarsia.research.corpus.repository import RepositoryFiles
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.compare import Comparison, compare
from intarsia.research.evaluation.judge import judge
from intarsia.research.evaluation.record import Row
from intarsia.research.evaluation.run import RunProgress, run
from intarsia.research.evaluation.sets.repository import repository_cases
from intarsia.research.evaluation.systems.direct import Direct

WITHOUT, WITH = "without", "with"


def held_out_cases(root: Path, files: RepositoryFiles, *, limit: int, seed: int) -> list[Case]:
    """Cut holes out of the held-out files. Raises EvaluationFault where they have none."""
    paths = [root.resolve() / file.path for file in files.held_out]
    return repository_cases(paths, languages=None, kinds=None, limit=limit, seed=seed)


async def measure(
    cases: Sequence[Case],
    *,
    model: str,
    tuning: Path,
    on_progress: Callable[[str, float | None], None],
) -> Comparison:
    """Fill through the user's engine, first without the tuning. Raises EvaluationFault.

    An engine holds one model, so the sides do not take turns: times are not compared.
    """
    sides: list[Sequence[Row]] = []
    for name, full_model in ((WITHOUT, model), (WITH, f"{model}+{tuning}")):

        def tell(progress: RunProgress, *, before: int = len(sides)) -> None:
            on_progress(progress.in_words, (before + progress.share) / 2)

        system = Direct(FillOptions(model=full_model), name=name)
        sides.append(await run(cases, [system], judge=judge, on_progress=tell))
    first, second = sides
    return compare(first, second)
