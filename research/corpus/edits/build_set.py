"""Makes a set of edits and controls from several clones, which take turns."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from intarsia_research.corpus.edits.clone import Clone
from intarsia_research.corpus.edits.find_cases import find_cases
from intarsia_research.edits.edit_case import EditCase
from intarsia_research.errors import CorpusFault

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class EditSetOptions:
    """How much is drawn. The same clones and options give the same set."""

    max_edits: int
    max_controls: int
    num_commits: int  # the newest of each clone are searched
    seed: int


def build_edit_set(
    folders: Sequence[Path],
    options: EditSetOptions,
    *,
    on_progress: Callable[[str, float], None],
) -> list[EditCase]:
    """Return edits, then controls: of each clone about the same number, as long as it has more.

    Raise CorpusFault if a clone cannot be used, is given twice, or there is no edit at all.
    """
    with ExitStack() as stack:
        found = []
        for number, folder in enumerate(folders):
            on_progress(f"reading the history of {folder}", number / len(folders) / 2)
            clone = stack.enter_context(closing(Clone(folder)))
            found.append(find_cases(clone, num_commits=options.num_commits, seed=options.seed))
        for repo, num in Counter(one.repo for one in found).items():
            if num > 1:
                raise CorpusFault(f"{repo} is given {num} times: give it once")
        found.sort(key=lambda one: one.repo)
        on_progress("reading the files of edits", 0.5)
        edits = [*islice(_in_turn([one.edits for one in found]), options.max_edits)]
        on_progress("reading the files of controls", 0.8)
        controls = [*islice(_in_turn([one.controls for one in found]), options.max_controls)]
    if not edits:
        raise CorpusFault(
            "these clones have no commit with several small edits of one file: give clones with "
            "their histories (`git clone` without --depth)"
        )
    return [*edits, *controls]


def tally(cases: Sequence[EditCase]) -> Mapping[str, Mapping[str, int]]:
    """Return the number of cases by kind, by language and by repository, the most first."""
    return {
        name: dict(Counter(map(of, cases)).most_common())
        for name, of in (
            ("kind", lambda case: str(case.kind)),
            ("language", lambda case: str(case.language)),
            ("repository", lambda case: str(case.repo)),
        )
    }


def _in_turn(sources: Sequence[Iterator[T]]) -> Iterator[T]:
    """Yield one item of each source in turn, until all are used."""
    left = list(sources)
    while left:
        for source in tuple(left):
            try:
                yield next(source)
            except StopIteration:
                left.remove(source)
