"""The options of a fill on the command line, shared by several commands."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.filling.plan import FillOptions
from intarsia.infill.languages import PLAIN_TEXT, Language, all_languages, language_for_id

_F = TypeVar("_F", bound=Callable[..., Any])


def with_options(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Return a decorator that adds several options, in their order in the help."""
    return lambda command: reduce(lambda decorated, add: add(decorated), reversed(options), command)


def absolute_model(ctx: click.Context, _: click.Parameter, model: str | None) -> str | None:
    """Return a path as an absolute one: the engine runs in another folder."""
    if model is None or not (model.startswith((".", "~")) or Path(model).exists()):
        return model
    return str(Path(model).expanduser().absolute())


candidates_option = click.option(
    "--candidates",
    "num_candidates",
    type=click.IntRange(min=1, max=10),
    default=FillOptions().num_candidates,
    help="Candidates to compare if a range is filled and the first answer is uncertain.",
)

model_option = click.option(
    "--model",
    callback=absolute_model,
    help="A catalog name, a folder or a hub id.  [default: the loaded model]",
)

fill_options = with_options(
    model_option,
    click.option(
        "--decoding",
        type=click.Choice(get_args(Decoding)),
        default="speculative",
        help="Both write exactly the backbone's text; autoregressive takes a pass for each token.",
    ),
    candidates_option,
    click.option("--seed", type=int, default=0, help="Seed of the random choices."),
    click.option(
        "--temperature",
        type=click.FloatRange(min=0),
        help="Sampling temperature.  [default: the model family's schedule]",
    ),
    click.option(
        "--max-tokens", metavar="N", type=click.IntRange(min=1), help="At most N tokens per fill."
    ),
    click.option(
        "--max-steps", metavar="N", type=click.IntRange(min=1), help="At most N forward passes."
    ),
    click.option(
        "--deadline-ms",
        metavar="N",
        type=click.IntRange(min=1),
        help="Return the best complete answer after N milliseconds.",
    ),
)
"""Their parameter names are the fields of FillOptions."""


def _read_language(ctx: click.Context, _: click.Parameter, name: str | None) -> Language | None:
    if name is None:
        return None
    language = language_for_id(name)
    if language is PLAIN_TEXT and name.lower() != PLAIN_TEXT.id:
        known = ", ".join(row.id for row in all_languages())
        raise click.BadParameter(f"{name!r} is unknown: use one of {known} or {PLAIN_TEXT.id}")
    return language


language_option = click.option(
    "--language",
    metavar="NAME",
    callback=_read_language,
    help="The language id, as in editors.  [default: by the file's name]",
)
