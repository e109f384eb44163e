"""How probable a cleaned answer of the engine is to be kept, and how much of it is shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from intarsia.engine.ipc.messages import CanvasToken, Filled
from intarsia.infill.calibration import (
    Calibration,
    MayEndHere,
    evidence_of,
    keep_probability,
    shown_part,
)
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.fitted_calibrations import CALIBRATIONS
from intarsia.infill.languages import Language
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.postprocess.context import CleaningContext, cleaning_context
from intarsia.infill.postprocess.line_ends import is_whole_beginning, is_whole_remark
from intarsia.infill.suggestion import ConfidentToken, Suggestion, without_end
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import line_start, with_plain_newlines
from intarsia.infill.syntax.nodes import prose_at
from intarsia.infill.syntax.parse import parse


def tokens_of(filled: Filled, suggestion: Suggestion) -> tuple[ConfidentToken, ...]:
    """Return the suggestion's text in the model's tokens."""
    written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
    return align(written, suggestion.text)


def end_confidence_of(filled: Filled, suggestion: Suggestion) -> float | None:
    """Return how probable it is that the text ends there; None where cleaning has moved its end."""
    is_same = with_plain_newlines(suggestion.text).rstrip() == filled.text.rstrip()
    return filled.end_confidence if is_same else None


_REMARK = re.compile(r"\s*(?:#+|//[/!]?|--+|;+|%+|<!--|\{#|/?\*+)(?:\s|\Z)")


def is_in_comment(text: str, offset: int, language: Language) -> bool:
    """Whether a text at ``offset`` is part of a comment or docstring.

    Without a grammar, a line that begins with a comment's mark is one.
    """
    code = code_at(text, offset, offset, language)
    syntax = parse(code.text, code.language)
    if syntax is None:
        return bool(_REMARK.match(text, line_start(text, offset), offset))
    return prose_at(syntax, offset) in ("comment", "documentation")


def calibration_of(filled: Filled, *, in_comment: bool) -> Calibration | None:
    """Return the calibration of the answer's model, None where it does not hold.

    It was fitted on confidences of verified tokens, and on texts that were written to their end.
    """
    is_verified = all(token.is_settled for token in filled.tokens)
    return _calibration(filled.model, in_comment=in_comment) if is_verified else None


def _calibration(model: str | None, *, in_comment: bool) -> Calibration | None:
    found = CALIBRATIONS.get(model or "")
    return found.in_comments if found is not None and in_comment else found


def probability_of(filled: Filled, suggestion: Suggestion, *, in_comment: bool) -> float | None:
    """Return the probability that a user keeps the whole suggestion, None where it is not known."""
    return keep_probability(
        tokens_of(filled, suggestion),
        end_confidence_of(filled, suggestion),
        calibration_of(filled, in_comment=in_comment),
    )


def end_rule(plan: FillPlan, *, in_comment: bool) -> MayEndHere:
    """Return the rule that says which beginnings of a text in the plan's hole may be shown."""

    @cache
    def context() -> CleaningContext:
        return cleaning_context(plan.text, plan.hole, plan.canvas, plan.language)

    def may_end_here(beginning: str, goes_on: str) -> bool:
        beginning, goes_on = with_plain_newlines(beginning), with_plain_newlines(goes_on)
        if in_comment:
            return is_whole_remark(beginning, goes_on, context())
        return not goes_on or is_whole_beginning(beginning, goes_on, context())

    return may_end_here


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A suggestion in the model's tokens, and how many of its characters are shown, 0 for none."""

    tokens: tuple[ConfidentToken, ...]
    shown_length: int
    probability: float | None  # that the user keeps all of it, 0 to 1; None: not known


def judge(plan: FillPlan, filled: Filled, suggestion: Suggestion, percent: int) -> Judged:
    """Return how much of a suggestion at the cursor is at least this probable to be kept."""
    tokens = tokens_of(filled, suggestion)
    in_comment = is_in_comment(plan.text, plan.hole.start, plan.language)
    shown = shown_part(
        tokens,
        end_confidence_of(filled, suggestion),
        calibration_of(filled, in_comment=in_comment),
        percent,
        end_rule(plan, in_comment=in_comment),
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
    in_comment = is_in_comment(plan.text, plan.hole.start, plan.language)
    calibration = _calibration(model, in_comment=in_comment)
    settled = takewhile(lambda token: token.is_settled, draft)
    tokens = [ConfidentToken(token.text, token.confidence) for token in settled]
    if calibration is None or evidence_of(tokens) is None:
        return known
    may_end_here = end_rule(plan, in_comment=in_comment)
    num_known = sum(len(token.text) for token in known)

    def is_an_answer(beginning: str, goes_on: str) -> bool:
        if len(beginning) <= num_known or not may_end_here(beginning, goes_on):
            return False
        read = plan.at_cursor(plan.read_text(beginning))
        return isinstance(read, Suggestion) and with_plain_newlines(read.text) == beginning

    part = shown_part((*tokens, _UNKNOWN), None, calibration, percent, is_an_answer)
    return without_end(tokens, part.length) or known
