"""``python -m intarsia_research``: the commands that measure and train."""

from intarsia.cli.main import leave_out_working_folder

leave_out_working_folder()

from intarsia_research.commands.table import cli  # noqa: E402 the search path is set first

cli.main()
