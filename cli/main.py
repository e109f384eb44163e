"""The command ``intarsia``: a table of commands, and the one place where an error becomes a line.

A command's module is imported when the command is run, so that none waits for another's imports.
"""

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import click

from intarsia.cli.errors import MEANINGS, ExitCode, as_fault
from intarsia.cli.options import debug_option


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRow:
    """Where a command is found: ``module`` holds a click command of the name ``command``."""

    module: str
    summary: str


COMMANDS: dict[str, CommandRow] = {
    "fill": CommandRow(module="intarsia.cli.fill.command", summary="Fill holes in a file."),
    "demo": CommandRow(module="intarsia.cli.demo", summary="Fill holes in sample files."),
    "serve": CommandRow(module="intarsia.cli.serve", summary="Serve editors (LSP)."),
    "door": CommandRow(
        module="intarsia.cli.completions_api.command", summary="Serve a completions API here."
    ),
    "engine": CommandRow(module="intarsia.cli.engine", summary="Run the engine in the foreground."),
    "status": CommandRow(module="intarsia.cli.status", summary="Say what the engine is doing."),
    "stop": CommandRow(module="intarsia.cli.stop", summary="End the engine and free its memory."),
    "pull": CommandRow(module="intarsia.cli.pull", summary="Fetch and verify a model."),
    "doctor": CommandRow(
        module="intarsia.cli.doctor.command", summary="Say what works and what is missing."
    ),
    "bench": CommandRow(module="intarsia.cli.bench", summary="Measure speed and memory here."),
    "eval": CommandRow(module="intarsia.cli.eval.command", summary="Measure fills on known text."),
    "corpus": CommandRow(module="intarsia.cli.corpus", summary="Make what is trained on."),
    "train": CommandRow(module="intarsia.cli.train", summary="Train weights on a corpus."),
}


class CommandTable(click.Group):
    """The group of all commands, each looked up in the table and imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        command: click.Command = import_module(row.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.summary) for name, row in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), words) for code, words in MEANINGS.items()])

    def main(  # type: ignore[override]  # always ends the process, as click's own default does
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        words = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(words, prog_name or "intarsia", standalone_mode=False, **extra)
            if not sys.stdout.closed:  # `serve` closes it along with its client
                sys.stdout.flush()
        except BrokenPipeError:
            code = _leave_pipe()
        except Exception as error:  # noqa: BLE001 the command line's one guard: a line, no traceback
            code = _report(error, words)
        sys.exit(code or ExitCode.OK)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _own_code_for_closed_pipe():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _own_code_for_closed_pipe():
            return super().invoke(ctx)


@click.group("intarsia", cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="intarsia", message="%(prog)s %(version)s")
@debug_option
def cli() -> None:
    """Fill holes in code with a block-diffusion language model on your own machine."""


def main() -> NoReturn:
    """Run the command line and end the process."""
    cli.main()


def _report(error: Exception, words: Sequence[str]) -> ExitCode:
    """Say what went wrong. The words are looked at as they are: they may not even be readable."""
    fault = as_fault(error)
    if "--debug" in words:
        traceback.print_exception(error)
    click.echo(f"intarsia: {fault}", err=True)
    if "--json" in words:
        click.echo(json.dumps({"text": None, "reason": str(fault), "exit_code": fault.code.value}))
    return fault.code


@contextmanager
def _own_code_for_closed_pipe() -> Iterator[None]:
    """Click would end with 1 where a reader went away, which means something else here."""
    try:
        yield
    except BrokenPipeError as error:
        raise click.exceptions.Exit(_leave_pipe()) from error


def _leave_pipe() -> ExitCode:
    """Give the interpreter somewhere to flush to when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.PIPE_CLOSED
