"""The switches ``--debug`` and ``--json``, shared by the commands.

They are not in ``options`` because ``intarsia serve`` must start without what that imports.
"""

import click

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
