"""Tells how many errors a text has with an edit in it."""

from intarsia.infill.repair.proposals import Proposal
from intarsia.infill.syntax.nodes import MAX_ERRORS, num_errors
from intarsia.infill.syntax.parse import Syntax, parse_afresh, parse_edited


class ParseCheck:
    """One parsed text, and how many errors an edit of it may leave."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self.max_errors = max(0, num_errors(syntax) - 1)  # fewer where a text has any

    def errors_with(self, edit: Proposal) -> int:
        """Return the number of errors with the edit; the most that are counted if it is unknown."""
        after = parse_edited(self._syntax, edit.start, edit.end, edit.new)
        if after is None:
            return MAX_ERRORS
        return num_errors(after) if after.tree.root_node.has_error else 0

    def passes(self, edit: Proposal) -> bool:
        """Whether the text parses with the edit, or has as few errors as one may leave."""
        return self.errors_with(edit) <= self.max_errors

    def passes_afresh(self, edit: Proposal) -> bool:
        """The same of a tree that owes nothing to the broken one."""
        text = self._syntax.text
        text = text[: edit.start] + edit.new + text[edit.end :]
        after = parse_afresh(text, self._syntax.language)
        return after is not None and num_errors(after) <= self.max_errors
