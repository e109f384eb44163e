"""Show figures as tables for a terminal of 110 columns. Prints nothing itself."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from intarsia_research.evaluation.figure_text import (
    NONE,
    number,
    number_between,
    number_cell,
    percent,
    percent_with_interval,
    share_cell,
    signed,
    titled_table,
    two_lines,
)
from intarsia_research.evaluation.figures import Changes, Figures, SetFigures, SystemFigures

ALL_SETS = "all sets"
EXPLANATION = (
    "Below each figure, or after it in brackets: its 95 % interval. exact, pass@1: of all holes; "
    "parses, repeats: of answers with text; length off: characters, mean (median); forward passes: "
    "after the prefill (ratio to the first row); ms: from request to answer; decode ms: the "
    "engine's time without the prefill"
)

_QUALITY = ("exact", "similar", "parses", "repeats\nsuffix", "empty", "failed", "length\noff")
_COST = (
    "forward\npasses",
    "tokens\na pass",
    "text of\nthe first",
    "ms\np50",
    "ms\np95",
    "decode\nms p50",
    "decode\nms p95",
    "entropy\nnats",
)


def set_tables(figures: SetFigures) -> Iterator[Table]:
    """Yield the tables of a set: quality, cost, and kinds and languages if there are several."""
    name = f"{figures.set or ALL_SETS}, {figures.cases:,} holes"
    rows = figures.systems
    yield _quality(rows, name)
    yield _cost(rows, f"{name}: cost")
    if any(read.value for row in rows if (read := row.whole.context.read_project)):
        yield _against_first(rows, f"{name}: what context of other files gains and costs")
    kinds = {row.system: row.by_kind for row in rows}
    languages = {row.system: row.by_language for row in rows}
    for title, parts in (("kind of hole", kinds), ("language", languages)):
        if len({name for own in parts.values() for name in own}) > 1:
            yield _parts(parts, title, f"{name}: by {title}")


def _quality(rows: Sequence[SystemFigures], title: str) -> Table:
    has_tests = any(row.whole.pass_at_1 for row in rows)
    has_names = any(row.whole.named for row in rows)
    is_many = any(row.whole.exact_by_language for row in rows)
    table = titled_table(title, "system")
    for name in _QUALITY:
        table.add_column(name, justify="right", no_wrap=True)
        if name == "exact":
            for more, is_shown in (
                ("mean of\nlanguages", is_many),
                ("named", has_names),
                ("pass@1", has_tests),
            ):
                if is_shown:
                    table.add_column(more, justify="right", no_wrap=True)
    for row in rows:
        whole = row.whole
        table.add_row(
            _name(row.system),
            share_cell(whole.exact),
            *([share_cell(whole.exact_by_language)] if is_many else []),
            *([share_cell(whole.named)] if has_names else []),
            *([share_cell(whole.pass_at_1)] if has_tests else []),
            share_cell(whole.similarity),
            share_cell(whole.parse_clean),
            share_cell(whole.suffix_duplicated),
            share_cell(whole.empty),
            str(whole.failures),
            _length(whole),
        )
    return table


def _cost(rows: Sequence[SystemFigures], title: str) -> Table:
    table = titled_table(title, "system")
    for name in _COST:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        whole = row.whole
        table.add_row(
            _name(row.system),
            _num_forwards(whole),
            number_cell(whole.tokens_per_forward),
            share_cell(whole.same_as_first),
            number_cell(whole.ms_p50),
            number(whole.ms_p95),
            number_cell(whole.decode_ms_p50),
            number(whole.decode_ms_p95),
            number(whole.mean_entropy),
        )
    return table


def _against_first(rows: Sequence[SystemFigures], title: str) -> Table:
    has_names = any(row.whole.named for row in rows)
    table = titled_table(title, "system")
    for name in ("exact", "won / lost", *(("named", "won / lost") if has_names else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tokens\nread", "of other\nfiles", "read\nms p50"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        whole = row.whole
        named = (percent_with_interval(whole.named), _won_lost(whole.context.named))
        table.add_row(
            _name(row.system),
            percent_with_interval(whole.exact),
            _won_lost(whole.context.exact),
            *(named if has_names else ()),
            number(whole.context.read),
            number(whole.context.read_project),
            number(whole.context.read_ms_p50),
        )
    return table


def _won_lost(changes: Changes) -> str:
    return f"{changes.won} / {changes.lost}"


def _parts(parts: Mapping[str, Mapping[str, Figures]], title: str, heading: str) -> Table:
    names = sorted({name for own in parts.values() for name in own})
    has_tests = any(own.pass_at_1 for one in parts.values() for own in one.values())
    table = titled_table(heading, title)
    table.add_column("system", no_wrap=True)
    for column in ("holes", "exact", *(["pass@1"] if has_tests else []), "similar", "parses"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("empty", "ms p50"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in names:
        of_name = {who: own[name] for who, own in parts.items() if name in own}
        for index, (system, figures) in enumerate(of_name.items()):
            table.add_row(
                "" if index else name,
                _name(system),
                f"{figures.cases:,}",
                percent_with_interval(figures.exact),
                *([percent_with_interval(figures.pass_at_1)] if has_tests else []),
                percent(figures.similarity),
                percent(figures.parse_clean),
                percent(figures.empty),
                number(figures.ms_p50),
                end_section=0 < index == len(of_name) - 1,
            )
    return table


def _name(system: str) -> str:
    """Return the name, in two lines if it has two parts."""
    return re.sub(r"\+(?=\D)", "\n+", system)


def _length(figures: Figures) -> Text:
    """Return the mean amount and, below it, the signed median."""
    median = figures.length_error_median
    return two_lines(
        number(figures.length_error), "" if median is None else f"({signed(median, 0)})"
    )


def _num_forwards(figures: Figures) -> Text:
    """Return the sum with its ratio to the first system and, below, the interval of that ratio."""
    if not figures.num_forwards:
        return Text(NONE)
    ratio = figures.forwards_to_first
    beside = "" if ratio is None else f" ({number(ratio)})"
    return two_lines(f"{figures.num_forwards:,}{beside}", number_between(ratio))
