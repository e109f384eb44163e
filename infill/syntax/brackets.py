"""Matches the brackets of a piece of code without a parser.

Quoted strings that end on their own line are skipped; a single quote mark is ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(PAIRS.values())
MAX_LOOK_BACK = 20_000

_MARK = re.compile(r"[()\[\]{}\"'`]")
_STRINGS = {
    quote: re.compile(rf"{quote}(?:\\.|[^{quote}\\\n])*{quote}") for quote in ('"', "'", "`")
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """Offsets of the brackets that have no partner."""

    unmatched: tuple[int, ...]  # closing brackets without an opening one
    unclosed: tuple[int, ...]  # opening brackets that are still open


def balance_of(code: str) -> Balance:
    """Match the brackets of a piece of code by kind."""
    unmatched: list[int] = []
    unclosed: list[int] = []
    for offset, bracket in _brackets(code):
        if bracket in PAIRS:
            unclosed.append(offset)
        elif unclosed and PAIRS[code[unclosed[-1]]] == bracket:
            unclosed.pop()
        else:
            unmatched.append(offset)
    return Balance(unmatched=tuple(unmatched), unclosed=tuple(unclosed))


def free_lines(code: str) -> list[tuple[int, str]]:
    """Return the lines that begin outside of all brackets, each with its offset."""
    found: list[tuple[int, str]] = []
    offset, depth, brackets = 0, 0, _brackets(code)
    at, bracket = next(brackets, (len(code), ""))
    for line in code.split("\n"):
        while at < offset:
            depth = depth + 1 if bracket in PAIRS else max(0, depth - 1)
            at, bracket = next(brackets, (len(code), ""))
        if depth == 0:
            found.append((offset, line))
        offset += len(line) + 1
    return found


def opener_of(text: str, closer: int) -> int | None:
    """Return the offset of the bracket that ``text[closer]`` closes; None if it is not near."""
    begin = max(0, closer - MAX_LOOK_BACK)
    stack: list[int] = []
    for offset, bracket in _brackets(text[begin:closer]):
        if bracket in PAIRS:
            stack.append(offset)
        elif stack and PAIRS[text[begin + stack[-1]]] == bracket:
            stack.pop()
    is_opened = bool(stack) and PAIRS[text[begin + stack[-1]]] == text[closer]
    return begin + stack[-1] if is_opened else None


def _brackets(code: str) -> Iterator[tuple[int, str]]:
    """Yield the brackets outside of strings with their offsets.

    Where a quote mark is not closed on its line, no later one of its kind is: it would be escaped.
    """
    unclosed_until = dict.fromkeys(_STRINGS, 0)
    mark = _MARK.search(code)
    while mark is not None:
        start, character, end = mark.start(), mark.group(), mark.end()
        if character not in _STRINGS:
            yield start, character
        elif start >= unclosed_until[character]:
            string = _STRINGS[character].match(code, start)
            if string is None:
                line_end = code.find("\n", start)
                unclosed_until[character] = len(code) if line_end < 0 else line_end
            else:
                end = string.end()
        mark = _MARK.search(code, end)
