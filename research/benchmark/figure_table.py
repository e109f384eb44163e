"""Show figures as a table for people and as JSON for scripts."""

from collections.abc import Sequence

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia_research.benchmark.figures import Figure


def as_table(figures: Sequence[Figure], machine: str) -> Table:
    """Return a table with one row per figure and the machine as its caption."""
    table = Table(box=SIMPLE_HEAD, caption=machine, caption_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("how it is measured", overflow="fold")
    for figure in figures:
        table.add_row(figure.words, shown_value(figure), figure.method)
    return table


def as_json(figures: Sequence[Figure], machine: str) -> bytes:
    """Return one JSON object: values by name (null: not measured), and bounds where known."""
    return msgspec.json.encode(
        {
            "machine": machine,
            "figures": {figure.name: figure.value for figure in figures},
            "bounds": {it.name: it.bounds for it in figures if it.bounds is not None},
        }
    )


def shown_value(figure: Figure) -> str:
    """Return value, bounds and unit; a dash if it was not measured."""
    if figure.value is None:
        return "–"
    shown = _short(figure.value)
    if figure.bounds is not None:
        shown += f" ({'–'.join(map(_short, figure.bounds))})"
    return f"{shown} {figure.unit}".rstrip()


def _short(value: float) -> str:
    """Return three significant digits without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
