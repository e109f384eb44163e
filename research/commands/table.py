"""The table of the laboratory's commands: the product's guard, with faults of its own."""

from collections.abc import Mapping
from typing import ClassVar

import click

from intarsia.cli.command_table import CONTEXT_SETTINGS, CommandRow, CommandTable, debug_option
from intarsia.cli.errors import CliError, ExitCode, as_fault, one_line
from intarsia.engine.ipc.errors import EngineError
from intarsia_research.errors import BenchmarkFault, CorpusFault, EvaluationFault


class LaboratoryCommands(CommandTable):
    """The group of all commands."""

    rows: ClassVar[Mapping[str, CommandRow]] = {
        "eval": CommandRow(
            "intarsia_research.commands.eval.command", "Measure fills of holes with known text."
        ),
        "instruct": CommandRow(
            "intarsia_research.commands.instruct", "Measure edits by instruction."
        ),
        "bench": CommandRow(
            "intarsia_research.commands.bench", "Measure speed and memory on this machine."
        ),
        "corpus": CommandRow("intarsia_research.commands.corpus", "Build a training corpus."),
        "train": CommandRow("intarsia_research.commands.train", "Train weights on a corpus."),
        "uniform": CommandRow(
            "intarsia_research.commands.uniform", "Measure a model that sees token ids alone."
        ),
    }
    program = "python -m intarsia_research"

    def fault_of(self, error: Exception) -> CliError:
        """Return the one line and the exit code for any exception of a command."""
        match error:
            case EvaluationFault(__cause__=EngineError() as cause):
                return one_line(str(error), as_fault(cause).code)
            case EvaluationFault() | CorpusFault() | BenchmarkFault():
                return one_line(str(error), ExitCode.BAD_INPUT)
        return as_fault(error)


@click.group(
    LaboratoryCommands.program,
    cls=LaboratoryCommands,
    context_settings=CONTEXT_SETTINGS,
)
@debug_option
def cli() -> None:
    """Measure and train intarsia."""
