"""How probable a cleaned answer of the engine is to be kept, and how much of it is shown.

For that the cleaned text is split into the model's tokens again, so that each part has its
confidence. Cleaning cuts, trims, re-indents and adds lines. Lines are matched by their text without
blanks, and the text of a changed line from both of its ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby, repeat, takewhile
from operator import itemgetter
from typing import TypeAlias

from intarsia.engine.ipc.messages import CanvasToken, Filled
from intarsia.infill.calibration import (
    LEAST_CHARS,
    Calibration,
    MayEndHere,
    evidence_of,
    keep_probability,
    shown_part,
)
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.fitted_bodies import BODIES
from intarsia.infill.fitted_calibrations import CALIBRATIONS
from intarsia.infill.holes.hole import Hole, is_word_character
from intarsia.infill.postprocess.clean import close_on_own_line
from intarsia.infill.postprocess.cut import NOTHING_FITS, cut_suffix_overlap, is_known_line
from intarsia.infill.postprocess.fit import (
    REMARK,
    CleaningContext,
    cleaning_context,
    ends_with_header,
    is_no_worse,
    why_it_does_not_fit,
)
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion, without_end
from intarsia.infill.syntax.text import (
    PAIRS,
    balance_of,
    leading_blank,
    line_start,
    replaced_range,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import Prose, is_code, prose_at


def tokens_of(filled: Filled, suggestion: Suggestion) -> tuple[ConfidentToken, ...]:
    """Return the suggestion's text in the model's tokens."""
    written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
    return align(written, suggestion.text)


def end_confidence_of(filled: Filled, suggestion: Suggestion) -> float | None:
    """Return how probable it is that the text ends there; None where cleaning has moved its end."""
    is_same = suggestion.text.split() == filled.text.split()  # but for blanks
    return filled.end_confidence if is_same else None


def prose_of(hole: Hole) -> Prose | None:
    """Return which prose a hole is part of, None in code.

    Without a grammar, a line that begins with a comment's mark is one.
    """
    if hole.code.syntax is None:
        is_remark = REMARK.match(hole.code.text, hole.line_start, hole.start)
        return "comment" if is_remark else None
    return prose_at(hole.code.syntax, hole.start)


def calibration_of(filled: Filled, prose: Prose | None) -> Calibration | None:
    """Return the calibration of the answer's model, None where it does not hold.

    It was fitted on confidences of verified tokens, and on texts that were written to their end.
    """
    is_verified = all(token.is_settled for token in filled.tokens)
    return _calibration(filled.model, prose) if is_verified else None


def _calibration(model: str | None, prose: Prose | None) -> Calibration | None:
    found = CALIBRATIONS.get(model or "")
    if found is None:
        return None
    return found.in_prose if prose else found.while_typing


def is_whole_body(plan: FillPlan, end_confidence: float | None) -> bool:
    """Whether a text is a body that was asked for, ended by the model and left so by cleaning."""
    return plan.asked is not None and end_confidence is not None


def probability_of(filled: Filled, suggestion: Suggestion, prose: Prose | None) -> float | None:
    """Return the probability that a user keeps the whole suggestion, None where it is not known."""
    return keep_probability(
        tokens_of(filled, suggestion),
        end_confidence_of(filled, suggestion),
        calibration_of(filled, prose),
    )


def end_rule(plan: FillPlan, prose: Prose | None) -> MayEndHere:
    """Return the rule that says which beginnings of a text in the plan's hole may be shown."""

    @cache
    def context() -> CleaningContext:
        return cleaning_context(plan.hole, plan.canvas)

    in_comment = prose in ("comment", "documentation")

    def may_end_here(beginning: str, goes_on: str) -> bool:
        if not goes_on and not in_comment:
            return True
        may_end = is_whole_remark if in_comment else is_whole_beginning
        return may_end(with_plain_newlines(beginning), with_plain_newlines(goes_on), context())

    return may_end_here


def is_whole_beginning(beginning: str, goes_on: str, context: CleaningContext) -> bool:
    """Whether a beginning of a fill can stand alone: the file is no worse with it than without any.

    It ends where a reader would end it. It may not end with the header of a block, and no bracket
    may have to move to a line of its own. A word that was begun may be finished: the code is as
    whole as before. ``goes_on`` is the text that the fill goes on with.

    ├f(x)║ + g(┤, pri├ce║(x)┤   →   yes
    ├f(║x)┤, ├f(x, key║=len)┤   →   no
    """
    is_in_word = is_word_character(context.line_before[-1:] or " ")
    if is_in_word and is_word_character(beginning[:1]) and _is_first_word(beginning, goes_on):
        return not is_word_character(context.rest[:1] or " ")
    if ends_with_header(beginning, context) or not _ends_clause(beginning, goes_on, context):
        return False
    fitted = close_on_own_line(beginning, context), cut_suffix_overlap(beginning, context)
    if fitted != (beginning, beginning) or is_known_line(beginning, context):
        return False
    opened, left_open = balance_of(beginning).unclosed, balance_of(beginning + goes_on).unclosed
    if not set(opened) <= set(left_open) or why_it_does_not_fit(beginning, context) is not None:
        return False
    return is_no_worse(beginning, context)


