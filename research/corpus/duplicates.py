"""Find texts that equal or nearly equal an earlier one, by MinHash over 5-grams of words.

MinHash: Broder 1997, "On the resemblance and containment of documents".
"""

import hashlib
import re
import zlib

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]

THRESHOLD = 0.7
"""Two texts with at least this Jaccard similarity are duplicates."""

NUM_WORDS = 5
NUM_PERMUTATIONS = 128


class SeenTexts:
    """The texts so far. Of several duplicates the first is kept, so the order matters."""

    def __init__(self) -> None:
        self._by_digest: dict[bytes, str] = {}
        self._sketches: dict[str, MinHash] = {}
        self._empty = MinHash(num_perm=NUM_PERMUTATIONS, hashfunc=zlib.crc32)
        self._index = MinHashLSH(threshold=THRESHOLD, num_perm=NUM_PERMUTATIONS)

    def find_or_add(self, name: str, text: str) -> str | None:
        """Return the name of an earlier duplicate; if there is none, remember this text."""
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
        starts = range(max(1, len(words) - NUM_WORDS + 1))
        ngrams = {" ".join(words[start : start + NUM_WORDS]) for start in starts}
        sketch = self._empty.copy()
        sketch.update_batch([ngram.encode() for ngram in ngrams])
        return sketch


_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the identifiers, keywords, numbers and words of a text in lower case, in order."""
    return _WORD.findall(text.lower())
