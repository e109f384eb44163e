"""What is shown at the cursor, and what is left of it as the user types along."""

from dataclasses import dataclass

from intarsia.infill.confidence import ConfidentToken, without_start


@dataclass(frozen=True, slots=True)
class GhostText:
    """What to insert at the cursor; the tokens' texts joined are the text."""

    text: str
    tokens: tuple[ConfidentToken, ...]

    def typed_along(self, typed: str) -> "GhostText | None":
        """Return what is left once ``typed`` has been typed, None if it is another text."""
        if not typed:
            return self
        rest = self.text[len(typed) :]
        if not (rest.strip() and self.text.startswith(typed)):
            return None
        return GhostText(rest, without_start(self.tokens, len(typed)))
