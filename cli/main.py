"""The program ``intarsia``: where it begins."""

from typing import NoReturn

from intarsia.cli.command_table import cli


def main() -> NoReturn:
    """Run the command line and end the process."""
    cli.main()
