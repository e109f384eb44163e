"""The project set: holes that use a name from another file of the same package.

The packages are real ones, released after the default model's backbone was trained. They are
fetched once (``project_packages.py``). The same table and seed give the same holes.
"""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.case import Case, CaseKind
from intarsia.research.evaluation.sets.project_holes import project_holes
from intarsia.research.evaluation.sets.project_packages import (
    PackageSource,
    package_folder,
    read_table,
)
from intarsia.research.evaluation.sets.request_kind import language_ids

NUM_HOLES = 240
KIND: CaseKind = "rest_of_line"
MAX_HOLES_A_FILE = 4

_TURNS = (True, True, False)
"""Two of three holes use a name that the window has nowhere but in an import."""


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
        _Draw(one.name, package_folder(one, source), one.language, seed)
        for one in packages
        if not kinds or KIND in kinds
    ]
    cases = list(islice(_in_turn(draws, seed), limit or NUM_HOLES))
    if not cases:
        raise EvaluationFault(
            f"the set `project` has no such hole: its kind is {KIND}, its languages are python "
            "and typescript"
        )
    return cases


class _Draw:
    """The holes of one package that are not drawn yet."""

    def __init__(self, name: str, root: Path, language: str, seed: int) -> None:
        self.name = name
        self.language = language
        self._holes = project_holes(name, root, language, random.Random(f"{seed}:{name}"))
        self._waiting: dict[bool, deque[Case]] = {True: deque(), False: deque()}
        self._drawn: list[Case] = []

    def next(self, *, is_new: bool) -> Case | None:
        """Return the next hole. A file has few, each with another name and on another line."""
        while (case := self._next_of(is_new)) is not None:
            of_file = [other for other in self._drawn if other.path == case.path]
            if len(of_file) < MAX_HOLES_A_FILE and all(_is_apart(case, one) for one in of_file):
                self._drawn.append(case)
                return case
        return None

    def _next_of(self, is_new: bool) -> Case | None:
        """Return a hole that was passed over before, else the next one that is not passed over."""
        waiting = self._waiting[is_new]
        while not waiting:
            hole = next(self._holes, None)
            if hole is None:
                return None
            self._waiting[hole.is_new].append(hole.case)
        return waiting.popleft()


def _is_apart(case: Case, other: Case) -> bool:
    first, second = sorted((case, other), key=lambda one: len(one.prefix))
    between = second.prefix[len(first.prefix) + len(first.truth) :]
    return case.name != other.name and "\n" in between


def _in_turn(draws: Sequence[_Draw], seed: int) -> Iterator[Case]:
    """Yield a hole of each language in turn, each time of the next package."""
    languages = sorted({draw.language for draw in draws})
    streams = [
        _of_packages([draw for draw in draws if draw.language == language], seed)
        for language in languages
    ]
    while streams:
        left = []
        for stream in streams:
            case = next(stream, None)
            if case is not None:
                left.append(stream)
                yield case
        streams = left


def _of_packages(draws: Sequence[_Draw], seed: int) -> Iterator[Case]:
    """Yield a hole of each package in turn, until no package has a new name left."""
    order = sorted(draws, key=lambda draw: draw.name)
    random.Random(seed).shuffle(order)
    for is_new in cycle(_TURNS):
        found = [case for draw in order if (case := draw.next(is_new=is_new)) is not None]
        if is_new and not found:
            return
        yield from found
