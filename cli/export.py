"""``intarsia export``: write a tuning or a model for PEFT, transformers, vLLM or llama.cpp."""

from pathlib import Path
from typing import Any

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.options import absolute_model
from intarsia.engine.model_store.catalog import DEFAULT_MODEL

_WORK = "intarsia.cli.interchange"
_OUT = click.argument("out", metavar="FOLDER", type=click.Path(path_type=Path))
_model_option = click.option(
    "--model",
    default=DEFAULT_MODEL,
    callback=absolute_model,
    help="The model; MODEL+none without the bundled tuning, MODEL+/path/to/tuning.safetensors "
    "with one of your own.",
)


@click.group("export", subcommand_metavar="peft|hf|gguf FOLDER|FILE [OPTIONS]")
def command() -> None:
    """Write a tuning or a model for other programs.

    \b
    intarsia export peft FOLDER    a tuning as a LoRA, for PEFT, vLLM and SGLang
    intarsia export hf FOLDER      the model, for transformers, vLLM and MLX
    intarsia export gguf FILE      the model, for llama.cpp

    FOLDER or FILE must be new. Other programs have no form for the drafter, so it is left out.
    """


@command.command("peft")
@_OUT
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    callback=absolute_model,
    help="The model, as MODEL+/path/to/tuning.safetensors for a tuning of your own.",
)
@click.option(
    "--only-own",
    is_flag=True,
    help="Leave the bundled tuning out: for a base model that has it, as `intarsia export hf` "
    "writes it.",
)
@click.option(
    "--base-model",
    metavar="NAME",
    help="The base model to name in adapter_config.json.  [default: the model's name on the hub]",
)
def peft(**options: Any) -> ExitCode:
    """Write a tuning as a LoRA folder for PEFT.

    It holds adapter_config.json and safetensors, with all that MODEL adds to the plain weights:
    the bundled tuning and yours, joined.
    """
    load(_WORK).write_peft(**options)
    return ExitCode.OK


@command.command("hf")
@_OUT
@_model_option
def hugging_face(out: Path, model: str) -> ExitCode:
    """Write a model with its tunings as a Hugging Face folder."""
    load(_WORK).write_hugging_face(out, model)
    return ExitCode.OK


@command.command("gguf")
@click.argument("out", metavar="FILE", type=click.Path(path_type=Path))
@_model_option
def gguf(out: Path, model: str) -> ExitCode:
    """Write a model with its tunings as a GGUF file (.gguf)."""
    if out.suffix != ".gguf":
        raise CliError(f"{out} does not end in .gguf: give a name that does")
    load(_WORK).write_gguf(out, model)
    return ExitCode.OK
