"""Draw from many sources so that languages and kinds occur about equally often."""

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TypeVar

from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.project_holes import ProjectHole

T = TypeVar("T")


def take_turns(
    sources: Mapping[tuple[str, str], Iterator[T]],
    languages: Sequence[str],
    kinds: Sequence[str],
) -> Iterator[T]:
    """Yield one item of each language in turn, each time of the next kind, until all are used.

    ``sources``: by language and kind. If a language has no more of a kind, the next kind follows.
    """
    left = {place: iter(source) for place, source in sources.items()}
    turn = 0
    while left:
        round_number, place = divmod(turn, len(languages))
        for step in range(len(kinds)):
            kind = kinds[(round_number + place + step) % len(kinds)]
            source = left.get((languages[place], kind))
            if source is None:
                continue
            try:
                drawn = next(source)
            except StopIteration:
                del left[languages[place], kind]
                continue
            yield drawn
            break
        turn += 1


MAX_HOLES_A_FILE = 4

_TURNS = (True, True, False)
"""Two of three holes use a name that the window has nowhere but in an import."""


class PackageDraw:
    """The holes of one package that are not drawn yet."""

    def __init__(self, name: str, language: str, holes: Iterator[ProjectHole]) -> None:
        self.name = name
        self.language = language
        self._holes = holes
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


def draw_evenly(draws: Sequence[PackageDraw], seed: int) -> Iterator[Case]:
    """Yield a hole of each language in turn, each time of the next package, until none is left."""
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


def _of_packages(draws: Sequence[PackageDraw], seed: int) -> Iterator[Case]:
    """Yield a hole of each package in turn, until no package has a new name left."""
    order = sorted(draws, key=lambda draw: draw.name)
    random.Random(seed).shuffle(order)
    for is_new in cycle(_TURNS):
        found = [case for draw in order if (case := draw.next(is_new=is_new)) is not None]
        if is_new and not found:
            return
        yield from found


def _is_apart(case: Case, other: Case) -> bool:
    first, second = sorted((case, other), key=lambda one: len(one.prefix))
    between = second.prefix[len(first.prefix) + len(first.truth) :]
    return case.name != other.name and "\n" in between
