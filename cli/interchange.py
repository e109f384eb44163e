"""Writes and reads other projects' files for ``intarsia export`` and ``intarsia import``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, size
from intarsia.engine.cache.progress import Progress
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.interchange import export_gguf, export_hugging_face, peft
from intarsia.engine.interchange.output import OutputError
from intarsia.engine.ipc.printable import displayable
from intarsia.engine.model_store.catalog import find_model, split_tuning
from intarsia.engine.model_store.locate import ModelFolder, locate_model

_MAX_NAME_CHARS = 200


@contextmanager
def _writing() -> Iterator[Progress]:
    """Give what shows progress. Raise CliError for a result that cannot be written."""
    try:
        with LoadBar(notices()) as bar:
            yield bar.update
    except OutputError as error:
        raise CliError(str(error), ExitCode.NOT_WRITTEN) from error


def _locate(model: str, on_progress: Progress) -> ModelFolder:
    """Return the checked folder of a model; it is fetched if missing. Raises ModelError."""
    return locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)


def write_peft(out: Path, model: str, *, only_own: bool, base_model: str | None) -> None:
    """Write a tuning as a LoRA folder."""
    with _writing() as on_progress:
        folder = _locate(model, on_progress)
        bundled = () if only_own or folder.tuned_by is None else (folder.tuned_by,)
        tunings = (*bundled, *folder.tunings)
        if not tunings:
            raise CliError(
                f"{model} has no tuning to export: give --model MODEL+/path/to/tuning.safetensors"
            )
        plain = split_tuning(model)[0]
        row = find_model(plain)  # knows the hub's name of the weights that it was converted from
        base = base_model or (plain if row is None else row.hub.repo.removesuffix("-GGUF"))
        written = peft.export_peft(folder, tunings, out, base_model=base)
    click.echo(f"{out}: a LoRA of rank {written.rank} for {written.num_modules} layers of {base}")


def write_hugging_face(out: Path, model: str) -> None:
    """Write a model as a Hugging Face folder."""
    with _writing() as on_progress:
        folder = _locate(model, on_progress)
        on_progress(f"writing {folder.name}", None)
        written = export_hugging_face.export_hugging_face(folder, out)
    click.echo(
        f"{out}: {folder.name}, {written.num_tensors} tensors in {written.dtype} "
        f"({size(written.num_bytes)})"
    )


def write_gguf(out: Path, model: str) -> None:
    """Write a model as a GGUF file."""
    with _writing() as on_progress:
        source = export_gguf.source_of(model, on_progress)
        folder = _locate(model, on_progress)
        on_progress(f"writing {folder.name}", None)
        written = export_gguf.export_gguf(folder, source, out)
    click.echo(
        f"{out}: {folder.name}, {written.num_tensors} tensors, matrices in {written.dtype} "
        f"({size(written.num_bytes)})"
    )


def read_peft(lora: Path, out: Path, model: str) -> None:
    """Write a tuning of ours that does what a LoRA folder does."""
    with _writing() as on_progress:
        imported = peft.import_peft(lora, _locate(model, on_progress), out)
    click.echo(f"{out}: a tuning that changes {imported.num_modules} layers")
    if imported.base_model:
        base = " ".join(displayable(imported.base_model[:_MAX_NAME_CHARS]).split())
        click.echo(f"its config says that it was trained on {base}")
    click.echo(f"use it with --model {model}+{out.absolute()}")
