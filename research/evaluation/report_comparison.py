"""Show a comparison as tables for a terminal of 100 columns. Prints nothing itself."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia_research.evaluation.compare import Comparison
from intarsia_research.evaluation.paired_cells import difference_table, mean_cells, share_cells

MAX_SHOWN = 60

_CHARS_SHOWN = 44


def comparison_table(comparison: Comparison, first: str, second: str) -> Table:
    """Return the figures of both sides, and their differences."""
    table = difference_table(
        f"{comparison.pairs:,} holes in common", "holes", (first, second), _caption(comparison)
    )
    for share_name, share in (
        ("exact", comparison.exact),
        ("named", comparison.named),
        ("pass@1", comparison.pass_at_1),
    ):
        if share is not None:
            table.add_row(share_name, *share_cells(share))
    for mean_name, mean, factor in (
        ("similar", comparison.similarity, 100),
        ("forward passes", comparison.num_forwards, None),
        ("ms per hole", comparison.ms, None),
    ):
        if mean is not None:
            table.add_row(mean_name, *mean_cells(mean, is_share=factor is not None))
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
            f"{shortened(one.truth)}\n{shortened(wrong) or '(nothing)'}",
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


def shortened(text: str) -> str:
    """Return a text on one line, cut to a cell."""
    plain = " ⏎ ".join(line.strip() for line in text.strip().splitlines())
    return plain if len(plain) <= _CHARS_SHOWN else f"{plain[:_CHARS_SHOWN]}…"
