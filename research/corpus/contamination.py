"""Find texts that share a sequence of words with the texts that models are evaluated on.

The check compares n-grams of words, as GPT-3's did (Brown et al. 2020, arXiv 2005.14165,
appendix C). N-grams with few different words ("0 0 0 …") occur anywhere and are ignored.
"""

from collections.abc import Iterable

from intarsia_research.corpus.duplicates import words_of

NUM_WORDS = 10
MIN_DIFFERENT_WORDS = 7


class MeasuredTexts:
    """The n-grams of the texts that must not be trained on."""

    def __init__(
        self,
        texts: Iterable[str],
        *,
        num_words: int = NUM_WORDS,
        min_different_words: int = MIN_DIFFERENT_WORDS,
    ) -> None:
        self.num_words = num_words
        self.min_different_words = min_different_words
        self._ngrams = frozenset(
            ngram
            for text in texts
            for ngram in _ngrams(words_of(text), num_words)
            if len(set(ngram)) >= min_different_words
        )

    @property
    def num_ngrams(self) -> int:
        return len(self._ngrams)

    def shared_with(self, text: str) -> str | None:
        """Return the first n-gram that a text shares with them, None if there is none."""
        for ngram in _ngrams(words_of(text), self.num_words):
            if ngram in self._ngrams:
                return " ".join(ngram)
        return None


def _ngrams(words: list[str], num_words: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(num_words)), strict=False)
