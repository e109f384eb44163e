"""How probable a cleaned answer of the engine is to be kept, and how much of it is shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from intarsia.engine.ipc.messages import CanvasToken, Decoding, Filled
from intarsia.infill.calibration.calibration import (
    CALIBRATIONS,
    Calibration,
    MayEndHere,
    evidence_of,
    keep_probability,
    shown_part,
)
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.postprocess.context import CleaningContext, cleaning_context
from intarsia.infill.postprocess.line_ends import is_whole_beginning
from intarsia.infill.suggestion import Suggestion
from intarsia.infill.syntax.lines import with_plain_newlines

_SURE_START = math.log(0.9)
"""The log-probability of a start that is seldom hidden later: see the design note."""


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


def has_sure_start(tokens: Sequence[CanvasToken]) -> bool:
    """Whether the draft of an answer that may be hidden begins so well that it probably is not.

    The settled tokens tell, once there are any.
    """
    settled = [
        ConfidentToken(token.text, token.confidence)
        for token in takewhile(lambda token: token.is_settled, tokens)
        if token.text.strip()
    ]
    evidence = evidence_of(settled)
    return bool(settled) and evidence is not None and evidence.total >= _SURE_START
