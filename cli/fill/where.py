"""The options of ``intarsia fill`` that say where to fill, and the places that they name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from intarsia.cli.errors import CliError
from intarsia.cli.fill.positions import Position, Range, offset_of, parse_position, parse_range
from intarsia.cli.options import with_options
from intarsia.infill.filling.outcome import Cursor, Selection
from intarsia.infill.holes.hole import check_disjoint, hole_for_range
from intarsia.infill.languages import Language
from intarsia.lsp.settings import Settings

DEFAULT_NOISE = Settings().rewrite_noise


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """Where to fill: exactly one of the places is given."""

    at: Position | None
    ranges: Sequence[Range]
    all_holes: bool
    marks: Sequence[str]
    once: bool
    rewrite: Range | None
    noise: float | None
    instruction: str | None
    repair: Position | None


def read_where(options: dict[str, Any]) -> Where:
    """Remove the fields of Where from a command's options and return it. Raise UsageError."""
    where = Where(**{name: options.pop(name) for name in Where.__dataclass_fields__})
    places = (where.at, where.rewrite, where.repair)
    kinds = (*(it is not None for it in places), bool(where.ranges), where.all_holes)
    if sum(kinds) != 1:
        raise click.UsageError("give one of --at, --hole, --all-holes, --rewrite and --repair")
    if (where.marks or where.once) and not where.all_holes:
        raise click.UsageError("--mark and --once go with --all-holes")
    if where.noise is not None and where.rewrite is None:
        raise click.UsageError("--noise goes with --rewrite")
    if where.instruction is not None and (where.rewrite is None or where.noise is not None):
        raise click.UsageError("--instruction goes with --rewrite, and without --noise")
    return where


def cursor_at(text: str, position: Position) -> Cursor:
    """Return the place of a cursor. Raise CliError if it is outside the text."""
    return Cursor(start=offset_of(text, position))


def selection_at(text: str, one: Range) -> Selection:
    """Return the place of a range. Raise CliError if it is outside the text."""
    return Selection(start=offset_of(text, one.start), end=offset_of(text, one.end))


def selections_at(text: str, ranges: Sequence[Range], language: Language) -> list[Selection]:
    """Return the places of ranges in file order. Raise CliError if they overlap."""
    places = sorted((selection_at(text, one) for one in ranges), key=lambda it: (it.start, it.end))
    try:
        check_disjoint([hole_for_range(text, it.start, it.end, language) for it in places])
    except ValueError as error:
        raise CliError("two holes overlap: give ranges that do not touch each other") from error
    return places


def read_position(ctx: click.Context, _: click.Parameter, value: str | None) -> Position | None:
    """Parse an option that is a position. Raise BadParameter."""
    return None if value is None else _parsed(parse_position, value)


def _line_or_position(ctx: click.Context, _: click.Parameter, value: str | None) -> Position | None:
    if value is None:
        return None
    return _parsed(parse_position, value if ":" in value else f"{value}:1")


def _range(ctx: click.Context, _: click.Parameter, value: str | None) -> Range | None:
    return None if value is None else _parsed(parse_range, value)


_P = TypeVar("_P", Position, Range)


def _parsed(parse: Callable[[str], _P], value: str) -> _P:
    try:
        return parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


place_options = with_options(
    click.option(
        "--at",
        metavar="LINE:COL",
        callback=read_position,
        help="Fill at this cursor: the rest of the line, or the block after a header.",
    ),
    click.option(
        "--hole",
        "ranges",
        metavar="L:C-L:C",
        multiple=True,
        callback=lambda _context, _option, values: [_parsed(parse_range, it) for it in values],
        help="Replace this range; the same position twice: a hole of any length. Repeatable.",
    ),
    click.option(
        "--all-holes",
        is_flag=True,
        help="Fill all unwritten bodies, placeholders and your own marks.",
    ),
    click.option(
        "--mark",
        "marks",
        metavar="TEXT",
        multiple=True,
        help="With --all-holes: this text is a hole as well. Repeatable.",
    ),
    click.option(
        "--once",
        is_flag=True,
        help="With --all-holes: skip the second sweep, which fills each hole seeing all others.",
    ),
    click.option(
        "--rewrite",
        metavar="L:C-L:C",
        callback=_range,
        help="Rewrite this range, starting from its present text.",
    ),
    click.option(
        "--noise",
        type=click.FloatRange(min=0, min_open=True, max=1),
        help=f"With --rewrite: the share of the range that may change.  [default: {DEFAULT_NOISE}]",
    ),
    click.option(
        "--instruction",
        metavar="TEXT",
        help="With --rewrite: edit the range as this says, such as 'make it async'.",
    ),
    click.option(
        "--repair",
        metavar="LINE[:COL]",
        callback=_line_or_position,
        help="Repair the error on this line by a small edit that parses and is likelier.",
    ),
)
"""Their parameter names are the fields of Where."""
