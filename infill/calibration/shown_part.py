"""How much of a text is shown: all that is probable enough to be kept, nothing, or a beginning.

A beginning ends after a token where the code is whole: the file parses no worse than before, no
word is cut, and there is more than a sign or two.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.infill.calibration.calibration import Calibration
from intarsia.infill.calibration.evidence import evidence_of
from intarsia.infill.confidence import ConfidentToken

MayEndHere: TypeAlias = Callable[[str], bool]
"""Whether a beginning of the text leaves the code whole."""

_LEAST_CHARS = 4
"""A shorter beginning is not worth reading. Blanks do not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPart:
    """The first ``length`` characters of a text are shown, 0 for none.

    ``probability`` is that of keeping the whole text, 0 to 1; None: not known, so all is shown.
    """

    length: int
    probability: float | None


def shown_part(
    tokens: Sequence[ConfidentToken],
    end_confidence: float | None,
    calibration: Calibration | None,
    percent: int,
    may_end_here: MayEndHere,
) -> ShownPart:
    """Return how much of a text in tokens is at least this probable to be kept.

    Without a calibration for the model, or the confidence of each token, all is shown.
    """
    text = "".join(token.text for token in tokens)
    probability = keep_probability(tokens, end_confidence, calibration)
    if probability is None or calibration is None or 100 * probability >= percent:
        return ShownPart(length=len(text), probability=probability)
    beginnings = _probable_beginnings(tokens, calibration, percent)
    longest_first = sorted(beginnings, key=len, reverse=True)
    shown = next((it for it in longest_first if _is_whole(it, text) and may_end_here(it)), "")
    return ShownPart(length=len(shown), probability=probability)


def keep_probability(
    tokens: Sequence[ConfidentToken], end_confidence: float | None, calibration: Calibration | None
) -> float | None:
    """Return the probability that a user keeps the whole text, None where it is not known."""
    evidence = evidence_of(tokens, end_confidence)
    return None if calibration is None or evidence is None else calibration.probability(evidence)


def _probable_beginnings(
    tokens: Sequence[ConfidentToken], calibration: Calibration, percent: int
) -> Iterator[str]:
    """Yield each beginning that ends after a token and is probable enough."""
    for length in range(1, len(tokens)):
        probability = keep_probability(tokens[:length], None, calibration)
        if probability is None or 100 * probability < percent:
            return
        yield "".join(token.text for token in tokens[:length]).rstrip()


def _is_whole(beginning: str, text: str) -> bool:
    """Whether a beginning ends at the edge of a word, and says something."""
    ends_in_word = _is_word(beginning[-1:]) and _is_word(text[len(beginning) :][:1])
    num_chars = sum(not char.isspace() for char in beginning)
    return not ends_in_word and num_chars >= _LEAST_CHARS


def _is_word(char: str) -> bool:
    return char.isalnum() or char in ("_", "$")
