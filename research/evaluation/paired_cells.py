"""Cells of a table of differences between two sides."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia_research.evaluation.figure_text import number_change, p_value, percent_change
from intarsia_research.evaluation.paired import PairedMean, PairedShare

_SIGNIFICANT = 0.05


def difference_table(title: str, cases: str, sides: tuple[str, str], caption: str) -> Table:
    """Return an empty table, with a column for each cell of a share after the figure's name."""
    table = Table(
        box=SIMPLE_HEAD,
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("figure", no_wrap=True)
    for name in (cases, *sides, "difference\n(95 %)", "correct only\nin either"):
        table.add_column(name, justify="right")
    table.add_column("McNemar\np", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    return table


def share_cells(share: PairedShare) -> Iterator[str]:
    """Yield the cells of a share: cases, both sides, difference, only in either, p, and a word."""
    yield f"{share.of:,}"
    yield f"{100 * share.first:.1f} %"
    yield f"{100 * share.second:.1f} %"
    yield percent_change(share.difference)
    yield f"{share.only_first} / {share.only_second}"
    yield p_value(share.p)
    is_significant = share.p < _SIGNIFICANT and not _contains_zero(
        share.difference.low, share.difference.high
    )
    yield _difference_word(is_significant)


def mean_cells(mean: PairedMean, *, is_share: bool) -> Iterator[str]:
    """Yield the cells of a mean; those that only a share has are empty."""
    yield f"{mean.of:,}"
    yield from (f"{100 * v:.1f} %" if is_share else f"{v:,.2f}" for v in (mean.first, mean.second))
    yield percent_change(mean.difference) if is_share else number_change(mean.difference)
    yield ""
    yield ""
    yield _difference_word(not _contains_zero(mean.difference.low, mean.difference.high))


def _contains_zero(low: float, high: float) -> bool:
    return low <= 0 <= high


def _difference_word(is_significant: bool) -> str:
    return "differs" if is_significant else "noise"
