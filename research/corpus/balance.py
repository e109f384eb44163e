"""Limit the share of each language in a corpus.

Which files are kept is drawn from the seed and each file's own digest, so one file more or less
does not change the draw of the others.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from intarsia_research.corpus.corpus_file import CorpusFile

MAX_SHARES = {"python": 0.4}
MAX_SHARE = 0.12


def balanced(files: Iterable[CorpusFile], *, max_bytes: int, seed: int) -> list[CorpusFile]:
    """Return files of each language up to its share of the final corpus.

    If the other languages have few files, one with a large share is limited by that too. A single
    language gets all of ``max_bytes``.
    """
    by_language = _by_language(files)
    if len(by_language) == 1:
        return _drawn(next(iter(by_language.values())), num_bytes=max_bytes, seed=seed)
    kept = [
        file
        for language, same in by_language.items()
        if language not in MAX_SHARES
        for file in _drawn(same, num_bytes=MAX_SHARE * max_bytes, seed=seed)
    ]
    for language, share in MAX_SHARES.items():
        others = sum(file.num_bytes for file in kept)
        limit = min(share * max_bytes, share / (1 - share) * others)
        kept += _drawn(by_language.get(language, []), num_bytes=limit, seed=seed)
    return kept


def _drawn(files: Iterable[CorpusFile], *, num_bytes: float, seed: int) -> list[CorpusFile]:
    kept = []
    for file in sorted(files, key=lambda file: (_draw_key(file, seed), file.name)):
        if file.num_bytes <= num_bytes:
            kept.append(file)
            num_bytes -= file.num_bytes
    return kept


def _draw_key(file: CorpusFile, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{file.sha256}".encode()).digest()


def _by_language(files: Iterable[CorpusFile]) -> dict[str, list[CorpusFile]]:
    by_language: defaultdict[str, list[CorpusFile]] = defaultdict(list)
    for file in files:
        by_language[file.language].append(file)
    return by_language
