"""Choose which files of all packages are kept: no duplicates, no evaluation texts, balanced.

Files are compared in the order of their names, so the order of the packages does not matter.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from intarsia_research.corpus.balance import balanced
from intarsia_research.corpus.contamination import MeasuredTexts
from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.corpus.duplicates import SeenTexts


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """``kept`` is sorted by name; ``dropped`` has a reason and a size a file, by package."""

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
    """Drop duplicates, files that share text with ``measured``, and what exceeds a share."""
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
    unique = [file for file in left if seen.find_or_add(file.name, file.text) is None]
    left = keep(left, unique, "duplicate")
    on_progress("comparing files with evaluation texts")
    unmeasured = [file for file in left if measured.shared_with(file.text) is None]
    left = keep(left, unmeasured, "measured")
    within_share = balanced(left, max_bytes=max_bytes, seed=seed)
    return Chosen(kept=keep(left, within_share, "beyond the language's share"), dropped=dropped)