_CLAUSE_ENDS = tuple(";)]}>\n")
_LEADS_ON = re.compile(r"\s*(?:[=-]>|[%?]>(?!%)|%\}|(?:\{|do|then|:)\s*$)", re.MULTILINE)
_IN_MARK_OR_WORD = re.compile(r"[-%?=/:&|<!+*.][^\w\s]|\w[-']\w|\d\.\d|[)\]}]\w[\w-]")
_QUOTES = ('"', "'", "`")  # behind one a string has ended
_MARK_OF_NEXT = re.compile(r"\s[^\w\s)\]};,]\S\Z")
_IN_END_TAG = re.compile(r"</[\w:.-]*\Z")
_CONTINUED = re.compile(r".*\\(?:\n|\Z)")
_BEFORE_CLAUSE_END = (*_CLAUSE_ENDS, ",")
_AFTER_WORD = (" ", "\t", ".", "::", "(", "/")
_CODE = re.compile(r"[()\[\]{}=;<>$]")


def _ends_clause(beginning: str, goes_on: str, context: CleaningContext) -> bool:
    """Whether a beginning ends after a word, at a comma, a call or a line end; prose anywhere.

    A word alone on its line says nothing below other lines; and it would belong to the line below,
    if that begins with it, too. What leads on to something that is missing is no end.
    """
    is_own_line = "\n" in beginning or not context.line_before.strip()
    below = "".join(context.following[:1]).lstrip() if is_own_line else ""
    is_of_below = re.match(re.escape(beginning.strip()) + r"(?!\w)", below) is not None
    if _is_first_word(beginning, goes_on) and not is_of_below:
        return True
    if _MARK_OF_NEXT.search(beginning[-2:] + goes_on[:1]) or _CONTINUED.match(goes_on):
        return False
    if goes_on[:1] == ">" and _IN_END_TAG.search(context.line_before + beginning):
        return False
    if _IN_MARK_OR_WORD.match(beginning[-1:] + goes_on[:2]):
        return False
    is_comment = not is_code(context.syntax, max(0, context.hole.start - 1))
    is_prose = context.is_in_string or (is_comment and context.line_before[-1:] not in _QUOTES)
    if context.syntax is None:
        is_prose = _CODE.search(context.line_before + beginning + goes_on) is None
    leads_on = beginning.endswith(("=>", "->")) or _LEADS_ON.match(goes_on)  # to what is missing
    is_end = beginning.endswith(_CLAUSE_ENDS) or goes_on.startswith(_BEFORE_CLAUSE_END)
    is_alone = _WORD.fullmatch(beginning[beginning.rfind("\n") + 1 :]) is not None
    if is_word_character(beginning[-1:]) and not (is_of_below or is_alone):
        is_end |= goes_on.startswith(_AFTER_WORD)
    is_text_end = is_prose and not _JOINS_NEXT.match(beginning[-1:] + goes_on[:1])
    return is_text_end or (is_end and not leads_on) or not goes_on.strip()


_MARK = r"[!-/:;=-@\[-^`{-~]"  # of ASCII: other scripts set no blank after theirs; no tag's "<"
_JOINS_NEXT = re.compile(rf"{_MARK}\w")
_IN_CHUNK = re.compile(rf"[\w$]?(?:{_MARK}+\w|{_MARK}*[(\[{{])")
_COMMENT_ENDS = ("*/", "-->", '"""', "'''")
_OPENERS = (*PAIRS, "<")
_CLOSES = re.compile(r"(?!\"{3}|'{3})[)\]}\"'`]")


def is_whole_remark(beginning: str, goes_on: str, context: CleaningContext) -> bool:
    """Whether a beginning of a text in a comment is worth reading, and can stand there alone.

    It cuts no mark, and nothing that is written without a blank. It opens no quote or bracket, does
    not end right before the mark that closes one, and has no code after the comment.

    of a ║list */   →   yes
    of║, of `a║`, of (a║), of [(║1, of a║.b, of a list *║/, of a list */ f();║   →   no
    """
    line = context.line_before + context.rest
    is_cut = all(char.strip() and not _WORD.match(char) for char in (beginning[-1:], goes_on[:1]))
    is_closed_by_rest = goes_on[:1] == context.rest[:1]
    is_cut |= beginning.endswith(_OPENERS) or _IN_CHUNK.match(beginning[-1:] + goes_on) is not None
    is_cut |= _CLOSES.match(goes_on) is not None and not is_closed_by_rest
    is_open = beginning.count("`") % 2 == 1 and line.count("`") % 2 == 0
    has_code = any(beginning.partition(end)[2].strip() for end in _COMMENT_ENDS)
    if is_cut or is_open or has_code or len("".join(beginning.split())) < LEAST_CHARS:
        return False
    return why_it_does_not_fit(beginning, context) is None and is_no_worse(beginning, context)


