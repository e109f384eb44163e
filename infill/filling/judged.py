"""How probable a cleaned answer of the engine is to be kept, and how much of it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from intarsia.engine.ipc.messages import CanvasToken, Decoding, Filled
from intarsia.infill.calibration import (
    Calibration,
    MayEndHere,
    evidence_of,
    keep_probability,
    shown_part,
)
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.fitted_calibrations import CALIBRATIONS
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.postprocess.context import CleaningContext, cleaning_context
from intarsia.infill.postprocess.line_ends import is_whole_beginning
from intarsia.infill.suggestion import ConfidentToken, Suggestion, without_end
from intarsia.infill.syntax.lines import with_plain_newlines


def tokens_of(filled: Filled, suggestion: Suggestion) -> tuple[ConfidentToken, ...]:
    """Return the suggestion's text in the model's tokens."""
    written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
    return align(written, suggestion.text)


def end_confidence_of(filled: Filled, suggestion: Suggestion) -> float | None:
    """Return how probable it is that the text ends there; None where cleaning has moved its end."""
    is_same = with_plain_newlines(suggestion.text).rstrip() == filled.text.rstrip()
    return filled.end_confidence if is_same else None


def calibration_of(filled: Filled, decoding: Decoding) -> Calibration | None:
    """Return the calibration of the answer's model, None where it does not hold.

    It was fitted on confidences of verified tokens, and on texts that were written to their end.
    """
    is_verified = decoding != "entropy" and all(token.is_settled for token in filled.tokens)
    return CALIBRATIONS.get(filled.model) if is_verified else None


def probability_of(filled: Filled, suggestion: Suggestion, decoding: Decoding) -> float | None:
    """Return the probability that a user keeps the whole suggestion, None where it is not known."""
    return keep_probability(
        tokens_of(filled, suggestion),
        end_confidence_of(filled, suggestion),
        calibration_of(filled, decoding),
    )


def end_rule(plan: FillPlan) -> MayEndHere:
    """Return the rule that says where a text in the plan's hole may be cut."""

    @cache
    def context() -> CleaningContext:
        return cleaning_context(plan.text, plan.hole, plan.canvas, plan.language)

    return lambda beginning, goes_on: is_whole_beginning(
        with_plain_newlines(beginning), with_plain_newlines(goes_on), context()
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A suggestion in the model's tokens, and how many of its characters are shown, 0 for none."""

    tokens: tuple[ConfidentToken, ...]
    shown_length: int
    probability: float | None  # that the user keeps all of it, 0 to 1; None: not known


def judge(
    plan: FillPlan, filled: Filled, suggestion: Suggestion, decoding: Decoding, percent: int
) -> Judged:
    """Return how much of a suggestion at the cursor is at least this probable to be kept."""
    tokens = tokens_of(filled, suggestion)
    shown = shown_part(
        tokens,
        end_confidence_of(filled, suggestion),
        calibration_of(filled, decoding),
        percent,
        end_rule(plan),
    )
    is_cut_line = plan.after and shown.length < len(suggestion.text)  # it would lack its line end
    return Judged(
        tokens=tokens,
        shown_length=0 if is_cut_line else shown.length,
        probability=shown.probability,
    )


def may_hide(model: str | None, decoding: Decoding, percent: int) -> bool:
    """Whether an answer may be hidden for this threshold. ``model`` None: it is not known yet."""
    return percent > 0 and decoding != "entropy" and (model is None or model in CALIBRATIONS)


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
    calibration = CALIBRATIONS.get(model or "")
    settled = takewhile(lambda token: token.is_settled, draft)
    tokens = [ConfidentToken(token.text, token.confidence) for token in settled]
    if calibration is None or evidence_of(tokens) is None:
        return known
    may_end_here, num_known = end_rule(plan), sum(len(token.text) for token in known)

    def is_an_answer(beginning: str, goes_on: str) -> bool:
        if len(beginning) <= num_known or not may_end_here(beginning, goes_on):
            return False
        read = plan.at_cursor(plan.read_text(beginning))
        return isinstance(read, Suggestion) and with_plain_newlines(read.text) == beginning

    part = shown_part((*tokens, _UNKNOWN), None, calibration, percent, is_an_answer)
    return without_end(tokens, part.length) or known
