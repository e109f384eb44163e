"""``intarsia import``: turn a LoRA of PEFT, Unsloth or NeMo AutoModel into a tuning of ours."""

from pathlib import Path

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.options import absolute_model
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, NO_TUNING, without_tuning


@click.group("import", subcommand_metavar="peft FOLDER FILE [OPTIONS]")
def command() -> None:
    """Read a tuning made by another program.

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
    help="The model that the LoRA was trained on; MODEL+none is without the bundled tuning.",
)
def peft(lora: Path, out: Path, model: str) -> ExitCode:
    """Turn the LoRA in FOLDER into the tuning FILE (.safetensors).

    Only a plain LoRA is accepted: linear layers of attention and feed-forward, in safetensors.
    """
    if out.suffix != ".safetensors":
        raise CliError(f"{out} does not end in .safetensors: give a name that does")
    if without_tuning(model) != model:
        raise CliError(f"{model} already has a tuning: name the model without it")
    load("intarsia.cli.interchange").read_peft(lora, out, model)
    return ExitCode.OK