_WORD, _SAME_WORD = re.compile(r"\s*[\w$]+(?:-[\w$]+)*"), re.compile(r"[\w$]|[-']\w|://")


def _is_first_word(beginning: str, goes_on: str) -> bool:
    return bool(_WORD.fullmatch(beginning)) and not _SAME_WORD.match(goes_on)


def whole_part(plan: FillPlan, filled: Filled, suggestion: Suggestion) -> Suggestion | NoSuggestion:
    """Return the suggestion, or of one that was cut short what can stand alone of it.

    The deadline cuts it short, or the room for it.
    """
    is_late = filled.finish_reason == "deadline"
    if not is_late and not _has_no_room(filled, suggestion):
        return suggestion
    may_end_here, rest = end_rule(plan, prose_of(plan.hole)), _UNKNOWN.text
    tokens = tokens_of(filled, suggestion)
    for number in range(len(tokens), 0, -1):
        beginning = "".join(token.text for token in tokens[:number]).rstrip()
        if beginning and may_end_here(beginning, suggestion.text[len(beginning) :] + rest):
            return replace(suggestion, text=beginning)
    return NoSuggestion(reason=_CUT_SHORT, kind="late") if is_late else _NO_ROOM


def _has_no_room(filled: Filled, suggestion: Suggestion) -> bool:
    """Whether the last token that there is room for ends the suggestion."""
    texts = (with_plain_newlines(text).rstrip() for text in (filled.text, suggestion.text))
    return filled.finish_reason == "max_tokens" and next(texts).endswith(next(texts))


