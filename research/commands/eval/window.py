"""The option that says how much of a file the model sees: its window."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from intarsia.infill.canvas import Budget

PREFIX_TOKENS = range(64, 32_769)
SUFFIX_TOKENS = range(0, 8_193)


def window_name(budget: Budget) -> str:
    """Return the window as the option has it: ``500+150``."""
    return f"{budget.prefix_tokens}+{budget.suffix_tokens}"


def window_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option; its parameter is ``windows``, a tuple of different budgets."""
    return click.option(
        "--window",
        "windows",
        metavar="BEFORE+AFTER",
        multiple=True,
        callback=_budgets,
        help="Tokens of the file that the model sees, such as 500+150; repeatable: the others are "
        f"compared with the first.  [default: {window_name(Budget())}]",
    )(command)


def _budgets(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[Budget, ...]:
    return tuple(dict.fromkeys(_budget(text) for text in texts))


def _budget(text: str) -> Budget:
    before, _, after = text.partition("+")
    numbers = [int(part) if part.isascii() and part.isdigit() else -1 for part in (before, after)]
    if numbers[0] not in PREFIX_TOKENS or numbers[1] not in SUFFIX_TOKENS:
        raise click.BadParameter(
            f"{text!r} is no window: give {PREFIX_TOKENS[0]} to {PREFIX_TOKENS[-1]:,} tokens before"
            f" the hole and {SUFFIX_TOKENS[0]} to {SUFFIX_TOKENS[-1]:,} after it, such as 500+150"
        )
    return Budget(prefix_tokens=numbers[0], suffix_tokens=numbers[1])
