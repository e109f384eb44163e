"""``intarsia eval``: how good and how fast fills are, on holes whose text is known."""

import click

from intarsia.cli.eval_humaneval import humaneval
from intarsia.cli.eval_lines import lines
from intarsia.cli.switches import debug_option


@click.group("eval", context_settings={"help_option_names": ["-h", "--help"]})
@debug_option
def command() -> None:
    """Measure fills on holes whose text is known, one settle mode against another.

    The modes take turns at each hole, so that they meet the machine in the same state. Context is
    read once a hole, before the modes' turns, and that time is told on its own.
    """


command.add_command(humaneval)
command.add_command(lines)
