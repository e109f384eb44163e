"""Ghost text: the text shown at the cursor, and its rest as the user types it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from intarsia.infill.confidence import ConfidentToken, without_start

if TYPE_CHECKING:
    from intarsia.infill.imports.binding import ImportBinding


@dataclass(frozen=True, slots=True)
class GhostText:
    """The text to insert at the cursor, whole and in the model's tokens.

    ``imports`` are those that it needs, None where these are not known yet.
    """

    text: str
    tokens: tuple[ConfidentToken, ...]
    imports: "tuple[ImportBinding, ...] | None" = None

    def after_typing(self, typed: str) -> "GhostText | None":
        """Return the rest after ``typed``; None where the text does not start so or ends there."""
        if not typed:
            return self
        rest = self.text[len(typed) :]
        if not (rest.strip() and self.text.startswith(typed)):
            return None
        return GhostText(rest, without_start(self.tokens, len(typed)), self.imports)
