"""Shows the figures of next edits as tables for a terminal of 110 columns. Prints nothing."""

from collections.abc import Iterator, Mapping

from rich.table import Table

from intarsia_research.evaluation.edits.edit_figures import (
    EditFigures,
    LevelFigures,
    PartFigures,
)
from intarsia_research.evaluation.figure_text import (
    number,
    number_between,
    percent,
    percent_with_interval,
    share_cell,
    titled_table,
)

EDIT_EXPLANATION = (
    "Shares are of edits with a further place in the window; an offer is the first one of a case. "
    "Below each share, or after it in brackets: its 95 % interval, resampled by repository. "
    "precision, right place: of offers after edits; false: controls with an offer; after right, "
    "reached: places that a chain of offers reaches, of cases with a right first offer, of all "
    "cases; keys: saved of those that all places take"
)
_LEVEL_COLUMNS = (
    *("offers", "exact", "precision", "right\nplace", "edits\nexact", "controls\nfalse"),
    *("reached\nafter right", "reached\nof all", "keys\nsaved"),
)


def edit_tables(figures: EditFigures) -> Iterator[Table]:
    """Yield the tables: levels, cost, and every division with several parts."""
    yield _levels(figures.whole)
    yield _cost(figures)
    for name, parts in figures.parts.items():
        if len(parts) > 1:
            yield _parts(name, parts)


def _levels(whole: PartFigures) -> Table:
    table = titled_table(_title(whole), "level")
    for name in _LEVEL_COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for own in whole.levels:
        table.add_row(
            own.level,
            str(own.offers),
            str(own.exact),
            share_cell(own.precision),
            share_cell(own.at_right_place),
            share_cell(own.edits_exact),
            share_cell(own.false_on_controls),
            share_cell(own.reached_after_right),
            share_cell(own.reached),
            share_cell(own.keys_saved),
        )
    return table


def _title(whole: PartFigures) -> str:
    left_out = f"left out: {whole.out_of_window:,} edits without a further place in the window"
    failed = f", {whole.failures:,} cases without an answer" if whole.failures else ""
    return f"{whole.edits:,} edits, {whole.controls:,} controls ({left_out}{failed})"


def _cost(figures: EditFigures) -> Table:
    table = titled_table("ranking, and cost of the first answer", "figure")
    table.add_column("", justify="right")
    table.add_column("95 %", justify="right")
    cost = figures.cost
    table.add_row("right line ranked first", percent_with_interval(figures.whole.ranked_first), "")
    for name, figure in (
        ("seconds of one core, mean", cost.cpu_s),
        ("ms p50", cost.ms_p50),
        ("ms p95", cost.ms_p95),
        ("tokens read, mean", cost.read),
        ("tokens reused, mean", cost.reused),
    ):
        table.add_row(name, number(figure), number_between(figure))
    return table


def _parts(name: str, parts: Mapping[str, PartFigures]) -> Table:
    has_controls = any(part.controls for part in parts.values())
    table = titled_table(f"by {name}: exact / offers, and controls with an offer", name)
    table.add_column("edits", justify="right")
    table.add_column("ranked first", justify="right", no_wrap=True)
    levels = [own.level for part in parts.values() for own in part.levels]
    for level in dict.fromkeys(levels):
        table.add_column(level, justify="right", no_wrap=True)
    if has_controls:
        table.add_column("controls", justify="right")
    for part_name, part in parts.items():
        table.add_row(
            part_name,
            f"{part.edits:,}",
            percent_with_interval(part.ranked_first),
            *(_exact_of_offers(own) for own in part.levels),
            *([f"{part.controls:,}"] if has_controls else []),
        )
    return table


def _exact_of_offers(own: LevelFigures) -> str:
    """Return ``7 / 8 · 3.1 %``: exact, offers, and the share of controls with an offer."""
    false = own.false_on_controls
    shown = f"{own.exact} / {own.offers}"
    return shown if false is None else f"{shown} · {percent(false)}"
