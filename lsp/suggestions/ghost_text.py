"""Ghost text: the text shown at the cursor, and its rest as the user types it."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from intarsia.infill.confidence import ConfidentToken, without_end, without_start

if TYPE_CHECKING:
    from intarsia.infill.imports.binding import ImportBinding

_NAME = re.compile(r"[\w$]+")


@dataclass(frozen=True, slots=True)
class GhostText:
    """The text to insert at the cursor, whole and in the model's tokens.

    Unasked, only its first ``shown_length`` characters are shown (None: all of it). ``probability``
    is that of keeping the whole text, None where it is not known. ``imports`` are those that it
    needs, None where these are not known yet.
    """

    text: str
    tokens: tuple[ConfidentToken, ...]
    shown_length: int | None = None
    probability: float | None = None
    imports: "tuple[ImportBinding, ...] | None" = None

    @property
    def is_hidden(self) -> bool:
        """Whether nothing of it is shown unasked."""
        return self.shown_length == 0

    @property
    def shown(self) -> "GhostText":
        """The part that is shown unasked, with the imports of its own names."""
        length = self.shown_length
        if length is None:
            return self
        text = self.text[:length]
        return replace(
            self,
            text=text,
            tokens=without_end(self.tokens, length),
            shown_length=None,
            imports=None if self.imports is None else _used_in(text, self.imports),
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


def _used_in(text: str, imports: "tuple[ImportBinding, ...]") -> "tuple[ImportBinding, ...]":
    names = set(_NAME.findall(text))
    return tuple(binding for binding in imports if binding.local.split(".")[0] in names)
