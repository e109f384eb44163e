"""``intarsia import``: turn a LoRA of PEFT, Unsloth or NeMo AutoModel into a tuning of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import absolute_model
from intarsia.cli.terminal import displayable, notices
from intarsia.engine.cache.progress import Progress
from intarsia.engine.interchange.output import OutputError
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, NO_TUNING, without_tuning

if TYPE_CHECKING:
    from intarsia.engine.model_store.locate import ModelFolder


_MAX_NAME_CHARS = 200


def locate(model: str, on_progress: Progress) -> "ModelFolder":
    """Return the checked folder of a model; it is fetched if missing. Raises ModelError."""
    from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
    from intarsia.engine.model_store.locate import locate_model

    return locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)


@contextmanager
def write_faults() -> Iterator[None]:
    """Raise CliError for a result that cannot be written in this block."""
    try:
        yield
    except OutputError as error:
        raise CliError(str(error), ExitCode.NOT_WRITTEN) from error


@click.group("import", subcommand_metavar="peft FOLDER FILE [OPTIONS]")
def command() -> None:
    """Read a tuning that another program has made.

    \b
    intarsia import peft FOLDER FILE.safetensors    a LoRA of PEFT, Unsloth or NeMo
    """


@command.command("peft")
@click.argument("lora", metavar="FOLDER", type=click.Path(path_type=Path))
@click.argument("out", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--model",
    default=f"{DEFAULT_MODEL}+{NO_TUNING}",
    callback=absolute_model,
    help="The model that the LoRA was trained on; MODEL+none is the one without the bundled "
    "tuning.",
)
def peft(lora: Path, out: Path, model: str) -> ExitCode:
    """Turn the LoRA in FOLDER into the tuning FILE, which must end in .safetensors.

    Only a plain LoRA is accepted: linear layers of attention and feed-forward, in safetensors.
    """
    if out.suffix != ".safetensors":
        raise CliError(f"{out} does not end in .safetensors: give such a name")
    if without_tuning(model) != model:
        raise CliError(f"{model} already has a tuning: name the model without it")
    from intarsia.engine.interchange.peft import import_peft

    with LoadBar(notices()) as bar, write_faults():
        imported = import_peft(lora, locate(model, bar.update), out)
    click.echo(f"{out}: a tuning that changes {imported.num_modules} layers")
    if imported.base_model:
        base = " ".join(displayable(imported.base_model[:_MAX_NAME_CHARS]).split())
        click.echo(f"it was trained on {base}, says its config")
    click.echo(f"use it with --model {model}+{out.absolute()}")
    return ExitCode.OK
