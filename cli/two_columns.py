"""Names and what is said of them, as a table without lines."""

from collections.abc import Iterable

from rich.table import Table


def two_columns(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table whose left column names and whose right column says."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in rows:
        table.add_row(name, words)
    return table
