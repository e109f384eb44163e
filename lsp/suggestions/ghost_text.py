"""Ghost text: the text shown at the cursor, and its rest as the user types it."""

from dataclasses import dataclass, replace

from intarsia.infill.confidence import ConfidentToken, without_end, without_start


@dataclass(frozen=True, slots=True)
class GhostText:
    """The text to insert at the cursor, whole and in the model's tokens.

    Unasked, only its first ``shown_length`` characters are shown (None: all of it). ``probability``
    is that of keeping the whole text, None where it is not known.
    """

    text: str
    tokens: tuple[ConfidentToken, ...]
    shown_length: int | None = None
    probability: float | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether nothing of it is shown unasked."""
        return self.shown_length == 0

    @property
    def shown(self) -> "GhostText":
        """The part that is shown unasked."""
        length = self.shown_length
        if length is None:
            return self
        return replace(
            self,
            text=self.text[:length],
            tokens=without_end(self.tokens, length),
            shown_length=None,
        )

    def after_typing(self, typed: str) -> "GhostText | None":
        """Return the rest after ``typed``; None where the text does not start so or ends there.

        The rest of what is shown stays shown. Where the user has typed beyond that, the rest is
        more probable now than it was: it is None, so that it is judged again.
        """
        if not typed:
            return self
        rest = self.text[len(typed) :]
        if not (rest.strip() and self.text.startswith(typed)):
            return None
        length = None if self.shown_length is None else self.shown_length - len(typed)
        if length is not None and not rest[: max(0, length)].strip():
            return None
        return replace(
            self, text=rest, tokens=without_start(self.tokens, len(typed)), shown_length=length
        )
