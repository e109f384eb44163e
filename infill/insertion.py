"""A suggestion in the one shape that every editor can draw: text that is inserted at the cursor.

Editors refuse or garble an inline completion that changes what stands left of the cursor or
deletes what stands right of it.
"""

from intarsia.infill.suggestion import NoSuggestion, Suggestion


def inserted_at_cursor(suggestion: Suggestion, source: str, cursor: int) -> str | NoSuggestion:
    """Return what to insert at the cursor of ``source``, or why the suggestion cannot be shown."""
    if not suggestion.start <= cursor <= suggestion.end:
        return NoSuggestion(reason="the suggestion is not at the cursor")
    left, right = source[suggestion.start : cursor], source[cursor : suggestion.end]
    if not suggestion.text.startswith(left):
        return NoSuggestion(reason="the suggestion would change text left of the cursor")
    text = suggestion.text.removeprefix(left)
    if not text.endswith(right):
        return NoSuggestion(reason="the suggestion would change text right of the cursor")
    text = text.removesuffix(right)
    return text if text.strip() else NoSuggestion(reason="the suggestion adds nothing")
