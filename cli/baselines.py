"""From a baseline's name to the baseline: its program, on the file that our model was made from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import click

from intarsia.cli.errors import CliError
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL, find_model
from intarsia.research.evaluation.systems.baseline import Baseline

BaselineName: TypeAlias = Literal["transformers", "llama.cpp"]


def each_once(_: click.Context, __: click.Parameter, words: Sequence[Any]) -> tuple[Any, ...]:
    """Drop what was named before."""
    return tuple(dict.fromkeys(words))


against_option = click.option(
    "--against",
    "baselines",
    type=click.Choice(get_args(BaselineName)),
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


def baseline_named(name: BaselineName, *, model: str | None, llama_server: Path | None) -> Baseline:
    """Return it, not started yet. Raises CliError, EvaluationFault where it cannot be had."""
    if name == "transformers":
        from intarsia.research.evaluation.systems.transformers_backbone import transformers_backbone

        gguf, called = _gguf(model)
        return transformers_backbone(gguf, model=called)
    from intarsia.research.evaluation.systems.llama_cpp import find_llama_server, llama_cpp

    server = find_llama_server(llama_server)
    gguf, called = _gguf(model)
    return llama_cpp(server, gguf, model=called)


def _gguf(model: str | None) -> tuple[Path, str]:
    """Return the file that our engine's model was made from, fetched if it is not there."""
    named = model or DEFAULT_MODEL
    if row := find_model(named):
        from intarsia.cli.live_view import LoadBar
        from intarsia.cli.terminal import notices
        from intarsia.engine.model_store.download import fetch

        with LoadBar(notices()) as bar:
            return fetch(row, bar.update), row.name
    if named.endswith(".gguf") and Path(named).is_file():
        return Path(named), Path(named).stem
    names = ", ".join(row.name for row in CATALOG)
    raise CliError(f"baselines run GGUF files: give --model a .gguf file or one of {names}")
