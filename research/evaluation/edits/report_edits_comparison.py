"""Shows a comparison of two runs of edits as tables. Prints nothing itself."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia_research.evaluation.edits.compare_edits import EditComparison
from intarsia_research.evaluation.paired_cells import difference_table, mean_cells, share_cells
from intarsia_research.evaluation.report_comparison import shortened

MAX_SHOWN = 60


def edit_comparison_table(comparison: EditComparison, first: str, second: str) -> Table:
    """Return the figures of both runs, and their differences."""
    table = difference_table(
        f"{comparison.pairs:,} cases in common", "cases", (first, second), _caption(comparison)
    )
    for name, share in (
        ("right line ranked first", comparison.ranked_first),
        *(
            (f"{own.level}: {words}", figure)
            for own in comparison.levels
            for words, figure in (
                ("exact", own.edits_exact),
                ("wrong", own.edits_wrong),
                ("false on controls", own.false_on_controls),
            )
        ),
    ):
        if share is not None:
            table.add_row(name, *share_cells(share))
    for mean_name, mean in (("seconds of a core", comparison.cpu_s), ("ms", comparison.ms)):
        if mean is not None:
            table.add_row(mean_name, *mean_cells(mean, is_share=False))
    return table


def changed_offers_table(comparison: EditComparison, first: str, second: str) -> Table:
    """Return the edits with an exact offer in one run alone, at most MAX_SHOWN."""
    left = len(comparison.changed_offers) - MAX_SHOWN
    table = Table(
        box=SIMPLE_HEAD,
        title="exact on one side only (bold)",
        title_justify="left",
        caption=f"and {left:,} more: --json prints all" if left > 0 else None,
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("case", overflow="fold", ratio=2)
    table.add_column("kind", no_wrap=True)
    table.add_column("exact in", overflow="fold", ratio=1)
    table.add_column("exact offer / offer of the other side", overflow="fold", ratio=4)
    for one in comparison.changed_offers[:MAX_SHOWN]:
        table.add_row(
            one.case,
            one.kind,
            second if one.is_right_in_second else first,
            f"{shortened(one.truth) or '(removal)'}\n{shortened(one.other) or '(nothing)'}",
        )
    return table


def _caption(comparison: EditComparison) -> str:
    left_out = (
        f"left out: {comparison.left_out_of_first:,} cases that only the first side has, "
        f"{comparison.left_out_of_second:,} that only the second side has"
    )
    changed = f", {comparison.changed:,} with different edits" if comparison.changed else ""
    return (
        f"{left_out}{changed}\nMcNemar's test assumes independent cases; the intervals resample "
        "whole repositories. Trust the more cautious of the two."
    )
