"""``intarsia export``: write a tuning or a model for PEFT, transformers, vLLM or llama.cpp."""

from pathlib import Path

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.import_tuning import locate, write_faults
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import absolute_model
from intarsia.cli.terminal import notices, size
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model, split_tuning

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

    FOLDER or FILE must be new. The drafter has no form in other programs and stays out.
    """


@command.command("peft")
@_OUT
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    callback=absolute_model,
    help="The model, as MODEL+/path/to/tuning.safetensors if a tuning of your own is meant.",
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
def peft(out: Path, model: str, only_own: bool, base_model: str | None) -> ExitCode:
    """Write a tuning as a LoRA folder for PEFT: adapter_config.json and safetensors.

    The LoRA has all that MODEL adds to the plain weights: the bundled tuning and your own, joined.
    """
    from intarsia.engine.interchange.peft import export_peft

    with LoadBar(notices()) as bar, write_faults():
        folder = locate(model, bar.update)
        bundled = () if only_own or folder.tuned_by is None else (folder.tuned_by,)
        tunings = (*bundled, *folder.tunings)
        if not tunings:
            raise CliError(
                f"{model} has no tuning to export: give --model MODEL+/path/to/tuning.safetensors"
            )
        plain = split_tuning(model)[0]
        row = find_model(plain)  # knows the hub's name of the weights that it was converted from
        base = base_model or (plain if row is None else row.hub.repo.removesuffix("-GGUF"))
        written = export_peft(folder, tunings, out, base_model=base)
    click.echo(f"{out}: a LoRA of rank {written.rank} for {written.num_modules} layers of {base}")
    return ExitCode.OK


@command.command("hf")
@_OUT
@_model_option
def hugging_face(out: Path, model: str) -> ExitCode:
    """Write a model with its tunings as a Hugging Face folder."""
    from intarsia.engine.interchange.export_hugging_face import export_hugging_face

    with LoadBar(notices()) as bar, write_faults():
        folder = locate(model, bar.update)
        bar.update(f"writing {folder.name}", None)
        written = export_hugging_face(folder, out)
    click.echo(
        f"{out}: {folder.name}, {written.num_tensors} tensors in {written.dtype} "
        f"({size(written.num_bytes)})"
    )
    return ExitCode.OK


@command.command("gguf")
@click.argument("out", metavar="FILE", type=click.Path(path_type=Path))
@_model_option
def gguf(out: Path, model: str) -> ExitCode:
    """Write a model with its tunings as a GGUF file, which must end in .gguf."""
    from intarsia.engine.interchange.export_gguf import export_gguf, source_of

    if out.suffix != ".gguf":
        raise CliError(f"{out} does not end in .gguf: give such a name")
    with LoadBar(notices()) as bar, write_faults():
        source = source_of(model, bar.update)
        folder = locate(model, bar.update)
        bar.update(f"writing {folder.name}", None)
        written = export_gguf(folder, source, out)
    click.echo(
        f"{out}: {folder.name}, {written.num_tensors} tensors, matrices in {written.dtype} "
        f"({size(written.num_bytes)})"
    )
    return ExitCode.OK
