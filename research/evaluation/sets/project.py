"""The project set: holes that use a name from another file of the same package.

The packages are real ones, released after the default model's backbone was trained. They are
fetched once (``project_packages.py``). The same table and seed give the same holes.
"""

import random
from collections.abc import Sequence
from itertools import islice

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.case import Case, CaseKind
from intarsia.research.evaluation.sets.even_draw import PackageDraw, draw_evenly
from intarsia.research.evaluation.sets.project_holes import project_holes
from intarsia.research.evaluation.sets.project_packages import (
    PackageSource,
    package_folder,
    read_table,
)
from intarsia.research.evaluation.sets.request_kind import language_ids

NUM_HOLES = 240
KIND: CaseKind = "rest_of_line"


def project_cases(
    source: PackageSource,
    *,
    languages: Sequence[str] | None,
    kinds: Sequence[CaseKind] | None,
    limit: int | None,
    seed: int,
) -> list[Case]:
    """Return ``limit`` cases, by default NUM_HOLES, even over languages and packages.

    A smaller limit gives the first of the same cases. Raise EvaluationFault if a
    name is wrong, a package is not available or there is no such hole.
    """
    wanted = language_ids(languages) if languages else None
    packages = [one for one in read_table(source.table) if wanted is None or one.language in wanted]
    draws = [
        PackageDraw(
            one.name,
            one.language,
            project_holes(
                one.name,
                package_folder(one, source),
                one.language,
                random.Random(f"{seed}:{one.name}"),
            ),
        )
        for one in packages
        if not kinds or KIND in kinds
    ]
    cases = list(islice(draw_evenly(draws, seed), limit or NUM_HOLES))
    if not cases:
        raise EvaluationFault(
            f"the set `project` has no such hole: its kind is {KIND}, its languages are python "
            "and typescript"
        )
    return cases
