"""The sets of holes in real packages that need another file of the same package.

The packages were released after the default model's backbone was trained. They are fetched once
(``project_packages.py``). The same table and seed give the same holes.
"""

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.evaluation.sets import member_holes, project_holes
from intarsia_research.evaluation.sets.cut_case import language_ids
from intarsia_research.evaluation.sets.project_holes import ProjectHole
from intarsia_research.evaluation.sets.project_packages import (
    PackageSource,
    ProjectPackage,
    package_folder,
    read_table,
)
from intarsia_research.evaluation.sets.take_turns import PackageDraw, draw_evenly

KIND: CaseKind = "rest_of_line"

FindHoles: TypeAlias = Callable[[str, Path, str, random.Random], Generator[ProjectHole]]
"""Yields the holes of a package, by its name, folder, language and a random order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSet:
    """One set: which holes of a package it has, and how many without a limit."""

    name: str
    find_holes: FindHoles
    num_holes: int
    salt: str = ""  # of the random order: sets of the same packages have other files first


PROJECT = PackageSet(
    name=project_holes.SET_NAME, find_holes=project_holes.project_holes, num_holes=240
)
"""Holes that use a name from another file of the package."""

MEMBERS = PackageSet(
    name=member_holes.SET_NAME,
    find_holes=member_holes.member_holes,
    num_holes=120,
    salt="members:",
)
"""Holes directly after ``receiver.`` of a class from another file of the package."""

PACKAGE_SETS = {one.name: one for one in (PROJECT, MEMBERS)}


def package_cases(
    which: PackageSet,
    source: PackageSource,
    *,
    languages: Sequence[str] | None,
    kinds: Sequence[CaseKind] | None,
    limit: int | None,
    seed: int,
) -> list[Case]:
    """Return ``limit`` cases, by default the set's own number, even over languages and packages.

    A smaller limit gives the first of the same cases. Raise EvaluationFault if a
    name is wrong, a package is not available or there is no such hole.
    """
    wanted = language_ids(languages) if languages else None
    packages = [one for one in read_table(source.table) if wanted is None or one.language in wanted]

    def holes_of(package: ProjectPackage) -> Generator[ProjectHole]:
        order = random.Random(f"{seed}:{which.salt}{package.name}")
        folder = package_folder(package, source)
        return which.find_holes(package.name, folder, package.language, order)

    with ExitStack() as opened:  # holes may need an index until they are closed
        draws = [
            PackageDraw(one.name, one.language, opened.enter_context(closing(holes_of(one))))
            for one in packages
            if not kinds or KIND in kinds
        ]
        cases = list(islice(draw_evenly(draws, seed), limit or which.num_holes))
    if not cases:
        raise EvaluationFault(
            f"the set `{which.name}` has no such hole: its kind is {KIND}, its languages are "
            "python and typescript"
        )
    return cases
