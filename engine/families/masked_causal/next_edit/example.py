"""An edit as an example for a model, as text, and its replacements repeated in another line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.engine.families.masked_causal.next_edit.edited_window import with_newline
from intarsia.engine.ipc.messages import EditExample


def example_text(example: EditExample) -> str:
    """Return both texts of an edit."""
    return lines_to_correct(example.before) + with_newline(example.after)


def lines_to_correct(lines: str) -> str:
    """Return lines in the same form, after which a model writes what they become."""
    return "original:\n" + with_newline(lines) + "updated:\n"


def only_adds(example: EditExample) -> bool:
    """Return whether an edit adds lines between two lines, and changes none."""
    first, _, rest = example.before.partition("\n")
    return bool(first) and example.after.startswith(first + "\n") and example.after.endswith(rest)


def num_added_lines(example: EditExample) -> int:
    """Return how many lines the edit added, 0 if it removed some."""
    return max(0, example.after.count("\n") - example.before.count("\n"))


_TOKEN = re.compile(r"\w+|[^\S\n]+|[^\w\s]|\n")
_WORD = re.compile(r"\w")


MAX_ALONE = 3
"""More replacements than these are only made together."""


def substituted(line: str, example: EditExample) -> Sequence[str]:
    """Return the line with all fitting replacements, then with each alone; none twice or as is."""
    fitting = [it for it in _replacements(example) if it.in_text(line) != line]
    together = line
    for replacement in fitting:
        together = replacement.in_text(together)
    alone = [it.in_text(line) for it in fitting] if len(fitting) <= MAX_ALONE else []
    return [new for new in dict.fromkeys((together, *alone)) if new != line]


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Text of one line in the place of other text, of whole words."""

    old: str
    new: str

    def in_text(self, text: str) -> str:
        start = r"(?<!\w)" if _WORD.match(self.old) else ""
        end = r"(?!\w)" if _WORD.match(self.old[-1]) else ""
        return re.sub(start + re.escape(self.old) + end, lambda _: self.new, text)


def _replacements(example: EditExample) -> Iterator[_Replacement]:
    """Yield what was replaced within lines, each replacement once."""
    old, new = _TOKEN.findall(example.before), _TOKEN.findall(example.after)
    seen: set[_Replacement] = set()
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for tag, start, end, new_start, new_end in opcodes:
        if tag == "equal" or "\n" in (*old[start:end], *new[new_start:new_end]):
            continue
        gone, come = "".join(old[start:end]), "".join(new[new_start:new_end])
        if not gone.strip() or not (come or _WORD.search(gone)):
            # Blanks, or a sign that is only deleted, say too little about where.
            before, after = _sign_before(old, start), _sign_after(old, end)
            gone, come = before + gone + after, before + come + after
        replacement = _Replacement(gone, come)
        if gone.strip() and replacement not in seen:
            seen.add(replacement)
            yield replacement


def _sign_before(tokens: Sequence[str], end: int) -> str:
    """Return the last word or sign of the line before a token, with the blanks after it."""
    start = end
    while start > 0 and tokens[start - 1] != "\n":
        start -= 1
        if tokens[start].strip():
            break
    return "".join(tokens[start:end])


def _sign_after(tokens: Sequence[str], start: int) -> str:
    """Return the first word or sign of the line from a token on, with the blanks before it."""
    end = start
    while end < len(tokens) and tokens[end] != "\n":
        end += 1
        if tokens[end - 1].strip():
            break
    return "".join(tokens[start:end])
