"""The options of a fill on the command line, shared by the commands that fill."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.filling.options import FillOptions

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")


_F = TypeVar("_F", bound=Callable[..., Any])


def fill_options(command: _F) -> _F:
    """Add the options whose names are the fields of FillOptions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def absolute_model(ctx: click.Context, _: click.Parameter, model: str | None) -> str | None:
    """The engine stands in another folder: what is meant from here must be told in full."""
    if model is None or not (model.startswith((".", "~")) or Path(model).exists()):
        return model
    return str(Path(model).expanduser().absolute())


candidates_option = click.option(
    "--candidates",
    "num_candidates",
    type=click.IntRange(min=1, max=10),
    default=FillOptions().num_candidates,
    show_default=True,
    help="Answers to weigh where a range is filled and the first one is not sure.",
)

_OPTIONS = (
    click.option(
        "--model",
        callback=absolute_model,
        help="A name of the catalog, a folder, or a hub id; else the one that is loaded.",
    ),
    click.option(
        "--decoding",
        type=click.Choice(get_args(Decoding)),
        default="speculative",
        show_default=True,
        help="Write exactly what the backbone would have written, or accept tokens by entropy.",
    ),
    candidates_option,
    click.option("--seed", type=int, default=0, show_default=True),
    click.option(
        "--temperature", type=click.FloatRange(min=0), help="Else the model family's own schedule."
    ),
    click.option("--max-tokens", type=click.IntRange(min=1), help="At most so long a fill."),
    click.option("--max-steps", type=click.IntRange(min=1), help="At most so many model passes."),
    click.option(
        "--deadline-ms",
        type=click.IntRange(min=1),
        help="Take the best whole answer there is after so long.",
    ),
)
