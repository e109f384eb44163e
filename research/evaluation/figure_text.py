"""Format figures for people: words, and cells of tables with intervals."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from intarsia_research.evaluation.intervals import Estimate

NONE = "–"

_NARROW = 0.02


def percent(share: Estimate | None) -> str:
    """Return ``43.0 %``."""
    return NONE if share is None else f"{100 * share.value:.1f} %"


def percent_between(share: Estimate | None) -> str:
    """Return ``38–48``, or ``0.0–0.4`` if that is too coarse."""
    if share is None:
        return ""
    digits = 1 if share.high - share.low < _NARROW else 0
    return f"{100 * share.low:.{digits}f}–{100 * share.high:.{digits}f}"


def percent_with_interval(share: Estimate | None) -> str:
    """Return ``43.0 % (38–48)``."""
    if share is None:
        return NONE
    return f"{percent(share)} ({percent_between(share)})"


def number(figure: Estimate | None) -> str:
    """Return three significant digits: ``0.71``, ``12.3``, ``1,204``."""
    return NONE if figure is None else _short(figure.value)


def number_between(figure: Estimate | None) -> str:
    """Return ``0.68–0.75``."""
    return "" if figure is None else f"{_short(figure.low)}–{_short(figure.high)}"


def percent_change(difference: Estimate) -> str:
    """Return ``+2.1 (−0.4 to +4.6)``, in points."""
    value, low, high = (
        signed(100 * part, 1) for part in (difference.value, difference.low, difference.high)
    )
    return f"{value} ({low} to {high})"


def number_change(difference: Estimate) -> str:
    """Return ``−0.12 (−0.20 to −0.03)``."""
    digits = 0 if abs(difference.value) >= 100 else 1 if abs(difference.value) >= 10 else 3
    value, low, high = (
        signed(part, digits) for part in (difference.value, difference.low, difference.high)
    )
    return f"{value} ({low} to {high})"


def p_value(p: float) -> str:
    """Return ``0.031``, or ``< 0.001``."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign; no sign if it is shown as zero."""
    shown = f"{abs(value):,.{digits}f}"
    if not any(character in "123456789" for character in shown):
        return shown
    return f"{'−' if value < 0 else '+'}{shown}"


def _short(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


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
