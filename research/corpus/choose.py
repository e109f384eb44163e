"""The files of all packages → those that stay, and why the others do not.

The order of the packages is nothing to it: files are compared in the order of their names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from intarsia.research.corpus.balance import balanced
from intarsia.research.corpus.contamination import MeasuredTexts
from intarsia.research.corpus.corpus_file import CorpusFile
from intarsia.research.corpus.duplicates import SeenTexts


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """``kept`` in order of name; ``dropped``: a reason and a size a file, by package."""

    kept: list[CorpusFile]
    dropped: dict[str, list[tuple[str, int]]]


def choose_files(
    files: Iterable[CorpusFile],
    *,
    measured: MeasuredTexts,
    max_bytes: int,
    seed: int,
    on_progress: Callable[[str], None],
) -> Chosen:
    """Leave out duplicates, what is measured, and what is too much of a language."""
    dropped: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)

    def keep(files: list[CorpusFile], kept: list[CorpusFile], reason: str) -> list[CorpusFile]:
        names = {file.name for file in kept}
        for file in files:
            if file.name not in names:
                dropped[file.package_name].append((reason, file.num_bytes))
        return sorted(kept, key=lambda file: file.name)

    left = sorted(files, key=lambda file: file.name)
    on_progress("comparing files with each other")
    seen = SeenTexts()
    unlike = [it for it in left if seen.find_or_add(it.name, it.text) is None]
    left = keep(left, unlike, "duplicate")
    on_progress("comparing files with what is measured")
    unmeasured = [it for it in left if measured.shared_with(it.text) is None]
    left = keep(left, unmeasured, "measured")
    within = balanced(left, max_bytes=max_bytes, seed=seed)
    return Chosen(kept=keep(left, within, "beyond the language's share"), dropped=dropped)
