"""Finds texts that are nearly those seen before: MinHash over five words in a row (Broder 1997).

Comes in: texts, one after another; goes out: the name of an earlier one that is the same or nearly.
"""

import hashlib
import zlib

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]

from intarsia.research.corpus.words import words_of

THRESHOLD = 0.7
"""From this Jaccard similarity on two texts count as one."""

NUM_WORDS = 5
NUM_PERMUTATIONS = 128


class SeenTexts:
    """The texts so far. The first of several like ones stays; the order decides which that is."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, str] = {}
        self._sketches: dict[str, MinHash] = {}
        self._empty = MinHash(num_perm=NUM_PERMUTATIONS, hashfunc=zlib.crc32)
        self._index = MinHashLSH(threshold=THRESHOLD, num_perm=NUM_PERMUTATIONS)

    def find_or_add(self, name: str, text: str) -> str | None:
        """Return the name of a text like this one; where there is none, remember this one."""
        words = words_of(text)
        digest = hashlib.sha256(" ".join(words).encode()).digest()
        if digest in self._by_digest:
            return self._by_digest[digest]
        sketch = self._sketch(words)
        for candidate in sorted(self._index.query(sketch)):
            if self._sketches[candidate].jaccard(sketch) >= THRESHOLD:
                return str(candidate)
        self._by_digest[digest] = name
        self._sketches[name] = sketch
        self._index.insert(name, sketch)
        return None

    def _sketch(self, words: list[str]) -> MinHash:
        places = range(max(1, len(words) - NUM_WORDS + 1))
        rows = {" ".join(words[place : place + NUM_WORDS]) for place in places}
        sketch = self._empty.copy()
        sketch.update_batch([row.encode() for row in rows])
        return sketch
