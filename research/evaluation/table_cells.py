"""Cells of the tables that reports print, with intervals."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from intarsia_research.evaluation.figure_text import (
    number,
    number_between,
    percent,
    percent_between,
)
from intarsia_research.evaluation.intervals import Estimate


def titled_table(title: str, first_column: str) -> Table:
    """Return an empty table."""
    table = Table(
        box=SIMPLE_HEAD,
        title=f"\n{title}",
        title_justify="left",
        show_edge=False,
        padding=(0, 1, 0, 0),
        title_style="bold",
    )
    table.add_column(first_column, no_wrap=True)
    return table


def share_cell(share: Estimate | None) -> Text:
    """Return a share with its interval below."""
    return two_lines(percent(share), percent_between(share))


def number_cell(figure: Estimate | None) -> Text:
    """Return a number with its interval below."""
    return two_lines(number(figure), number_between(figure))


def two_lines(value: str, below: str) -> Text:
    """Return a cell of two lines, the second one dim."""
    return Text.assemble(value, "\n", (below, "dim"))
