"""The token ids of a window of code, and of the prompt that asks to repeat an edit in it.

The prompt is the edit as an example, then the lines to correct in the same form.
"""

from collections.abc import Sequence

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.next_edit.example import example_text, lines_to_correct
from intarsia.engine.ipc.messages import EditExample


def window_below(text: FimTokenizer, window: str) -> list[int]:
    """Return the ids of a window in which lines below an edit are scored."""
    return [text.mark_ids().before_prefix, *text.encode(window)]


def window_above(text: FimTokenizer, window: str, edit_and_below: str) -> list[int]:
    """Return the ids of a window above an edit, with the edit before it.

    A causal model scores a line by what precedes it, so the edit is read first, as a suffix is.
    """
    return [*text.context([], text.encode(edit_and_below)), *text.encode(window)]


def rewrite_prompt(text: FimTokenizer, example: EditExample, lines: str) -> list[int]:
    """Return the ids after which the model writes the corrected lines, then its end mark."""
    return [
        *_begin(text),
        *text.encode(example_text(example)),
        *_begin(text),
        *text.encode(lines_to_correct(lines)),
    ]


def _begin(text: FimTokenizer) -> Sequence[int]:
    """Return the mark of a new file, which keeps the parts apart; none if there is no such mark."""
    return () if text.repository is None else (text.mark_id(text.repository.before_file),)
