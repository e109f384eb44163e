"""The options that the evaluations share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, get_args

import click

from intarsia.engine.ipc.messages import SettleMode

_F = TypeVar("_F", bound=Callable[..., Any])


def eval_options(command: _F) -> _F:
    """Add ``modes``, ``limit`` and ``model``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _each_once(
    ctx: click.Context, _: click.Parameter, words: Sequence[str]
) -> tuple[SettleMode, ...]:
    return tuple(cast("SettleMode", word) for word in dict.fromkeys(words))


_OPTIONS = (
    click.option(
        "--settle",
        "modes",
        type=click.Choice(get_args(SettleMode)),
        multiple=True,
        default=("verified",),
        show_default=True,
        callback=_each_once,
        help="A way to settle; repeatable: the others are compared with the first.",
    ),
    click.option(
        "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Holes at most."
    ),
    click.option(
        "--model",
        help="A name of the catalog, a hub id, or a folder's full path; else the one loaded.",
    ),
)
