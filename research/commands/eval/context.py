"""The options that give the model code of other files: which kinds, and how much."""

from dataclasses import replace
from typing import Any

import click

from intarsia.workspace.context.chunk import ChunkKind, ChunkOptions
from intarsia_research.commands.baselines import each_once

KINDS: tuple[ChunkKind, ...] = ("signatures", "members", "recent_edit", "similar", "sibling")
"""Only holes of commits (``--commits``) have recent edits."""

NO_CONTEXT = "none"

NAMES = "names"
"""The answer must be a member of the receiver's type; no code from other files."""

CHOICES = (NO_CONTEXT, "all", *KINDS, NAMES, *(f"no-{kind}" for kind in (*KINDS, NAMES)))


def chunk_options(context: str, num_tokens: int | None) -> ChunkOptions | None:
    """Return the options of a choice, None for no code of other files.

    ``num_tokens``: the most that is read; None: the default.
    """
    if context == NO_CONTEXT:
        return None
    options = ChunkOptions(kinds=_kinds(context))
    return options if num_tokens is None else replace(options, budget_tokens=num_tokens)


def gives_names(context: str) -> bool:
    """Whether the answer begins with a member's name after a receiver, as in the product."""
    return context in ("all", NAMES)


def _kinds(context: str) -> frozenset[ChunkKind]:
    if context == "all":
        return frozenset(KINDS)
    if context in (NAMES, f"no-{NAMES}"):
        return frozenset(KINDS if context != NAMES else ())
    left_out = context.removeprefix("no-")
    return frozenset(kind for kind in KINDS if (kind == left_out) == (context == left_out))


CONTEXT_OPTIONS: tuple[Any, ...] = (
    click.option(
        "--context",
        "contexts",
        metavar="KIND",
        type=click.Choice(CHOICES),
        multiple=True,
        callback=each_once,
        help=f"Give the model code of other files: {', '.join(CHOICES)}; repeatable: the others "
        "are compared with the first. With --direct.  [default: none]",
    ),
    click.option(
        "--context-tokens",
        metavar="N",
        type=click.IntRange(min=32, max=8_192),
        help=f"The most tokens of other files.  [default: {ChunkOptions().budget_tokens}]",
    ),
)