_CUT_SHORT = "the deadline passed before a part of the text was whole"
_NO_ROOM = NoSuggestion(
    reason=f"{NOTHING_FITS}: the hole had no room for all of the text", kind="broken"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A suggestion in the model's tokens, and how many of its characters are shown, 0 for none."""

    tokens: tuple[ConfidentToken, ...]
    shown_length: int
    probability: float | None  # that the user keeps all of it, 0 to 1; None: not known


def judge(plan: FillPlan, filled: Filled, suggestion: Suggestion, percent: int) -> Judged:
    """Return how much of a suggestion at the cursor is at least this probable to be kept."""
    tokens, prose = tokens_of(filled, suggestion), prose_of(plan.hole)
    end_confidence = end_confidence_of(filled, suggestion)
    is_body = is_whole_body(plan, end_confidence)
    shown = shown_part(
        tokens,
        end_confidence,
        calibration_of(filled, prose),
        percent,
        end_rule(plan, prose),
        plan.text[line_start(plan.text, plan.hole.start) : plan.hole.start],
        of_body=BODIES.get(filled.model or "") if is_body else None,
    )
    is_cut_line = plan.after and shown.length < len(suggestion.text)  # it would lack its line end
    return Judged(
        tokens=tokens,
        shown_length=0 if is_cut_line else shown.length,
        probability=shown.probability,
    )


def may_hide(model: str | None, percent: int) -> bool:
    """Whether an answer may be hidden for this threshold. ``model`` None: it is not known yet."""
    return percent > 0 and (model is None or model in CALIBRATIONS)


_UNKNOWN = ConfidentToken("x", 0.0)
"""What follows settled text: a letter may go on with a word, and ends no clause."""


def certain_beginning(
    plan: FillPlan,
    draft: Sequence[CanvasToken],
    known: tuple[ConfidentToken, ...],
    model: str | None,
    percent: int,
) -> tuple[ConfidentToken, ...]:
    """Return how a draft that may be hidden begins for certain, whatever its other tokens become.

    It is the longest beginning of the settled tokens that is probable enough, that may end there,
    and that would pass as an answer, unchanged; ``known`` from an earlier step if none is longer.
    """
    prose = prose_of(plan.hole)
    calibration, tokens = _calibration(model, prose), _settled(draft)
    if calibration is None or evidence_of(tokens) is None:
        return known
    may_end_here = end_rule(plan, prose)
    num_known = sum(len(token.text) for token in known)

    def is_an_answer(beginning: str, goes_on: str) -> bool:
        if len(beginning) <= num_known or not may_end_here(beginning, goes_on):
            return False
        read = plan.at_cursor(plan.read_text(beginning))
        return isinstance(read, Suggestion) and with_plain_newlines(read.text) == beginning

    part = shown_part((*tokens, _UNKNOWN), None, calibration, percent, is_an_answer)
    return without_end(tokens, part.length) or known


def may_go_on(
    plan: FillPlan, draft: Sequence[CanvasToken], model: str | None, percent: int
) -> bool:
    """Whether more than the certain beginning of a draft may be shown in the end.

    No text that begins with the settled tokens is more probable than they are. A body that was
    asked for is judged as a whole.
    """
    probability = keep_probability(_settled(draft), None, _calibration(model, prose_of(plan.hole)))
    return plan.asked is not None or probability is None or 100 * probability >= percent


def _settled(draft: Sequence[CanvasToken]) -> list[ConfidentToken]:
    settled = takewhile(lambda token: token.is_settled, draft)
    return [ConfidentToken(token.text, token.confidence) for token in settled]


_Owners: TypeAlias = list[int | None]
"""For each character the index of its token; None where cleaning added the character."""

MAX_LINES = 100
"""Later lines are matched with none: of equal lines, matching takes cubic time."""

_UNIT = re.compile(r"\r\n|.", re.DOTALL)
_LINE_ENDS = ("\n", "\r\n", "\r")


@dataclass(frozen=True, slots=True)
class _Written:
    """Text that the model wrote, or a part of that text."""

    text: str
    owners: _Owners

    def part(self, start: int, end: int | None = None) -> "_Written":
        return _Written(self.text[start:end], self.owners[start:end])

    def lines(self) -> "list[_Written]":
        """Return the lines without their line ends, which are one character each."""
        lines, start = [], 0
        for line in self.text.split("\n"):
            lines.append(self.part(start, start + len(line)))
            start += len(line) + 1
        return lines


def align(written: Sequence[ConfidentToken], text: str) -> tuple[ConfidentToken, ...]:
    """Return the text in tokens, which joined are exactly the text.

    Characters that cleaning added have a confidence of 1.
    """
    if "\r" not in text and text == "".join(token.text for token in written):
        return tuple(token for token in written if token.text)  # as most texts are
    units = _UNIT.findall(text)
    plain = "".join("\n" if unit in _LINE_ENDS else unit for unit in units)
    owners = _owners(_read(written), plain)
    runs = groupby(zip(owners, units, strict=True), key=itemgetter(0))
    return tuple(
        ConfidentToken(
            "".join(unit for _, unit in run), 1.0 if owner is None else written[owner].confidence
        )
        for owner, run in runs
    )


def _read(written: Sequence[ConfidentToken]) -> _Written:
    texts = [with_plain_newlines(token.text) for token in written]
    owners: _Owners = [number for number, text in enumerate(texts) for _ in text]
    return _Written("".join(texts), owners)


def _owners(written: _Written, text: str) -> _Owners:
    """Match what both texts begin and end with as it is, and the text between them by lines."""
    start, old_end, new_end = replaced_range(written.text, text)
    changed = _owners_of_lines(written.part(start, old_end), text[start:new_end])
    return [*written.owners[:start], *changed, *written.owners[old_end:]]


def _owners_of_lines(written: _Written, text: str) -> _Owners:
    old, new = written.lines(), text.split("\n")
    owners: _Owners = []
    for number, (line, partner) in enumerate(zip(new, _partners(old, new), strict=True)):
        if number:
            owners.append(_line_end_before(written, old, partner))
        if partner is None:
            owners += repeat(None, len(line))
        else:
            owners += _owners_of_line(old[partner], line)
    return owners


def _line_end_before(written: _Written, old: Sequence[_Written], index: int | None) -> int | None:
    """Return the owner of the line end before an old line."""
    if not index:
        return None
    return written.owners[sum(len(line.text) + 1 for line in old[:index]) - 1]


def _partners(old: Sequence[_Written], new: Sequence[str]) -> Iterator[int | None]:
    """Yield for each new line the index of the old line that it comes from, or None."""
    stripped = (
        [line.text.strip() for line in old[:MAX_LINES]],
        [line.strip() for line in new[:MAX_LINES]],
    )
    matcher = SequenceMatcher(None, *stripped, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        num_new = new_end - new_start
        partners = list(range(old_start, old_end))[:num_new]
        yield from partners
        yield from repeat(None, num_new - len(partners))
    yield from repeat(None, len(new) - MAX_LINES)


def _owners_of_line(written: _Written, line: str) -> _Owners:
    """Match a line with a changed one. New indentation belongs to the token of the old one."""
    old_blank, blank = leading_blank(written.text), leading_blank(line)
    first = written.owners[0] if old_blank else None
    old_code, code = written.part(len(old_blank)), line[len(blank) :]
    start, old_end, new_end = replaced_range(old_code.text, code)
    return [
        *(written.owners[: len(blank)] if blank == old_blank else repeat(first, len(blank))),
        *old_code.owners[:start],
        *repeat(None, new_end - start),
        *old_code.owners[old_end:],
    ]
