"""The options that name baselines, and the programs that they name.

A baseline runs the GGUF file that our engine's model was converted from.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import click

from intarsia.cli.errors import CliError
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL, find_model
from intarsia_research.evaluation.systems.baseline import Baseline

BaselineName: TypeAlias = Literal["transformers", "llama.cpp"]


def each_once(_: click.Context, __: click.Parameter, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values without repetitions."""
    return tuple(dict.fromkeys(values))


against_option = click.option(
    "--against",
    "baselines",
    type=click.Choice(get_args(BaselineName)),
    multiple=True,
    callback=each_once,
    help="A baseline: another program with the same backbone on the same holes; repeatable.",
)

llama_server_option = click.option(
    "--llama-server",
    metavar="PROGRAM",
    type=click.Path(path_type=Path),
    help="The llama-server program for --against llama.cpp.  [env: INTARSIA_LLAMA_SERVER]",
)


def baseline_named(name: BaselineName, *, model: str | None, llama_server: Path | None) -> Baseline:
    """Return the baseline, not started. Raise CliError or EvaluationFault if it is unavailable."""
    if name == "transformers":
        from intarsia_research.evaluation.systems.transformers_backbone import transformers_backbone

        gguf, model_name = _gguf(model)
        return transformers_backbone(gguf, model=model_name)
    from intarsia_research.evaluation.systems.llama_cpp import find_llama_server, llama_cpp

    server = find_llama_server(llama_server)
    gguf, model_name = _gguf(model)
    return llama_cpp(server, gguf, model=model_name)


def _gguf(model: str | None) -> tuple[Path, str]:
    """Return the GGUF file of our engine's model, downloaded if needed, and the model's name."""
    model = model or DEFAULT_MODEL
    if row := find_model(model):
        from intarsia.cli.live_view import LoadBar
        from intarsia.cli.terminal import notices
        from intarsia.engine.model_store.download import fetch

        with LoadBar(notices()) as bar:
            return fetch(row, bar.update), row.name
    if model.endswith(".gguf") and Path(model).is_file():
        return Path(model), Path(model).stem
    names = ", ".join(row.name for row in CATALOG)
    raise CliError(f"baselines run GGUF files: give --model a .gguf file or one of {names}")
