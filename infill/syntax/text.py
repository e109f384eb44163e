"""Reads text without a parser: lines, columns, indentation, hidden characters, brackets and quotes.

A line ends at LF, CRLF or a single CR. Quoted strings that end on their own line have no brackets;
a single quote mark is ignored. An apostrophe inside a word is no quote: ``don't``. One without a
partner may be a lifetime or a symbol, as in ``&'a str``, so a single quote is only open if the
caller knows that it closes.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

BYTE_ORDER_MARK = "\ufeff"
TAB_WIDTH = 8

_LINE_END = re.compile(r"\r\n|\r|\n")


def with_plain_newlines(text: str) -> str:
    """Return the text with every line end as one LF."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def newline_of(text: str) -> str:
    """Return the first line end of the text, LF if it has none."""
    match = _LINE_END.search(text)
    return match.group() if match else "\n"


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line starts; there is always a first line."""
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    return list(accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0))


def line_start(text: str, offset: int) -> int:
    """Return where the line at an offset starts; a CRLF belongs to the line that it ends."""
    offset -= splits_line_end(text, offset)
    start = text.rfind("\n", 0, offset) + 1
    return max(start, text.rfind("\r", start, offset) + 1)


def line_end(text: str, offset: int) -> int:
    """Return where the line at an offset ends, before its line end."""
    match = _LINE_END.search(text, offset)
    return match.start() if match else len(text)


def line_bounds(text: str, offset: int) -> tuple[int, int]:
    """Return where the line at an offset starts, and where it ends, before its line end."""
    return line_start(text, offset), line_end(text, offset)


def next_line_start(text: str, offset: int) -> int:
    """Return where the next line starts, or the end of the text on the last line."""
    match = _LINE_END.search(text, offset)
    return match.end() if match else len(text)


def line_at(text: str, offset: int) -> str:
    """Return the whole line at an offset, without its line end."""
    return text[line_start(text, offset) : line_end(text, offset)]


def next_non_blank_line(text: str, offset: int) -> str | None:
    """Return the first non-blank line after the line at the offset."""
    start = next_line_start(text, offset)
    while start < len(text):
        line = text[start : line_end(text, start)]
        if line.strip():
            return line
        start = next_line_start(text, start)
    return None


def last_non_blank(text: str, end: int) -> int:
    """Return the offset of the last non-blank character before ``end``, or -1."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end - 1


def splits_line_end(text: str, offset: int) -> bool:
    """Whether the offset is between the two characters of a CRLF."""
    return 0 < offset < len(text) and text[offset - 1] == "\r" and text[offset] == "\n"


def leading_blank(line: str) -> str:
    """Return the spaces and tabs that a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def columns(line: str) -> int:
    """Return by how many columns a line is indented; a tab ends at the next multiple of 8."""
    return len(leading_blank(line).expandtabs(TAB_WIDTH))


_SUSPECT = re.compile(r"[^ -~\t\n]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_WITHOUT_WIDTH = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""
_SIGNS = re.compile(r"[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
"""Format characters that are drawn, such as the Arabic sign of a number."""
_SELECTORS = re.compile(r"[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAP = "\u20e3"


def first_hidden(text: str, known: str = "") -> int | None:
    """Return the offset of the first hidden character that is not in ``known``, None if none is."""
    known_ones = set[str]()
    for match in _SUSPECT.finditer(text):
        if match[0] not in known_ones and _is_hidden(text, match.start()):
            if match[0] not in known:
                return match.start()
            known_ones.add(match[0])
    return None


def _is_hidden(text: str, offset: int) -> bool:
    character = text[offset]
    before, after = text[max(0, offset - 1) : offset], text[offset + 1 : offset + 2]
    if character in _JOINERS:
        return before.isascii() or after.isascii()
    if _SELECTORS.match(character):
        is_selected = not before.isascii() and not _SELECTORS.match(before)
        return not is_selected and after != _KEYCAP
    if unicodedata.category(character) in _HIDDEN_CATEGORIES:
        return not _SIGNS.match(character)
    return character in _WITHOUT_WIDTH


def replaced_range(old: str, new: str) -> tuple[int, int, int]:
    """Return start, end in ``old``, and end in ``new`` of the range that was replaced."""
    num_old, num_new = len(old), len(new)
    most = min(num_old, num_new)
    start = _num_alike(most, lambda low, high: old[low:high] == new[low:high])
    tail = _num_alike(
        most - start,
        lambda low, high: (
            old[num_old - high : num_old - low] == new[num_new - high : num_new - low]
        ),
    )
    return start, num_old - tail, num_new - tail


def _num_alike(most: int, is_same: Callable[[int, int], bool]) -> int:
    """Count the characters that are the same, by bisection: comparing slices is fast."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if is_same(low, middle):
            low = middle
        else:
            most = middle - 1
    return low


