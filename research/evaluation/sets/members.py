"""The members set: holes directly after ``receiver.`` of a class from another file of the package.

The packages are those of the project set.
"""

import random
from collections.abc import Sequence
from itertools import islice

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.case import Case, CaseKind
from intarsia.research.evaluation.sets.even_draw import PackageDraw, draw_evenly
from intarsia.research.evaluation.sets.member_holes import member_holes
from intarsia.research.evaluation.sets.project_packages import (
    PackageSource,
    package_folder,
    read_table,
)
from intarsia.research.evaluation.sets.request_kind import language_ids

NUM_HOLES = 120
KIND: CaseKind = "rest_of_line"


def member_cases(
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
    holes = {
        one: member_holes(
            one.name,
            package_folder(one, source),
            one.language,
            random.Random(f"{seed}:members:{one.name}"),
        )
        for one in packages
        if not kinds or KIND in kinds
    }
    draws = [PackageDraw(one.name, one.language, its) for one, its in holes.items()]
    cases = list(islice(draw_evenly(draws, seed), limit or NUM_HOLES))
    for its in holes.values():
        its.close()  # its index
    if not cases:
        raise EvaluationFault(
            f"the set `members` has no such hole: its kind is {KIND}, its languages are python "
            "and typescript"
        )
    return cases
