"""The options of a fill on the command line, shared by several commands.

Also keeps former option names working (``former_name``).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.filling.options import FillOptions

_F = TypeVar("_F", bound=Callable[..., Any])


def fill_options(command: _F) -> _F:
    """Add the options of a fill; their parameter names are the fields of FillOptions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def absolute_model(ctx: click.Context, _: click.Parameter, model: str | None) -> str | None:
    """Return a path as an absolute one: the engine runs in another folder."""
    if model is None or not (model.startswith((".", "~")) or Path(model).exists()):
        return model
    return str(Path(model).expanduser().absolute())


def former_name(
    former: str, current: str, renamed_values: Mapping[str, str] | None = None
) -> Callable[[_F], _F]:
    """Return a hidden option for a former name. It prints a notice and keeps its values.

    The callback of the current option reads them with ``former_values``.
    """

    def keep(ctx: click.Context, _: click.Parameter, values: Sequence[str]) -> None:
        if values:
            renamed = tuple((renamed_values or {}).get(value, value) for value in values)
            ctx.meta[current] = renamed
            advice = " ".join(f"{current} {value}" for value in renamed)
            click.echo(f"intarsia: {former} is deprecated: write {advice}", err=True)

    return click.option(
        former,
        type=click.Choice(list(renamed_values)) if renamed_values else None,
        multiple=True,
        hidden=True,
        is_eager=True,  # before the current option's callback
        expose_value=False,
        callback=keep,
    )


def former_values(ctx: click.Context, current: str) -> tuple[Any, ...]:
    """Return the values given under the former name of this option."""
    values: tuple[Any, ...] = ctx.meta.get(current, ())
    return values


FORMER_DECODINGS: Mapping[str, Decoding] = {
    "verified": "speculative",
    "left_to_right": "autoregressive",
    "entropy": "entropy",
}
"""The values of ``--settle``, the former name of ``--decoding``."""

settle_option = former_name("--settle", "--decoding", FORMER_DECODINGS)


def _last_decoding(ctx: click.Context, parameter: click.Parameter, decoding: Decoding) -> Decoding:
    is_given = ctx.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
    former = former_values(ctx, "--decoding")
    return former[-1] if former and not is_given else decoding


candidates_option = click.option(
    "--candidates",
    "num_candidates",
    type=click.IntRange(min=1, max=10),
    default=FillOptions().num_candidates,
    show_default=True,
    help="Candidates to compare if a range is filled and the first answer is uncertain.",
)

_OPTIONS = (
    click.option(
        "--model",
        callback=absolute_model,
        help="A catalog name, a folder or a hub id.  [default: the loaded model]",
    ),
    click.option(
        "--decoding",
        type=click.Choice(get_args(Decoding)),
        default="speculative",
        show_default=True,
        callback=_last_decoding,
        help="speculative and autoregressive write exactly the backbone's text; entropy accepts "
        "tokens by their entropy.",
    ),
    settle_option,
    candidates_option,
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of the random choices."
    ),
    click.option(
        "--temperature",
        type=click.FloatRange(min=0),
        help="Sampling temperature.  [default: the model family's schedule]",
    ),
    click.option(
        "--max-tokens", metavar="N", type=click.IntRange(min=1), help="At most N tokens a fill."
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
