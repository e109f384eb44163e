"""The options that name peers: others that run the backbone, to be measured beside us."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import click

PeerName: TypeAlias = Literal["transformers", "llama.cpp"]


def each_once(_: click.Context, __: click.Parameter, words: Sequence[Any]) -> tuple[Any, ...]:
    """Drop what was named before."""
    return tuple(dict.fromkeys(words))


against_option = click.option(
    "--against",
    "peers",
    type=click.Choice(get_args(PeerName)),
    multiple=True,
    callback=each_once,
    help="The backbone alone, run by others on the same holes; repeatable.",
)

llama_server_option = click.option(
    "--llama-server",
    metavar="PROGRAM",
    type=click.Path(path_type=Path),
    help="llama.cpp's server, for --against llama.cpp.  [env: INTARSIA_LLAMA_SERVER]",
)
