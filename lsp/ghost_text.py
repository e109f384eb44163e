"""A suggestion in the one shape that every editor can draw at the cursor: it only inserts.

Editors refuse or garble an inline completion that changes what stands left of the cursor or
deletes what stands right of it. Comes in: a suggestion;
goes out: ghost text, or the reason why there is none.
"""

from dataclasses import dataclass
from itertools import takewhile

from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class GhostText:
    """``text`` goes in at the cursor and replaces ``tail``, whose characters it holds in order."""

    text: str
    tail: str = ""

    def after_typing(self, typed: str) -> "GhostText | None":
        """Return what is left once ``typed`` has been typed, if it was typed along this text."""
        rest = self.text[len(typed) :]
        if not rest.strip() or not self.text.startswith(typed) or not _is_within(self.tail, rest):
            return None
        return GhostText(text=rest, tail=self.tail)


def ghost_text(suggestion: Suggestion, source: str, cursor: int) -> GhostText | NoSuggestion:
    """Turn a suggestion for ``source`` into ghost text at the cursor."""
    typed = source[suggestion.start : cursor]
    text = source[cursor : suggestion.start] + suggestion.text
    if suggestion.end < cursor or not text.startswith(typed):
        return NoSuggestion(reason="the suggestion would change text left of the cursor")
    text, tail = _without_common_end(text[len(typed) :], source[cursor : suggestion.end])
    if not tail.strip(" \t"):
        tail = ""
    if not _is_within(tail, text) or "\n" in tail or "\r" in tail:
        return NoSuggestion(reason="the suggestion would delete text right of the cursor")
    if not text.strip():
        return NoSuggestion(reason="the suggestion adds nothing to what the file has")
    return GhostText(text=text, tail=tail)


def _without_common_end(text: str, tail: str) -> tuple[str, str]:
    pairs = zip(reversed(text), reversed(tail), strict=False)
    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return text[: len(text) - length], tail[: len(tail) - length]


def _is_within(tail: str, text: str) -> bool:
    """Whether the characters of ``tail`` appear in ``text`` in their order."""
    rest = iter(text)
    return all(character in rest for character in tail)