_NAME = re.compile(r"[\w$]+")
_FIRST_NAME, _LAST_NAME = re.compile(r"\A[\w$]+"), re.compile(r"[\w$]+\Z")
_MAX_NAME = 200


def replaced_name(before: str, after: str, offset: int) -> tuple[str, str] | None:
    """Return the one word that an edit replaces at an offset, and the part of the new one there."""
    start, end, new_end = replaced_range(before, after)
    head = "".join(_LAST_NAME.findall(before, max(0, start - _MAX_NAME), start))
    tail = "".join(_FIRST_NAME.findall(before[end : end + _MAX_NAME]))
    word_start = start - len(head)
    old = head + before[start:end] + tail
    typed = after[word_start:offset]
    is_word = _NAME.fullmatch(old) and _NAME.fullmatch(typed or "_")
    return (old, typed) if is_word and word_start <= offset <= new_end else None


MAX_LINES_READ = 400
WIDEST_UNIT = 8
_DOCSTRING = re.compile(r"(?<=\"\"\")[^\"]*\n[ \t]*(?=\"\"\")|(?<=''')[^']*\n[ \t]*(?=''')")


def indent_unit(text: str) -> str | None:
    """Return the text's unit of indentation; None if no line is indented.

    The lines of a docstring do not count: they may be indented in any way.
    """
    text = _DOCSTRING.sub("", text)
    lines = [line for line in text.split("\n", MAX_LINES_READ)[:MAX_LINES_READ] if line.strip()]
    blanks = [leading_blank(line) for line in lines]
    num_tabs = sum(blank.startswith("\t") for blank in blanks)
    num_spaces = sum(blank.startswith("  ") for blank in blanks)
    if num_tabs == num_spaces == 0:
        return None
    return "\t" if num_tabs >= num_spaces else " " * _usual_step(blanks)


def _usual_step(blanks: list[str]) -> int:
    """Return the most frequent difference, in spaces, between a line and the line above it."""
    steps = (len(right) - len(left) for left, right in pairwise(["", *blanks]))
    counts = Counter(step for step in steps if 2 <= step <= WIDEST_UNIT)
    return counts.most_common(1)[0][0] if counts else 4


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
    unclosed = balance_of(text[begin:closer]).unclosed
    is_opened = unclosed != () and PAIRS[text[begin + unclosed[-1]]] == text[closer]
    return begin + unclosed[-1] if is_opened else None


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
        elif start >= unclosed_until[character] and not _is_apostrophe(code, start, character):
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


_CLOSED = re.compile(r"\s*[)\]}\"'`]")
_MAX_TYPED, _MAX_CLOSERS = 400, 4


def closed_behind(text: str, start: int, end: int) -> str:
    """Return what an editor wrote after ``end`` to close what was typed from ``start`` to there.

    "" where nothing typed is open. A line break may be among it: Enter between two braces.
    """
    behind = end
    marks = reversed(open_marks(text[start:end])) if end - start <= _MAX_TYPED else ()
    for mark, closed in zip(marks, ends_of_closers(text, end), strict=False):
        if text[closed - 1] != PAIRS.get(mark, mark):
            break
        behind = closed
    return text[end:behind]


def ends_of_closers(text: str, offset: int) -> Iterator[int]:
    """Yield where each of the next closing marks ends, with nothing but blanks between them."""
    for _ in range(_MAX_CLOSERS):
        closer = _CLOSED.match(text, offset)
        if closer is None:
            return
        yield (offset := closer.end())


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
