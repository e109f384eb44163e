"""The table of a measurement: shares of breakages by way and language, and paired differences."""

from collections.abc import Iterator, Sequence

from intarsia_research.evaluation.intervals import percentile, wilson
from intarsia_research.repair.measure import WAYS, RepairRow, Way


def table_lines(rows: Sequence[RepairRow]) -> Iterator[str]:
    """Yield the table in Markdown: first by way, then the product's by language and by kind."""
    yield "| | cases | parses again | equals the original | wrong, but parses | nothing offered |"
    yield "|---|--:|--:|--:|--:|--:|"
    for way in WAYS:
        yield from _line(way, [row for row in rows if row.way == way])
    whole = [row for row in rows if row.way == "whole"]
    for language in dict.fromkeys(row.language for row in whole):
        yield from _line(language, [row for row in whole if row.language == language])
    for kind in dict.fromkeys(row.kind for row in whole):
        yield from _line(f"one token: {kind}", [row for row in whole if row.kind == kind])
    if whole:
        seconds = [row.seconds for row in whole]
        yield ""
        yield f"seconds: median {percentile(seconds, 50):.1f}, p90 {percentile(seconds, 90):.1f}"
    for way in WAYS[1:]:
        yield from _paired(rows, way)


def _line(name: str, rows: Sequence[RepairRow]) -> Iterator[str]:
    if not rows:
        return
    of = len(rows)
    counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in _OUTCOMES}
    parses = counts["equal"] + counts["parses"]
    yield (
        f"| {name} | {of} | {_share(parses, of)} | {_share(counts['equal'], of)} "
        f"| {counts['parses'] / of:.1%} | {(counts['none'] + counts['broken']) / of:.1%} |"
    )


_OUTCOMES = ("equal", "parses", "broken", "none")


def _share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count / of:.1%} ({low:.0%} to {high:.0%})"


def _paired(rows: Sequence[RepairRow], way: Way) -> Iterator[str]:
    """Yield how often only one of two ways gives the original."""
    keys = {_key(row) for row in rows if row.way == way}
    right = {_key(row) for row in rows if row.way == way and row.outcome == "equal"}
    whole = {_key(row) for row in rows if row.way == "whole" and row.outcome == "equal"} & keys
    if keys:
        yield f"equal only as a whole: {len(whole - right)}, only by {way}: {len(right - whole)}"


def _key(row: RepairRow) -> tuple[str, str, int, str]:
    return row.language, row.path, row.offset, row.kind
