"""Finds the code at a place of a text: in Markdown the fenced block around it, in HTML the script.

Within a merge conflict it is the side around the place, which is read as if it were chosen.

Such code is written and checked by the rules of its own language. For that, everything else is
replaced by blanks: the code keeps its lines, columns and offsets. Only the rules look at it. The
model is still shown the document as it is, because a README's text tells what its code means, and
its earlier blocks often define what a later one uses.

Fences are found as CommonMark describes them (https://spec.commonmark.org/0.31.2/#fenced-code-blocks)
with two exceptions, for documents that are being written. Any indentation may lead to a fence. And
a fence that names a language ends an open one, which the writer has not closed yet.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from msgspec import structs

from intarsia.infill.languages import (
    PLAIN_TEXT,
    Language,
    language_for_id,
    language_for_path,
    language_of_tag,
)
from intarsia.infill.syntax.text import line_end, line_start, next_line_start
from intarsia.infill.syntax.tree import Syntax, parse

MAX_NESTED = 4
"""Markdown in a fence of Markdown, and so on; deeper code follows the rules of what it is in."""
MAX_CHARS = 1_000_000
"""A longer document is not searched: its code would not be parsed."""

_FENCE = re.compile(
    r"(?<![^\r\n])(?P<lead>(?:[ \t>*+-]|\d{1,9}[.)](?=[ \t]))*)"
    r"(?P<marker>`{3,}|~{3,})(?P<info>[^\r\n]*)"
)
_QUOTE_ENDS = re.compile(r"(?<![^\r\n])(?!(?<=\r)\n|[ \t]*>)")
_NOT_LINE_END = re.compile(r"[^\r\n]+")
_NAME = re.compile(r"\{?\s*\.?([\w#+.-]+)")
_VERSION = re.compile(r"\d+(?:\.\d+)*$")


@dataclass(frozen=True, kw_only=True)
class Code:
    """Code in a text, with blanks for the rest of the text, so that offsets are the same."""

    text: str
    language: Language
    closing_line: str | None = None  # the line of the text that ends the code
    outer: "Code | None" = None  # the whole text; None: this is it

    @cached_property
    def syntax(self) -> Syntax | None:
        """The code as it is parsed the first time that this is asked; None: it is not."""
        return parse(self.text, self.language)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fence:
    """A fenced block, or a script: its code is ``text[start:end]``, without fence or tags."""

    start: int
    end: int
    info: str
    is_quoted: bool
    is_followed: bool  # by another line, which closes it in most documents
    closing_line: str

    @property
    def language(self) -> Language:
        """The language that the info string names, else plain text."""
        return language_of_info(self.info)

    def holds(self, start: int, end: int) -> bool:
        """Whether a range is inside the code, and not on a line of the fence."""
        is_before_end = start < self.end or not self.is_followed
        return self.start <= start <= end <= self.end and is_before_end


def code_at(text: str, start: int, end: int, language: Language) -> Code:
    """Return the code around ``text[start:end]``: a fence, a script, or the whole text.

    Of a merge conflict it has one side: that around the place, elsewhere the first.

    Code in a language without a row, or without a name, follows the rules of the document.
    """
    document = code = Code(text=text, language=language)
    if len(text) <= MAX_CHARS and (kept := _sides_kept(text, start, end)):
        code = Code(text=_only(text, kept), language=language, outer=document)
    for _ in range(MAX_NESTED):
        if not code.language.embeds or len(text) > MAX_CHARS:
            break
        inner = _code_in_fence(code.text, start, end, code.language)
        if inner is None:
            break
        code = replace(inner, outer=document)
    return code


_CONFLICT_MARK = re.compile(r"(?m)^(?:<{7}|\|{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)")


def _sides_kept(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the ranges outside of merge conflicts, and one side of each; [] without conflicts.

    Also [] where the place is on the line of a mark.
    """
    kept, at = [], 0
    marks: list[re.Match[str]] = []
    for mark in _CONFLICT_MARK.finditer(text) if "<<<<<<<" in text else ():
        if mark[0][0] == "<":
            marks = []
        elif not marks:
            continue
        marks.append(mark)
        if mark[0][0] != ">":
            continue
        first, *_ = sides = [(it.end(), after.start()) for it, after in pairwise(marks)]
        own = [side for side in sides if side[0] < start <= end < side[1]]
        if not own and start <= mark.end() and end >= marks[0].start():
            return []
        kept += [(at, marks[0].start()), *(own or [first])]
        at, marks = mark.end(), []
    return [*kept, (at, len(text))] if at else []


def code_of_language(text: str, offset: int, language: Language) -> Code:
    """Return the code at a place with all other code of a document that is in the same language.

    Blocks of a document build on each other: what one has imported, the next one uses.
    """
    here = code_at(text, offset, offset, language)
    if here.language.id == language.id:
        return here
    fences = find_embedded(text, language)
    same = [fence for fence in fences if fence.language.id == here.language.id]
    if not any(fence.holds(offset, offset) for fence in same):  # in a fence of Markdown
        return here
    code = _only(text, [(fence.start, fence.end) for fence in same])
    for fence in same:
        if fence.is_quoted:
            bare = _without_marks(code[fence.start : fence.end])
            code = code[: fence.start] + bare + code[fence.end :]
    return replace(here, text=code)


def find_embedded(text: str, language: Language) -> tuple[Fence, ...]:
    """Return the blocks of code in a text that is a document of this language, in order."""
    match language.embeds:
        case "fences":
            return find_fences(text)
        case "scripts":
            return find_scripts(text)
        case _:
            return ()


_TAG = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?P<tag>script|style)\b(?P<attributes>(?:"[^"]*"|'[^']*'|[^"'<>])*)>""",
    re.IGNORECASE | re.DOTALL,
)
_KIND = re.compile(r"""\b(?:lang|type)\s*=\s*["']?(?:(?:text|application)/)?([\w+-]+)""")


