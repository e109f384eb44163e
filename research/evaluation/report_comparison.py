"""Show a comparison as tables for a terminal of 100 columns. Prints nothing itself."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia_research.evaluation.compare import Comparison
from intarsia_research.evaluation.figure_text import number_change, p_value, percent_change
from intarsia_research.evaluation.intervals import Estimate
from intarsia_research.evaluation.paired import PairedMean, PairedShare

MAX_SHOWN = 60

_CHARS_SHOWN = 44
_SIGNIFICANT = 0.05
_AS_SHARES = frozenset({"similar"})
"""Means that are shown in per cent."""


def comparison_table(comparison: Comparison, first: str, second: str, *, cases: str) -> Table:
    """Return the figures of both sides, and their differences. ``cases``: "holes" or "cases"."""
    table = Table(
        box=SIMPLE_HEAD,
        title=f"{comparison.pairs:,} {cases} in common",
        title_justify="left",
        caption=_caption(comparison, cases),
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("figure", no_wrap=True)
    for name in (cases, first, second, "difference\n(95 %)", "correct only\nin either"):
        table.add_column(name, justify="right")
    table.add_column("McNemar\np", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, share in comparison.shares.items():
        table.add_row(name, *_share_cells(share))
    for name, mean in comparison.means.items():
        table.add_row(name, *_mean_cells(mean, is_share=name in _AS_SHARES))
    return table


def discordant_table(comparison: Comparison, first: str, second: str) -> Table:
    """Return the cases that only one side got right, at most MAX_SHOWN."""
    left = len(comparison.discordant) - MAX_SHOWN
    table = Table(
        box=SIMPLE_HEAD,
        title="correct on one side only",
        title_justify="left",
        caption=f"and {left:,} more: --json prints all" if left > 0 else None,
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("case", overflow="fold", ratio=2)
    table.add_column("kind", no_wrap=True)
    table.add_column("figure", no_wrap=True)
    table.add_column("correct in", overflow="fold", ratio=1)
    table.add_column("right text / text of the other side", overflow="fold", ratio=4)
    for one in comparison.discordant[:MAX_SHOWN]:
        table.add_row(
            one.case,
            one.kind,
            one.figure,
            second if one.is_right_in_second else first,
            f"{shortened(one.truth) or '(removal)'}\n{shortened(one.wrong) or '(nothing)'}",
        )
    return table


def _share_cells(share: PairedShare) -> Iterator[str]:
    """Yield the cells of a share: cases, both sides, difference, only in either, p, and a word."""
    yield f"{share.of:,}"
    yield f"{100 * share.first:.1f} %"
    yield f"{100 * share.second:.1f} %"
    yield percent_change(share.difference)
    yield f"{share.only_first} / {share.only_second}"
    yield p_value(share.p)
    yield _word(share.difference, is_significant=share.p < _SIGNIFICANT)


def _mean_cells(mean: PairedMean, *, is_share: bool) -> Iterator[str]:
    """Yield the cells of a mean; those that only a share has are empty."""
    yield f"{mean.of:,}"
    yield from (f"{100 * v:.1f} %" if is_share else f"{v:,.2f}" for v in (mean.first, mean.second))
    yield percent_change(mean.difference) if is_share else number_change(mean.difference)
    yield ""
    yield ""
    yield _word(mean.difference, is_significant=True)


def _word(difference: Estimate, *, is_significant: bool) -> str:
    """Return whether a difference is more than noise, also by its interval."""
    contains_zero = difference.low <= 0 <= difference.high
    return "differs" if is_significant and not contains_zero else "noise"


def _caption(comparison: Comparison, cases: str) -> str:
    left_out = (
        f"left out: {comparison.left_out_of_first:,} {cases} that only the first side has, "
        f"{comparison.left_out_of_second:,} that only the second side has"
    )
    changed = f", {comparison.changed:,} with different texts" if comparison.changed else ""
    return (
        f"{left_out}{changed}\nMcNemar's test assumes independent {cases}; the intervals resample "
        "whole files, problems or repositories. Trust the more cautious of the two."
    )


def shortened(text: str) -> str:
    """Return a text on one line, cut to a cell."""
    plain = " ⏎ ".join(line.strip() for line in text.strip().splitlines())
    return plain if len(plain) <= _CHARS_SHOWN else f"{plain[:_CHARS_SHOWN]}…"
