"""Says whether an accepted suggestion leaves a text worse, without the product's own checks.

Harmful: more brackets or quotes without a partner than before, or two words run together.
"""

import re

_PAIRS = {")": "(", "]": "[", "}": "{"}
_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\\n])*`")
_WORD_QUOTE = re.compile(r"(?<=\w)'(?=\w)")


def why_harmful(document: str, cursor: int, text: str, removed: int = 0) -> str | None:
    """Return what ``text`` at the cursor breaks, in one word; None if it breaks nothing."""
    after = document[cursor + removed :]
    new = document[:cursor] + text + after
    if num_unpaired(new) > num_unpaired(document):
        return "brackets"
    if _num_open_quotes(new) > _num_open_quotes(document):
        return "quotes"
    was_word = _is_word(document[cursor - 1 : cursor]) and _is_word(document[cursor : cursor + 1])
    if not was_word and _is_word(text[-1:]) and _is_word(after[:1]):
        return "words"
    return None


def num_unpaired(text: str) -> int:
    """Count the brackets outside of strings of one line that have no partner."""
    opened: list[str] = []
    count = 0
    for char in _STRING.sub("", _WORD_QUOTE.sub("", text)):
        if char in _PAIRS.values():
            opened.append(char)
        elif char in _PAIRS:
            if opened and opened[-1] == _PAIRS[char]:
                opened.pop()
            else:
                count += 1
    return count + len(opened)


def _num_open_quotes(text: str) -> int:
    """Count the lines on which a double quote or a backquote has no partner."""
    left = _STRING.sub("", _WORD_QUOTE.sub("", text))
    return sum(line.count('"') % 2 + line.count("`") % 2 for line in left.split("\n"))


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
