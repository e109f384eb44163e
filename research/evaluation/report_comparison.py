"""Show a comparison as tables for a terminal of 100 columns. Prints nothing itself."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia.research.evaluation.compare import Comparison, PairedMean, PairedShare
from intarsia.research.evaluation.figure_text import number_change, p_value, percent_change

MAX_SHOWN = 60

_CHARS_SHOWN = 44
_SIGNIFICANT = 0.05


def comparison_table(comparison: Comparison, first: str, second: str) -> Table:
    """Return the figures of both sides, and their differences."""
    table = Table(
        box=SIMPLE_HEAD,
        title=f"{comparison.pairs:,} holes in common",
        title_justify="left",
        caption=_caption(comparison),
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("figure", no_wrap=True)
    for name in ("holes", first, second, "difference\n(95 %)", "correct only\nin either"):
        table.add_column(name, justify="right")
    table.add_column("McNemar\np", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for share_name, share in (
        ("exact", comparison.exact),
        ("named", comparison.named),
        ("pass@1", comparison.pass_at_1),
    ):
        if share is not None:
            table.add_row(share_name, *_share_cells(share))
    for mean_name, mean, factor in (
        ("similar", comparison.similarity, 100),
        ("forward passes", comparison.num_forwards, None),
        ("ms per hole", comparison.ms, None),
    ):
        if mean is not None:
            table.add_row(mean_name, *_mean_cells(mean, is_share=factor is not None))
    return table


def discordant_table(comparison: Comparison, first: str, second: str) -> Table:
    """Return the holes that only one side filled correctly, at most MAX_SHOWN."""
    shown = comparison.discordant[:MAX_SHOWN]
    left = len(comparison.discordant) - len(shown)
    table = Table(
        box=SIMPLE_HEAD,
        title="correct on one side only",
        title_justify="left",
        caption=f"and {left:,} more: --json prints all" if left else None,
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("hole", overflow="fold", ratio=2)
    table.add_column("kind", no_wrap=True)
    table.add_column("figure", no_wrap=True)
    table.add_column("correct in", overflow="fold", ratio=1)
    table.add_column("original text / text of the other side", overflow="fold", ratio=4)
    is_one_set = len({one.set for one in comparison.discordant}) == 1
    for one in shown:
        wrong = one.first if one.is_right_in_second else one.second
        table.add_row(
            one.case if is_one_set else f"{one.set}: {one.case}",
            one.kind,
            one.figure,
            second if one.is_right_in_second else first,
            f"{_short(one.truth)}\n{_short(wrong) or '(nothing)'}",
        )
    return table


def _caption(comparison: Comparison) -> str:
    left_out = (
        f"left out: {comparison.left_out_of_first:,} holes that only the first side has, "
        f"{comparison.left_out_of_second:,} that only the second side has"
    )
    changed = f", {comparison.changed:,} with different texts" if comparison.changed else ""
    return (
        f"{left_out}{changed}\nMcNemar's test assumes independent holes; the intervals resample "
        "whole files (problems). Trust the more cautious of the two."
    )


def _share_cells(share: PairedShare) -> Iterator[str]:
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


def _mean_cells(mean: PairedMean, *, is_share: bool) -> Iterator[str]:
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


def _short(text: str) -> str:
    plain = " ⏎ ".join(line.strip() for line in text.strip().splitlines())
    return plain if len(plain) <= _CHARS_SHOWN else f"{plain[:_CHARS_SHOWN]}…"
