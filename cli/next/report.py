"""What was found as JSON, with stable keys for scripts; a key without a value is null."""

import msgspec

from intarsia.cli.fill.positions import Range, range_of
from intarsia.infill.next_edit.find import NextEditResult


class NextEditReport(msgspec.Struct, frozen=True, kw_only=True):
    """``text`` replaces ``range`` of the file; ``gain`` is in nats."""

    range: Range
    text: str
    gain: float
    sure: bool


class NextReport(msgspec.Struct, frozen=True, kw_only=True):
    """The edits, best first. ``reason`` says why there are none."""

    edits: tuple[NextEditReport, ...]
    reason: str | None


def report_result(text: str, result: NextEditResult) -> NextReport:
    """Return the report; ``text`` is the current text of the file."""
    return NextReport(
        edits=tuple(
            NextEditReport(
                range=range_of(text, offer.start, offer.end),
                text=offer.text,
                gain=offer.gain,
                sure=offer.is_sure,
            )
            for offer in result.offers
        ),
        reason=None if result.offers else result.reason,
    )
