"""The options that give the model code of other files: which kinds, how much, and a gate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from intarsia.research.evaluation.systems.project_context import ContextOptions
from intarsia.workspace.context.chunk import ChunkKind
from intarsia.workspace.context.options import ChunkOptions

KINDS: tuple[ChunkKind, ...] = ("signatures", "members", "recent_edit", "similar", "sibling")
"""Only holes of commits (``--commits``) have recent edits."""

CHOICES = ("none", "all", *KINDS, *(f"no-{kind}" for kind in KINDS))


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedContext:
    """A choice as it was given; ``kinds`` empty: no code of other files."""

    name: str
    kinds: frozenset[ChunkKind] = frozenset()
    gate: float | None = None

    def options(self, num_tokens: int | None) -> ContextOptions | None:
        """Return what a system needs, with at most this number of tokens (None: the default)."""
        if not self.kinds:
            return None
        chunks = ChunkOptions(kinds=self.kinds)
        if num_tokens is not None:
            chunks = replace(chunks, budget_tokens=num_tokens)
        return ContextOptions(chunks=chunks, gate=self.gate)


def _contexts(
    _: click.Context, __: click.Parameter, texts: Sequence[str]
) -> tuple[NamedContext, ...]:
    return tuple(_context(text) for text in dict.fromkeys(texts))


def _context(text: str) -> NamedContext:
    name, colon, written = text.partition(":")
    try:
        gate = float(written) if colon else None
    except ValueError:
        gate = math.nan
    is_gated_none = name == "none" and gate is not None
    if name not in CHOICES or is_gated_none or (gate is not None and not math.isfinite(gate)):
        raise click.BadParameter(
            f"{text!r} is no context: give one of {', '.join(CHOICES)}, all but none also with a "
            "gate in nats, such as all:0.02"
        )
    return NamedContext(name=text, kinds=_kinds(name), gate=gate)


def _kinds(name: str) -> frozenset[ChunkKind]:
    if name in ("none", "all"):
        return frozenset(KINDS if name == "all" else ())
    left_out = name.removeprefix("no-")
    return frozenset(kind for kind in KINDS if (kind == left_out) == (name == left_out))


CONTEXT_OPTIONS: tuple[Any, ...] = (
    click.option(
        "--context",
        "contexts",
        metavar="KIND[:NATS]",
        multiple=True,
        callback=_contexts,
        help=f"Give the model code of other files: {', '.join(CHOICES)}; all:0.02 keeps only the "
        "parts that make the code near the hole more likely by over 0.02 nats a token; repeatable: "
        "the others are compared with the first. With --direct.  [default: none]",
    ),
    click.option(
        "--context-tokens",
        metavar="N",
        type=click.IntRange(min=32, max=8_192),
        help=f"The most tokens of other files.  [default: {ChunkOptions().budget_tokens}]",
    ),
)
