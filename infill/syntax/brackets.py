"""Matches the brackets of a piece of code, and follows the quotes of one line, without a parser.

Quoted strings that end on their own line are skipped; a single quote mark is ignored. An apostrophe
inside a word is no quote: ``don't``. One without a partner may be a lifetime or a symbol, as in
``&'a str``, so a single quote is only open if the caller knows that it closes.
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


_PREFIXES = ("r", "b", "f", "u", "rb", "br", "fr", "rf")
_WORD = "abcdefghijklmnopqrstuvwxyz0123456789_"
_QUOTES = ('"', "'", "`", '"""', "'''")
_INSIDE = {quote: re.compile(rf"\\.|[#$]\{{[^{{}}\n]*\}}|{quote}") for quote in _QUOTES}
_OPEN_OR_CLOSE = re.compile(r"[#$][({]|\\.|'''|\"\"\"|[\"'`(){}\[\]]")
_EXPRESSIONS = ("${", "#{", "$(", "\\(")
_FORMATS = re.compile(r"(?:\b[rR]?[fF][rR]?|\$@?)\Z")


def open_marks(line: str) -> list[str]:
    """Return the quotes and brackets that are open at the end of a line, the innermost last.

    Inside of quotes only what begins an expression opens a bracket: ``"${``, ``f"{``.
    """
    marks: list[str] = []
    formats: set[int] = set()  # how many marks are around each quote in which braces are code
    for found in _OPEN_OR_CLOSE.finditer(line):
        mark, last = found.group(), marks[-1] if marks else ""
        if last in _QUOTES:
            if mark == last and not _is_in_word(line, found.start(), mark):
                marks.pop()
            elif mark in _EXPRESSIONS or (mark == "{" and len(marks) - 1 in formats):
                marks.append(mark[-1])
        elif mark in _QUOTES and not _is_apostrophe(line, found.start(), mark):
            formats.discard(len(marks))
            if _FORMATS.search(line, max(0, found.start() - 3), found.start()):
                formats.add(len(marks))
            marks.append(mark)
        elif mark[-1] in PAIRS and not mark.startswith("\\"):
            marks.append(mark[-1])
        elif PAIRS.get(last) == mark:
            marks.pop()
    return marks


def open_quote(line: str) -> str | None:
    """Return the outermost quote that is open at the end of a line, None if there is none."""
    return next((mark for mark in open_marks(line) if mark in _QUOTES), None)


def closing_quote(line: str, start: int, quote: str) -> int | None:
    """Return where a quote that is open at ``start`` closes on the line, None if it does not."""
    offset = start
    while (mark := _INSIDE[quote].search(line, offset)) is not None:
        if mark.group() == quote and not _is_in_word(line, mark.start(), quote):
            return mark.start()
        offset = mark.end()
    return None


def _is_apostrophe(line: str, offset: int, quote: str) -> bool:
    """Whether a single quote belongs to the word before it."""
    if quote != "'":
        return False
    near = line[max(0, offset - 3) : offset].lower()
    word = near[len(near.rstrip(_WORD)) :]
    return word != "" and word not in _PREFIXES


def _is_in_word(line: str, offset: int, quote: str) -> bool:
    around = line[max(0, offset - 1) : offset], line[offset + 1 : offset + 2]
    return quote == "'" and all(char.isalnum() for char in around)
