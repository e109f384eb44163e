"""Finds texts that share a stretch with what a model is measured on.

Comes in: the measured texts, then texts one by one; goes out: the stretch that is shared. A stretch
is a number of words in a row, as in GPT-3's check (Brown et al. 2020, arXiv 2005.14165, C);
one that has few different words ("0 0 0 …", "if x is none return none if …") says nothing and is
not looked for.
"""

from collections.abc import Iterable

from intarsia.research.corpus.words import words_of

NUM_WORDS = 10
MIN_DIFFERENT_WORDS = 7


class MeasuredTexts:
    """What must not be trained on."""

    def __init__(
        self,
        texts: Iterable[str],
        *,
        num_words: int = NUM_WORDS,
        min_different_words: int = MIN_DIFFERENT_WORDS,
    ) -> None:
        self.num_words = num_words
        self.min_different_words = min_different_words
        self._stretches = frozenset(
            stretch
            for text in texts
            for stretch in _stretches(words_of(text), num_words)
            if len(set(stretch)) >= min_different_words
        )

    @property
    def num_stretches(self) -> int:
        return len(self._stretches)

    def shared_with(self, text: str) -> str | None:
        """Return the first stretch of a text that is a measured one too."""
        for stretch in _stretches(words_of(text), self.num_words):
            if stretch in self._stretches:
                return " ".join(stretch)
        return None


def _stretches(words: list[str], num_words: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(num_words)), strict=False)
