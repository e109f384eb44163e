"""Takes so much of every language that none drowns the others.

Comes in: files and how large the corpus may be; goes out: those that stay. Which ones is drawn by a
seed and each file's own digest, so that one file more or less leaves the others' luck alone.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from intarsia.research.corpus.corpus_file import CorpusFile

LARGEST_SHARES = {"python": 0.4}
LARGEST_SHARE = 0.12


def balanced(files: Iterable[CorpusFile], *, max_bytes: int, seed: int) -> list[CorpusFile]:
    """Return so many files of each language as its share allows.

    A share is of what the corpus has in the end: where the others give little, a language with a
    large share is held back too. A language alone has all.
    """
    by_language = _by_language(files)
    if len(by_language) == 1:
        return _drawn(next(iter(by_language.values())), num_bytes=max_bytes, seed=seed)
    small = {it: same for it, same in by_language.items() if it not in LARGEST_SHARES}
    kept = _share(small, LARGEST_SHARE * max_bytes, seed)
    for language, share in LARGEST_SHARES.items():
        others = sum(file.num_bytes for file in kept)
        limit = min(share * max_bytes, share / (1 - share) * others)
        kept += _drawn(by_language.get(language, []), num_bytes=limit, seed=seed)
    return kept


def _share(
    by_language: dict[str, list[CorpusFile]], num_bytes: float, seed: int
) -> list[CorpusFile]:
    return [
        file
        for same in by_language.values()
        for file in _drawn(same, num_bytes=num_bytes, seed=seed)
    ]


def _drawn(files: Iterable[CorpusFile], *, num_bytes: float, seed: int) -> list[CorpusFile]:
    kept = []
    for file in sorted(files, key=lambda it: (_luck(it, seed), it.name)):
        if file.num_bytes <= num_bytes:
            kept.append(file)
            num_bytes -= file.num_bytes
    return kept


def _luck(file: CorpusFile, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{file.sha256}".encode()).digest()


def _by_language(files: Iterable[CorpusFile]) -> dict[str, list[CorpusFile]]:
    found: defaultdict[str, list[CorpusFile]] = defaultdict(list)
    for file in files:
        found[file.language].append(file)
    return found
