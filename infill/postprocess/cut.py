"""Ends a fill where it leaves its place, has enough lines, or repeats itself.

It also ends where it begins to repeat the text after the hole, and at the mark that closes behind
the cursor: a quote, a tag, a template's mark.

    x = f(├a)┤)   →   x = f(├a┤)
    ├a = 1⏎return a┤⏎return a   →   ├a = 1┤⏎return a
    "├Delete",┤"           →   "├Delete┤"
    {{ ├user.name }}, ┤ }}   →   {{ ├user.name┤ }}
"""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice, takewhile

from intarsia.infill.canvas import is_specific
from intarsia.infill.holes.hole import is_word_character
from intarsia.infill.postprocess.fit import (
    CALLED,
    CleaningContext,
    balance_with,
    num_closed_twice,
    num_unbalanced,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import (
    PAIRS,
    balance_of,
    closing_quote,
    columns,
    open_marks,
    open_quote,
    replaced_range,
)
from intarsia.infill.syntax.tree import comment_at, is_code, parse_edited

NOTHING_FITS = "no part of the text fits here"
_REPEATS = "the text would repeat what follows the cursor"


def cut(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Cut a fill by each of the rules below; reject it when nothing is left."""
    rules = (cut_to_max_lines, cut_repetition, cut_at_conflict, cut_at_closing_mark, cut_remark)
    for apply in rules:
        fill = apply(fill, context)
        if not fill.strip():
            return NoSuggestion(reason=NOTHING_FITS, kind="empty")
    fill = cut_suffix_overlap(fill, context)
    if not fill.strip():
        return NoSuggestion(reason=_REPEATS, kind="empty")
    return cut_to_scope(fill, context)


MIN_REPEATS = 3
MAX_LOOP_LINES = 8

_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_DIGEST = re.compile(r"@?(?:\bsha\d+[:-])?\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{20,}")
_DIGITS = "0123456789_"
_MAX_DIGITS = 40


def cut_repetition(fill: str, context: CleaningContext) -> str:
    """Keep the first round of a repetition. Drop an endless number, and a digest that is new.

    No model knows a digest that is not in the file.

    ├read()⏎add()⏎read()⏎add()⏎read()⏎add()┤   →   ├read()⏎add()┤
    """
    for digest in _DIGEST.finditer(fill):
        if digest[0] not in context.text:
            fill = fill[: digest.start()].rstrip(" ")
            break
    if len(fill) - len(fill.rstrip(_DIGITS)) > _MAX_DIGITS:
        fill = fill.rstrip(_DIGITS + ".").rstrip(" ")
    lines = [_cut_word_loop(line) for line in fill.split("\n")]
    return "\n".join(_cut_line_loop(lines))


_WORD_LOOP = re.compile(
    r"(?P<unit>\S.{3,78}?)(?P=unit){3,}|(?P<sentence>\S.{15,200}?[.!?] )(?P=sentence)+"
    r"|(?P<long>\S.{23,200}?)(?P=long)+"
)
_MIN_CHARS_AGAIN = 4


def _cut_word_loop(line: str) -> str:
    """Cut a line that ends with the same text four times; rows of signs or numbers stay.

    A sentence or a long text has to be there only twice, with the beginning of a third.
    """
    for loop in _WORD_LOOP.finditer(line):
        unit = loop["unit"] or loop["sentence"] or loop["long"]
        rest = line[loop.end() :]
        is_at_end = unit.startswith(rest) and (not loop["long"] or len(rest) >= _MIN_CHARS_AGAIN)
        if is_at_end and _HAS_WORD.search(unit):
            kept = line[: loop.start() + len(unit)]
            if _splits_word(line, len(kept)) or (loop["long"] and unit[-1] != " "):
                kept = kept[: max(kept.rfind(","), kept.rfind(" ")) + 1] or kept
            return kept.rstrip()
    return line


def _cut_line_loop(lines: list[str]) -> list[str]:
    for start in range(len(lines)):
        for length in range(1, MAX_LOOP_LINES + 1):
            if _is_loop(lines, start, length):
                return lines[: start + length]
    return lines


def _is_loop(lines: list[str], start: int, length: int) -> bool:
    first_round = lines[start : start + length]
    rounds = lines[start : start + length * MIN_REPEATS]
    has_word = any(_HAS_WORD.search(line) for line in first_round)
    return has_word and len(rounds) == length * MIN_REPEATS and rounds == first_round * MIN_REPEATS


_CONFLICT = re.compile(r"(?m)^[ \t]*(?:<{7}|>{7}|\|{7})(?: |$)")
_LIKE_CONFLICT = re.compile(
    r"(?m)^[ \t]*(?:<{3,}|>{3,}|={3,})(?: |$)|[ \t]*(?:<{7}|>{7}|\|{7})(?: |$)"
)


def cut_at_conflict(fill: str, context: CleaningContext) -> str:
    """Cut at a mark of a merge conflict, which only Git writes.

    ├a = 1⏎>>>>>>> feature┤   →   ├a = 1┤
    """
    written, code = context.line_before + fill, context.hole.code
    is_in_conflict = _CONFLICT.search((code.outer or code).text) is not None
    found = (_LIKE_CONFLICT if is_in_conflict else _CONFLICT).search(written)
    return fill if found is None else fill[: max(0, found.start() - len(context.line_before))]


def cut_to_max_lines(fill: str, context: CleaningContext) -> str:
    """Keep the first lines; the line end that finishes a header's own line is not counted.

    A line that opens brackets is kept up to the line that closes them, if there is one.
    """
    lines = fill.split("\n")
    if context.canvas.max_open is not None:
        return "\n".join(lines[: _num_until_closed(lines, context.canvas.max_open)])
    num_extra = 1 if context.hole.kind != "line" and not lines[0].strip() else 0
    return "\n".join(lines[: context.hole.max_lines + num_extra])


def _num_until_closed(lines: list[str], max_open: int) -> int:
    for count in range(1, len(lines) + 1):
        if len(balance_of("\n".join(lines[:count])).unclosed) <= max_open:
            return count
    return 1


def cut_to_scope(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Cut at the first later line that is indented too little, or at the end of the block.

    def f():⏎    ├return 1⏎def g():┤   →   def f():⏎    ├return 1┤
    """
    if context.hole.kind == "line":
        return fill
    within = _cut_at_closer(_cut_by_indentation(fill, context), context)
    if _begins_outside(within, context):
        return NoSuggestion(reason="the fill is not inside the block", kind="elsewhere")
    return within


def _cut_by_indentation(fill: str, context: CleaningContext) -> str:
    lines = fill.split("\n")
    for index, line in enumerate(lines[1:], start=1):
        if line.strip() and columns(line) < context.canvas.min_indent:
            return "\n".join(lines[:index])
    return fill


def _cut_at_closer(fill: str, context: CleaningContext) -> str:
    closer = context.hole.header and context.hole.header.closer
    unmatched = [at for at in balance_of(fill).unmatched if fill[at] == closer]
    return fill[: unmatched[0]].rstrip() if unmatched else fill


def _begins_outside(fill: str, context: CleaningContext) -> bool:
    """Whether the first line, at the cursor, is indented too little to be its header's body."""
    is_body = context.hole.header is not None and context.language.block_style == "indent"
    if not is_body or context.line_before.strip() or not fill.strip():
        return False
    return columns(context.line_before + fill) < context.canvas.min_indent


_OPENERS = {"}}": "{{", "%}": "{%", "#}": "{#", "%>": "<%", "?>": "<?", "-->": "<!--", "*/": "/*"}


def cut_at_closing_mark(fill: str, context: CleaningContext) -> str:
    """Cut at the first mark that the text behind the cursor closes already."""
    ends = (find(fill, context) for find in (_end_by_quote, _end_by_mark, _stray_mark))
    return fill[: next((end for end in ends if end is not None), None)]


_CLOSING_MARKS = ")]}\"'`"


def _end_by_quote(fill: str, context: CleaningContext) -> int | None:
    """Return where the fill leaves the quotes around it, or an expression inside of quotes.

    Where the parser sees no string, only a quote behind the cursor and other closing marks counts:
    unfinished code may hide it from the parser.
    """
    marks = open_marks(context.line_before)
    while marks:
        mark = marks.pop()
        if mark in PAIRS:
            closers = balance_of(context.rest).unmatched
            is_closed = closers and context.rest[closers[0]] == PAIRS[mark]
            if is_closed and any(outer not in PAIRS for outer in marks):
                return next(iter(balance_of(fill).unmatched), None)
            continue
        closes_at = closing_quote(context.rest, 0, mark)
        if closes_at is None or context.rest[closes_at + len(mark) :][:1].isalnum():
            continue
        is_next = not context.rest[:closes_at].strip(_CLOSING_MARKS)
        is_known = context.syntax is None or context.is_in_string or is_next
        if mark == "`":  # two of them in the fill begin another one, which the rest ends
            is_known |= fill.count(mark) % 2 == 1
        quotes = [quote for quote in (mark, *marks) if quote not in PAIRS] if is_known else []
        ends = (closing_quote(fill, 0, quote) for quote in quotes)
        return min((end for end in ends if end is not None), default=None)
    return None


_MARK = re.compile(r"\s*(?:(?P<mark>\}\}|[%#]\}|[%?]>|-->|\*/)|(?P<tag></[\w:.-]*))")
_END_OF_TAG = re.compile(r"\s*/?>")
_IN_TAG = re.compile(r"<[A-Za-z][^<>]{0,400}$")


def _end_by_mark(fill: str, context: CleaningContext) -> int | None:
    found = _MARK.match(context.rest)
    if found is None:
        is_in_tag = _END_OF_TAG.match(context.rest) and _IN_TAG.search(context.line_before)
        return _end_of_tag(fill) if is_in_tag else None
    closer = found["mark"] or found["tag"]
    opener = _OPENERS.get(closer, "<" + closer[2:])
    at = fill.find(closer)
    before = context.line_before
    is_ended = before.rfind(opener) < before.rfind(closer)  # on this line
    return None if at < 0 or is_ended or opener in fill[:at] else at


MAX_ELEMENTS = 4
"""The most end tags of a fill that are looked up: each time the whole text is read."""
_TAGS = r"(?P<begins><{0}(?![\w:.-]))(?:(?:=>|[^<>])*?(?P<is_empty>/>))?|(?P<ends></{0}(?![\w:.-]))"


def _is_element_closed(name: str, begun: str, context: CleaningContext) -> bool:
    """Whether the text and what a fill begins with close each element of this name already."""
    hole, text = context.hole, context.text
    num_open, num_ended = 0, 0
    whole = text[: hole.start] + begun + text[hole.end :]
    for tag in re.finditer(_TAGS.format(re.escape(name)), whole):
        num_ended += tag["ends"] is not None
        num_open += tag["begins"] is not None and tag["is_empty"] is None
    return num_open <= num_ended and num_ended > 0  # an element of none may be of another file


_BEGINS_PHP = re.compile(r"\s*<\?(?:php\b|=)")
_ENDS_BLOCK = re.compile(r"\s*(?P<mark>\{%[-+]?\s*end|\{\{~?/|\\end\{)(?P<name>\w+)")
_BLOCKS = {  # by the beginning of what ends one: what begins and what ends a block of a name
    "{%": (r"\{%[-+]?\s*", r"\{%[-+]?\s*end"),
    "{{": (r"\{\{~?[#<$^*]*", r"\{\{~?/"),
    "\\e": (r"\\begin\{", r"\\end\{"),
}
_ENDS_ELEMENT = re.compile(r"\s*</(?P<name>[\w:.-]+)")


def _stray_mark(fill: str, context: CleaningContext) -> int | None:
    """Return where a fill ends a mark, block or element that is not open, or opens PHP again."""
    if _BEGINS_PHP.match(fill) and context.before.rfind("<?") > context.before.rfind("?>"):
        return 0
    if fill.startswith("*/") and not context.line_before.strip():
        above = context.text[: context.hole.start]
        return 0 if above.rfind("/*") <= above.rfind("*/") else None
    for found in re.finditer(r"\s*-?([%?]>|-->)", fill):
        above, opener = context.before + fill[: found.start()], _OPENERS[found[1]]
        if -1 < above.rfind(opener) < above.rfind(found[1]):
            return found.start()
    ends = _ENDS_ELEMENT.finditer(fill) if context.language.takes_any_text else ()
    for found in islice(ends, MAX_ELEMENTS):
        if _is_element_closed(found["name"], fill[: found.start()], context):
            return found.start()
    begun, hole = len(context.line_before), context.hole
    ends = (it for it in _ENDS_BLOCK.finditer(context.line_before + fill) if it.end() > begun)
    for found in islice(ends, MAX_ELEMENTS):
        at, name = max(0, found.start() - begun), found["name"]
        above = context.text[: hole.start - begun] + found.string[: found.start()]
        begins, ends_one = _BLOCKS[found["mark"][:2]]
        for text in (above, above + context.text[hole.end :]):
            num_begun = len(re.findall(rf"{begins}{name}\b", text))
            if num_begun <= len(re.findall(rf"{ends_one}{name}\b", text)):
                return at
    return None


def _end_of_tag(fill: str) -> int | None:
    """Return where the tag ends that the fill goes on with; an arrow ends none."""
    end = re.search(r"[ \t]*(?<![=-])/?>", fill)
    return end.start() if end and "<" not in fill[: end.start()] else None


_BEGINS_REMARK = re.compile(r"#|//|--|%")


def cut_remark(fill: str, context: CleaningContext) -> str:
    """Cut the remark at the end of a fill if it would swallow the rest of the line.

    f(├a  # the sum┤)   →   f(├a┤)
    """
    hole, rest = context.hole, context.rest.lstrip()
    may_begin_one = rest != "" and _BEGINS_REMARK.search(fill) is not None
    if context.syntax is None or not may_begin_one or context.parsing_time.is_over:
        return fill
    with context.parsing_time.spent():
        syntax = parse_edited(context.syntax, hole.start, hole.end, fill)
        start = comment_at(syntax, hole.start + len(fill) + len(context.rest) - len(rest))
    if start is None or not hole.start <= start < hole.start + len(fill):
        return fill
    return fill[: start - hole.start].rstrip(" \t")


MIN_CHARS_IN_WORD = 2
MAX_OVERLAPS = 16
"""The most overlaps that are compared, the longest first: any part of a row of `=` overlaps."""


def cut_suffix_overlap(fill: str, context: CleaningContext) -> str:
    """Cut whole lines that follow the hole, then the rest of the hole's own line."""
    if context.line_before.strip():
        fill = _cut_at_rest(fill, context.rest)
    kept = "\n".join(_cut_following_lines(fill.split("\n"), context))
    if not context.rest.strip():
        return kept
    is_rest = _repeats_cut_word(kept, context) or _stands_for_rest(kept, context.rest)
    return "" if is_rest else _cut_rest_of_line(kept, context)


def is_known_line(fill: str, context: CleaningContext) -> bool:
    """Whether the line of a fill is one around it once more, or stands for the next one."""
    lines, after = fill.split("\n"), _lines_after(context)
    if context.hole.kind == "block":
        return _is_line_below(fill.strip(), after)
    if context.hole.kind != "line":
        return False
    return (
        _is_above_package(lines[0], after, context)
        or _is_named_below(lines[0], after, context)
        or (after != [] and _begins_as_next(lines[0], after[0], context))
        or _is_written_above(lines, context)
        or _is_soon_below(lines[0], after, context)
        or _is_entry_again(lines[0], context)
        or _is_unreachable(lines[0], after, context)
    )


def _is_line_below(body: str, after: Sequence[str]) -> bool:
    """Whether a body repeats the line below its block; a branch may leave as that does."""
    is_same = after != [] and body == after[0].strip() and is_specific(body)
    return is_same and not _LEAVES.match(body)


def reject_known_line(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject a line that is there already.

    add(first, "second")⏎add(first, "├second┤")   →   nothing
    """
    return NoSuggestion(reason=_REPEATS, kind="empty") if is_known_line(fill, context) else fill


def _cut_following_lines(lines: list[str], context: CleaningContext) -> list[str]:
    """Cut at the first line from which the fill repeats the lines after the hole."""
    after = _lines_after(context)
    if not context.line_before.strip():  # the cursor may be at another indentation
        stripped, below = ([line.strip() for line in each] for each in (lines[:2], after[:2]))
        if len(lines) > 1 and _repeats(stripped, below):
            return [""]
    for index, line in enumerate(lines):
        whole = context.line_before + line if index == 0 else line
        if after and whole.rstrip() == after[0]:
            is_clear = is_specific(whole) if index > 0 else len(lines) == 1
            if is_clear or _repeats([whole, *lines[index + 1 :]], after):
                return lines[:index] or [""]
        rest = context.rest.strip()
        is_rest = rest != "" and line.rstrip().endswith(rest)
        if is_rest and _repeats([rest, *lines[index + 1 :]], [rest, *context.following]):
            return [*lines[:index], line]
    return lines


MAX_LINES_COMPARED = 3
MAX_ENTRIES = 12

_DECLARED = re.compile(
    r"(?:(?:abstract|annotation|async|data|default|export|final|internal|open|override|private"
    r"|protected|pub|public|sealed|static)\s+)*(?P<kind>class|const|def|enum|fn|fun|func|function|interface|let|module|record"
    r"|struct|trait|va[lr])\s+(?P<name>\w+)\b"
    r"(?![.:]+\w|\s*[*&]|\s+\w+\s*[;=,)\[])"  # behind a type is the name
)
_ABOVE_PACKAGE = re.compile(r"\s*(?:[@/*#\"']|declare\b|<\?php\b)")


def _is_above_package(line: str, after: Sequence[str], context: CleaningContext) -> bool:
    """Whether a line is code above the line that names the file's package, or names it again."""
    package, whole = context.language.package, context.line_before + line
    if package is None or not is_code(context.syntax, max(0, context.hole.start - 1)):
        return False
    is_again = re.match(package, whole) is not None
    if _ABOVE_PACKAGE.match(whole):
        return False
    return any(re.match(package, each) for each in (*(context.above if is_again else ()), *after))


_MIN_CHARS_REPEATED, _MIN_CHARS_LONG = 16, 60
_REMARK_TEXT = re.compile(r"(?://+!?|#+|--+|;+)\s+(\S.*)")
MAX_LINES_ABOVE = 12
_LEAVES = re.compile(r"(?:break|continue|pass|raise|return|throw|yield)\b")


_OPENS_BODY = re.compile(r"(?:[.#][\w-].*|.*\)\s*)\{")  # .card {, if (a) {
_WITH_BODY = re.compile(
    r"(?![^()]*\bnew\b)[^(){}=;]*?\b(?!(?:catch|else|for|if|switch|while|with)\b)(?P<signature>\w+\([^()]*\))[^(){};=]*\{"
)


def _begins_as_next(line: str, following: str, context: CleaningContext) -> bool:
    """Whether a line begins with the whole line below, or opens a body with the same header."""
    whole, below = (context.line_before + line).strip(), following.strip()
    if _LEAVES.match(whole) and columns(context.line_before + line) > columns(following):
        return False  # a branch may end as the code after it does
    may_nest = whole.startswith("<") or whole[-1:] in PAIRS
    is_below = below.split() in (whole.split(), line.split())
    if is_below and is_specific(below) and not may_nest:
        return True
    remarks = [_REMARK_TEXT.fullmatch(each) for each in (whole, below)]
    if remarks[0]:  # the line below may be code that a remark is made of
        whole, below = remarks[0][1], remarks[1][1] if remarks[1] else below
    below = below.removeprefix("- ")
    is_long = len(below) >= _MIN_CHARS_REPEATED and is_specific(below)
    is_same = _without_marks(whole) == _without_marks(below)
    if is_long and (is_same or whole.startswith(below)):
        return True
    if _OPENS_BODY.fullmatch(below) and whole.startswith(below):
        return True
    own, other = (_WITH_BODY.match(each) for each in (whole, below))
    return own is not None and other is not None and own["signature"] == other["signature"]


_LEAVES_ALWAYS = re.compile(
    r"(?:break|continue|raise|return|throw)\b(?!.*\b(?:if|unless|when|or|and)\b|.*[,\\{(\[?:|&+.-]$)"
)


_MAY_FOLLOW = re.compile(
    r"\W|(?:case|catch|class|def|default|do|done|el|end|ensure|enum|esac|export|fi|fn|func|impl|in|local"
    r"|private|protected|pub|rescue|static|struct|type|until|when)|\w+:"
)


def _is_unreachable(line: str, after: Sequence[str], context: CleaningContext) -> bool:
    """Whether a line leaves the block that the line above it leaves, or that goes on below."""
    whole, above = context.line_before + line, "".join(context.above[:1])
    if context.line_before.strip() or not _LEAVES.match(whole.strip()):
        return False
    if _LEAVES_ALWAYS.match(above.strip()) and columns(above) == columns(whole):
        return True
    below = next(dropwhile(_is_remark, after[:MAX_LINES_ABOVE]), "")
    is_code_left = _LEAVES_ALWAYS.match(whole.strip()) and _is_in_code(context)
    goes_on = columns(below) == columns(whole) and not _MAY_FOLLOW.match(below.strip() or " ")
    return bool(is_code_left and goes_on)


def _is_in_code(context: CleaningContext) -> bool:
    is_parsed = context.syntax is not None and not context.language.takes_any_text
    return is_parsed and is_code(context.syntax, max(0, context.hole.start - 1))


_IMPORTS = re.compile(
    r"(?:import|from|using|use|#\s*include|require(?:_once|_relative)?)\b.*\w.*\W"
    r"|(?:namespace|package)\s+[\w.\\:]+\s*;?\s*$|\s*alias\s+[A-Z][\w.]*\s*$"
)


def _is_written_above(lines: Sequence[str], context: CleaningContext) -> bool:
    """Whether the whole line repeats the one above it, or an import or section near it."""
    whole = context.line_before + lines[0] + (context.rest if len(lines) == 1 else "")
    if context.language.once and re.fullmatch(context.language.once, whole.strip()):
        return whole.strip() in map(str.strip, (*context.above, *context.following))
    if _IMPORTS.match(whole):  # indented, it has its own scope
        near = (*context.above, *context.following[:MAX_LINES_ABOVE])
        is_alias = whole.lstrip().startswith("alias")  # of a module; it is indented
        return whole.strip() in map(str.strip, near) if is_alias else whole.rstrip() in near
    above = _without_marks("".join(context.above[:1]))
    if _without_marks(whole) != above:
        return False
    is_long = len(above) >= _MIN_CHARS_REPEATED or above.startswith("@")
    return is_long and is_specific(above)


_INSTRUCTION = re.compile(r"[A-Z]{2,} \S")  # of a Dockerfile


def _is_soon_below(line: str, after: Sequence[str], context: CleaningContext) -> bool:
    """Whether a line repeats one of the next lines.

    On a new line any specific code does. Elsewhere it is a whole statement or a long line, or only
    remarks are between the two.
    """
    below = after[:MAX_LINES_COMPARED]
    is_new = context.hole.is_inserted and is_specific(line)
    if is_new and _without_marks(line) in map(_without_marks, below):
        return True
    whole = (context.line_before + line).rstrip()
    is_statement = whole.endswith(";") or _INSTRUCTION.match(whole) is not None
    length = len(whole.strip())
    if length < _MIN_CHARS_REPEATED or not _HAS_WORD.search(whole):
        return False
    code = dropwhile(_is_remark, after[:MAX_LINES_ABOVE])
    is_below = whole in below[1:] and (is_statement or length >= _MIN_CHARS_LONG)
    return is_below or whole == next(code, "")


def _is_remark(line: str) -> bool:
    return _REMARK_TEXT.fullmatch(line.strip()) is not None


_BEGINS_WORD = re.compile(r"\s*\w*")
_KEYS = (
    re.compile(r"(?P<quote>[\"']?)(?P<name>[\w.$-]+)(?P=quote)\s*(?::=|[:=](?![:=]|[\w.-]+[(:=]))"),
    _DECLARED,
)


def _is_named_below(line: str, after: Sequence[str], context: CleaningContext) -> bool:
    """Whether a line of its own gives the next line's key or name another value.

    A key is compared at its own column only. A declaration may be indented otherwise.
    """
    whole, below = context.line_before + line, "".join(after[:1])
    if not _BEGINS_WORD.fullmatch(context.line_before):
        return False
    for pattern in _KEYS if columns(whole) == columns(below) else (_DECLARED,):
        key, other = (pattern.match(each.strip()) for each in (whole, below))
        if key and other and key["name"] == other["name"]:
            value = below.partition("=")[2]  # x = f(x) needs an x before it
            return re.search(rf"(?<!\w){re.escape(key['name'])}(?!\w)", value) is None
    return False


_ENTRY = re.compile(r"([\"']?)(?P<key>[\w.$-]+)\1:\s+\S")
_ASSIGNED = re.compile(r"(?P<key>[\w-]+)\s*=\s*(?![=\s])(?!.*;$)")
_HEAD_OF_ENTRIES = re.compile(
    r"(?!(?:do|else|loop|repeat|then|try)\b)[a-z][\w-]*(?:\s+\"[^\"]*\")*(?:\s*=)?\s*\{"
)
_QUOTED_KEY = re.compile(r"(?P<quote>[\"'])(?P<key>[\w.$-]+)(?P=quote):?")


def _is_entry_again(line: str, context: CleaningContext) -> bool:
    """Whether a line of its own is an entry ``key: value`` whose key its block has already."""
    whole = (context.line_before + line + context.rest).strip()
    if not any(it.match(whole) for it in (_ENTRY, _ASSIGNED, _QUOTED_KEY)):
        return False
    num_columns = columns(context.line_before + line)
    pattern = _ASSIGNED if _are_entries_assigned(num_columns, context) else _ENTRY
    entry = None if context.line_before.strip() else pattern.match(whole)
    entry = entry or _QUOTED_KEY.fullmatch(whole)
    if entry is None:
        return False
    for lines in (context.above, context.following):
        block = takewhile(lambda each: columns(each) >= num_columns, lines[:MAX_ENTRIES])
        inner = takewhile(lambda each: not each.startswith("["), block)  # the next table of TOML
        siblings = (each.strip() for each in inner if columns(each) == num_columns)
        if any((it := pattern.match(each)) and it["key"] == entry["key"] for each in siblings):
            return True
    return False


def _are_entries_assigned(num_columns: int, context: CleaningContext) -> bool:
    """Whether the lines at a column are entries ``key = value``, of TOML or in a block of HCL."""
    if context.language.has_bare_values and context.language.once:
        return not context.is_in_string
    head = next((line for line in context.above if columns(line) < num_columns), "").strip()
    return not context.language.grammar and _HEAD_OF_ENTRIES.fullmatch(head) is not None


def _without_marks(line: str) -> str:
    return line.strip(" \t)]};,")


def _lines_after(context: CleaningContext) -> list[str]:
    """Return the lines after the hole, beginning with its own if the hole is at its indentation."""
    if not context.rest.strip():
        return [*context.following]
    if context.line_before.strip():
        return []
    return [(context.line_before + context.rest).rstrip(), *context.following]


def _repeats(lines: list[str], after: Sequence[str]) -> bool:
    """Whether the lines begin with two lines of the text after the hole, or are all from it.

    Blank lines do not count. Of two lines, the second may be cut short.
    """
    written = [line.rstrip() for line in lines if line.strip()]
    pairs = list(zip(written, after, strict=False))
    num_equal = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    if num_equal == 1 and len(pairs) == len(written) == 2:
        return after[1].startswith(written[1])
    return num_equal >= 2 or 0 < num_equal == len(written)


def _cut_rest_of_line(fill: str, context: CleaningContext) -> str:
    candidates = []
    for text in (fill, *_cuts_at_unmatched(fill, context)):
        written = text.rstrip(" \t")
        overlaps = islice(_overlaps(written, context.rest), MAX_OVERLAPS)
        candidates += [*(written[:-count] for count in overlaps), text]
    return min(candidates, key=lambda kept: _cost(kept, context))


def _cost(kept: str, context: CleaningContext) -> tuple[int, int]:
    return num_closed_twice(kept, context), num_unbalanced(balance_with(kept, context))


_MIN_CHARS_OF_REST = 8
_TWO_LETTERS, _SIGN = re.compile(r"\w\w"), re.compile(r"[^\w\s]")


def _has_word_and_mark(text: str) -> bool:
    return _TWO_LETTERS.search(text) is not None and _SIGN.search(text) is not None


def _stands_for_rest(fill: str, rest: str) -> bool:
    """Whether a fill is the rest of the line in other words: both begin or end alike."""
    written, whole = fill.strip(), rest.strip()
    has_words = " " in written and len(written) >= _MIN_CHARS_OF_REST
    if has_words and whole.lstrip(".,;:").startswith(written):
        return True
    same = written[replaced_range(written, whole)[1] :]
    if whole.startswith(written) or written.startswith(whole):
        same = min(written, whole, key=len)
    elif same == whole:
        return False  # it is cut off
    return len(same) >= _MIN_CHARS_OF_REST and _has_word_and_mark(same)


_MAX_CHARS_OF_REST = 200


def _cut_at_rest(fill: str, rest: str) -> str:
    """Cut where a fill writes most of the rest of the line, and goes on in its own way.

    map<├string, string> b = 1;┤, string> b = 2;   →   map<├string┤, string> b = 2;
    a.├write(b)┤(c)   →   a.├write┤(c)
    """
    rest = rest[:_MAX_CHARS_OF_REST]
    called = CALLED.match(fill) if rest.startswith("(") and fill.endswith(")") else None
    if called:
        return called[0]
    least = max(_MIN_CHARS_OF_REST, len(rest) // 2)
    for count in range(min(len(rest), len(fill)), least - 1, -1):
        beginning = rest[:count]
        at = -1 if _splits_word(rest, count) else fill.find(beginning)
        if at >= 0 and _has_word_and_mark(beginning):
            return fill[:at]
    return fill


def _overlaps(fill: str, rest: str) -> Iterator[int]:
    """Yield how many characters of the fill's end begin the rest of the line, the most first.

    Words are compared whole. Only an overlap with all of the rest may begin inside a word.
    """
    num_rest = len(rest.rstrip())
    return (
        count
        for count in range(min(len(fill), num_rest), 0, -1)
        if fill.endswith(rest[:count])
        and rest[:count].strip()
        and not _splits_word(rest, count)
        and (count == num_rest >= MIN_CHARS_IN_WORD or not _splits_word(fill, len(fill) - count))
    )


def _cuts_at_unmatched(fill: str, context: CleaningContext) -> list[str]:
    """Return the fill up to its first unmatched closing bracket, which may end an open quote first.

    The rest of the line may begin with that bracket, whatever the model wrote after it.
    """
    quote = open_quote(context.line_before) or ""
    unmatched = balance_of(quote + fill).unmatched
    return [fill[: unmatched[0] - len(quote)].rstrip(" \t")] if unmatched else []


def _repeats_cut_word(fill: str, context: CleaningContext) -> bool:
    """Whether the cursor is inside a word and the fill repeats the word's second half."""
    if not _splits_word(context.line_before + context.rest, len(context.line_before)):
        return False
    half = "".join(takewhile(is_word_character, context.rest))
    return fill.startswith(half) and not _splits_word(fill, len(half))


def _splits_word(text: str, offset: int) -> bool:
    return all(map(is_word_character, (text[offset - 1 : offset], text[offset : offset + 1])))
