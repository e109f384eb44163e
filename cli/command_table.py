"""The table of the program's commands, and the one guard that prints errors.

A command's module is imported only for that command, so no command waits for the imports of
another one. What it needs beyond its options, and takes long to import, it loads when it runs.
"""

import gc
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import click
from click.shell_completion import CompletionItem

from intarsia.cli.errors import MEANINGS, CliError, ExitCode, as_fault
from intarsia.engine.ipc.printable import displayable

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}
"""For the commands in a table, too."""

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """Where a command is: ``module`` holds a click command called ``command``.

    ``heading``: in the help, above this command and those that follow it.
    """

    module: str
    summary: str
    heading: str = ""


COMMANDS: dict[str, CommandRow] = {
    "fill": CommandRow("intarsia.cli.fill.command", "Fill holes in a file.", "Every day"),
    "next": CommandRow("intarsia.cli.next_edits", "Find what an edit left out of date."),
    "context": CommandRow("intarsia.cli.context", "Show what the model sees at a place."),
    "demo": CommandRow("intarsia.cli.demo", "Fill holes in sample files."),
    "models": CommandRow("intarsia.cli.models", "List the models to choose from.", "Models"),
    "pull": CommandRow("intarsia.cli.pull", "Download and prepare a model."),
    "remote": CommandRow("intarsia.cli.remote", "Fill holes through another server."),
    "export": CommandRow("intarsia.cli.export", "Export a tuning or a model."),
    "import": CommandRow("intarsia.cli.import_tuning", "Import a tuning (PEFT)."),
    "status": CommandRow("intarsia.cli.status", "Show what the engine is doing.", "Operation"),
    "stop": CommandRow("intarsia.cli.stop", "Stop the engine and free its memory."),
    "doctor": CommandRow("intarsia.cli.doctor", "Check this installation."),
    "report": CommandRow("intarsia.cli.report", "Write a bug report."),
    "serve": CommandRow("intarsia.cli.serve", "Serve editors (LSP).", "Servers"),
    "api": CommandRow("intarsia.cli.api.command", "Serve completions to other clients."),
    "engine": CommandRow("intarsia.cli.engine", "Run the engine in the foreground."),
    "team": CommandRow("intarsia.cli.team", "Serve a team from one engine."),
}
"""In the order of the help."""


class CommandTable(click.Group):
    """The group of all commands. Each is imported when it is needed.

    A table of other commands overrides ``rows``, ``program`` and ``fault_of``.
    """

    rows: ClassVar[Mapping[str, CommandRow]] = COMMANDS
    program = "intarsia"

    def fault_of(self, error: Exception) -> CliError:
        """Return the one line and the exit code for any exception of a command."""
        return as_fault(error)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        return _with_debug(load(row.module).command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        close = get_close_matches(args[0], self.rows, n=1)
        if close and args[0] not in self.rows:
            ctx.fail(f"No such command {args[0]!r}: did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name from the table, without importing any command."""
        names = [name for name in self.rows if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.rows[name].summary) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, row in self.rows.items():
            heading = row.heading or next(reversed(groups), "Commands")
            groups.setdefault(heading, []).append((name, row.summary))
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), meaning) for code, meaning in MEANINGS.items()])

    def main(  # type: ignore[override]  # always ends the process, as click's own default does
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        arguments = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(
                arguments, prog_name or self.program, standalone_mode=False, **extra
            )
            if not sys.stdout.closed:  # `serve` closes it along with its client
                sys.stdout.flush()
        except BrokenPipeError:
            code = _leave_pipe()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = ExitCode.BAD_INPUT
        except Exception as error:  # noqa: BLE001 the command line's one guard: one line, no traceback
            code = _report(error, self.fault_of(error), arguments)
        sys.exit(code or ExitCode.OK)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _own_code_for_closed_pipe():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _own_code_for_closed_pipe():
            return super().invoke(ctx)


@click.group("intarsia", cls=CommandTable, context_settings=CONTEXT_SETTINGS)
@click.version_option(package_name="intarsia", message="%(prog)s %(version)s")
@debug_option
def cli() -> None:
    """Fill holes in code with a block-diffusion language model on your own machine."""


def load(module: str) -> Any:
    """Import the module of a command, or what it needs to run: its help does not wait for that."""
    gc.disable()  # imported objects stay: collecting among them takes a quarter of the start
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers"):
            raise
        raise CliError(
            "this needs torch, which is not installed: pip install 'intarsia[torch]'",
            ExitCode.MODEL,
        ) from error
    finally:
        gc.enable()


def _with_debug(command: click.Command) -> click.Command:
    """Make a loaded command and those in it accept ``--debug``, for which ``_report`` looks."""
    if all(option.name != "debug" for option in command.params):
        debug_option(command)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _with_debug(inner)
    return command


def _report(error: Exception, fault: CliError, arguments: Sequence[str]) -> ExitCode:
    """Print what went wrong. The arguments are searched unparsed: parsing them may have failed."""
    if "--debug" in arguments:
        traceback.print_exception(error)
    click.echo(f"intarsia: {displayable(str(fault))}", err=True)
    if "--json" in arguments:
        click.echo(json.dumps({"text": None, "reason": str(fault), "exit_code": fault.code.value}))
    return fault.code


@contextmanager
def _own_code_for_closed_pipe() -> Iterator[None]:
    """Exit with our own code for a closed pipe: click would exit with 1, which has a meaning."""
    try:
        yield
    except BrokenPipeError as error:
        raise click.exceptions.Exit(_leave_pipe()) from error


def _leave_pipe() -> ExitCode:
    """Redirect standard output to nowhere, so that the interpreter's last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.PIPE_CLOSED
