"""One filled hole as JSON, with stable keys for scripts; a key without a value is null."""

import msgspec

from intarsia.cli.fill.positions import Range, range_of
from intarsia.engine.ipc.messages import Decoding, Timing
from intarsia.infill.filling.fill_one import FillResult
from intarsia.infill.filling.judged import probability_of
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.places import Cursor
from intarsia.infill.suggestion import NoSuggestion


class FillReport(msgspec.Struct, frozen=True, kw_only=True):
    """``text`` replaces ``range`` of the original file; ``reason`` says why there is no text."""

    file: str
    text: str | None = None
    reason: str | None = None
    range: Range | None = None
    kind: str | None = None
    num_forwards: int | None = None
    ms: Timing | None = None
    mean_entropy: float | None = None
    finish_reason: str | None = None
    model: str | None = None
    num_prefilled: int | None = None
    num_reused: int | None = None
    probability: float | None = None  # that a user keeps the text, of a fill at a cursor


def report_filling(
    file: str, text: str, filling: FilledPlace, decoding: Decoding = "speculative"
) -> FillReport:
    """Return the report of one hole; ``text`` is the original text of the file."""
    where = range_of(text, *filling.where)
    match filling.outcome:
        case NoSuggestion(reason=reason):
            return FillReport(file=file, reason=reason, range=where)
        case FillResult(hole=hole, suggestion=found, filled=filled):
            return FillReport(
                file=file,
                text=filling.change.new if filling.change else None,
                reason=found.reason if isinstance(found, NoSuggestion) else None,
                range=where,
                kind=hole.kind,
                num_forwards=filled.num_forwards,
                ms=filled.ms,
                mean_entropy=filled.mean_entropy,
                finish_reason=filled.finish_reason,
                model=filled.model,
                num_prefilled=filled.num_prefilled,
                num_reused=filled.num_reused,
                probability=None
                if isinstance(found, NoSuggestion) or not isinstance(filling.place, Cursor)
                else probability_of(filled, found, decoding),
            )


def to_json(report: FillReport) -> str:
    """Return one line of JSON."""
    return msgspec.json.encode(report).decode()
