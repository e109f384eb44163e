"""A text in the model's tokens, each with the model's confidence in it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfidentToken:
    """One token's part of a text; ``confidence`` is from 0 to 1."""

    text: str
    confidence: float


def without_start(tokens: Sequence[ConfidentToken], length: int) -> tuple[ConfidentToken, ...]:
    """Return the tokens without their first ``length`` characters."""
    left = []
    for token in tokens:
        if rest := token.text[length:]:
            left.append(ConfidentToken(rest, token.confidence))
        length = max(0, length - len(token.text))
    return tuple(left)


def sure_start(tokens: Sequence[ConfidentToken], least: float) -> str:
    """Return the text before the first token of less confidence than ``least``.

    Blanks at its end are left out: accepted alone, they would stay in the file as trailing space.
    """
    first = next((index for index, token in enumerate(tokens) if token.confidence < least), None)
    text = "".join(token.text for token in tokens[:first])
    return text if first is None else text.rstrip()
