"""A text in the model's tokens, each with how sure the model was of it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfidentToken:
    """One token's share of a text; ``confidence`` is from 0 to 1."""

    text: str
    confidence: float


def without_start(tokens: Sequence[ConfidentToken], length: int) -> tuple[ConfidentToken, ...]:
    """Return what is left once so many characters have been taken from the start."""
    left = []
    for token in tokens:
        if kept := token.text[length:]:
            left.append(ConfidentToken(kept, token.confidence))
        length = max(0, length - len(token.text))
    return tuple(left)


def sure_start(tokens: Sequence[ConfidentToken], least: float) -> str:
    """Return the text before the first token of less confidence, all of it where there is none.

    Blanks at its end are left to the unsure rest: accepted alone, they would dangle in the file.
    """
    first = next((at for at, token in enumerate(tokens) if token.confidence < least), None)
    text = "".join(token.text for token in tokens[:first])
    return text if first is None else text.rstrip()