@lru_cache(maxsize=8)
def find_scripts(text: str) -> tuple[Fence, ...]:
    """Return the contents of ``<script>`` and ``<style>`` elements, in order, with their languages.

    An open one ends with the text.
    """
    return tuple(_find_scripts(text))


def _find_scripts(text: str) -> Iterator[Fence]:
    end = 0
    for tag in _TAG.finditer(text):
        if tag.start() < end or tag["tag"] is None or tag["attributes"].endswith("/"):
            continue
        name, kind = tag["tag"].lower(), _KIND.search(tag["attributes"])
        closing = re.compile(f"</{name}\\b", re.IGNORECASE).search(text, tag.end())
        start, end = tag.end(), len(text) if closing is None else closing.start()
        if not text[start : line_end(text, start)].strip():
            start = min(end, next_line_start(text, start))
        own_line = line_start(text, end)
        info = name if kind is None else kind[1].lower()
        yield Fence(
            start=start,
            end=end if text[own_line:end].strip() else max(start, own_line),
            info=language_of_tag(info).id,
            is_quoted=False,
            is_followed=closing is not None,
            closing_line=f"</{name}>",
        )


@lru_cache(maxsize=8)  # the rules ask about one text several times in a row
def find_fences(text: str) -> tuple[Fence, ...]:
    """Return the fenced blocks of a Markdown text, in order; an open one ends with the text."""
    return tuple(_find_fences(text))


def language_of_info(info: str) -> Language:
    """Return the language that an info string names, such as ``python title="a.py"``.

    Also ``{.python}`` of Pandoc, ``rust,no_run`` of rustdoc, an extension, or a version at the end.
    Plain text if the name is unknown or missing.
    """
    match = _NAME.match(info.strip())
    if match is None:
        return PLAIN_TEXT
    name = match[1].lower()
    for known in (name, _VERSION.sub("", name)):
        language = language_for_id(known)
        if language is PLAIN_TEXT:
            language = language_for_path(f"x.{known}")
        if language is not PLAIN_TEXT:
            return language
    return PLAIN_TEXT


def _find_fences(text: str) -> Iterator[Fence]:
    opener: re.Match[str] | None = None
    latest_end = len(text)  # of the open fence
    quote_end = 0
    for match in _FENCE.finditer(text):
        if opener is not None:
            if match.start() < latest_end:
                if _is_closing(opener, match):
                    yield _fence(text, opener, match.start(), closing=match)
                    opener = None
                    continue
                if not _opens_another(opener, match):
                    continue
            yield _fence(text, opener, min(latest_end, match.start()))
        opener = match if _may_open(match) else None
        latest_end = len(text)
        if ">" in match["lead"]:
            if match.start() >= quote_end:
                end = _QUOTE_ENDS.search(text, next_line_start(text, match.end()))
                quote_end = len(text) if end is None else end.start()
            latest_end = quote_end
    if opener is not None and next_line_start(text, opener.end()) > opener.end():
        yield _fence(text, opener, latest_end)


def _may_open(match: re.Match[str]) -> bool:
    """Whether this is a fence, and not code in a line of text such as ```` ```a``` ````."""
    return not (match["marker"][0] == "`" and "`" in match["info"])


def _is_closing(opener: re.Match[str], match: re.Match[str]) -> bool:
    is_long_enough = match["marker"].startswith(opener["marker"])
    return is_long_enough and not match["info"].strip() and not match["lead"].strip(" \t>")


def _opens_another(opener: re.Match[str], match: re.Match[str]) -> bool:
    names_language = match["info"].strip() != "" and _may_open(match)
    return names_language and match["marker"].startswith(opener["marker"])


def _fence(
    text: str, opener: re.Match[str], end: int, *, closing: re.Match[str] | None = None
) -> Fence:
    start = next_line_start(text, opener.end())
    indent = re.sub(r"[^ \t>]", " ", opener["lead"])
    closing_line = indent + opener["marker"] if closing is None else closing.group().rstrip()
    return Fence(
        start=start,
        end=max(start, end),
        info=opener["info"],
        is_quoted=">" in opener["lead"],
        is_followed=end < len(text),
        closing_line=closing_line,
    )


def _code_in_fence(text: str, start: int, end: int, language: Language) -> Code | None:
    fences = find_embedded(text, language)
    fence = next((fence for fence in fences if fence.holds(start, end)), None)
    if fence is None or fence.language is PLAIN_TEXT:
        return None
    shown = _only(text, [(fence.start, fence.end)])
    if not fence.is_quoted:
        return Code(text=shown, language=fence.language, closing_line=fence.closing_line)
    if line_start(text, end) > start or line_end(text, start) < end:  # it has several lines
        return None
    # Each line of a quote begins with a mark that no rule of the code's language knows, so only
    # the rest of a line is filled.
    one_line = structs.replace(fence.language, block_style="none")
    return Code(text=_without_marks(shown), language=one_line, closing_line=fence.closing_line)


@lru_cache(maxsize=4)
def _blanked(text: str) -> str:
    return _NOT_LINE_END.sub(lambda line: " " * len(line[0]), text)


def _only(text: str, ranges: list[tuple[int, int]]) -> str:
    """Return the text with blanks outside of these ranges, which are in order."""
    blanks = _blanked(text)
    parts, at = [], 0
    for start, end in ranges:
        parts += [blanks[at:start], text[start:end]]
        at = end
    return "".join([*parts, blanks[at:]])


def _without_marks(code: str) -> str:
    return re.sub(r"(?<![^\r\n])[ \t>]*", lambda lead: lead[0].replace(">", " "), code)
