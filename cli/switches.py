"""The two switches that decide how an error is told. ``main`` looks for them before all else."""

import click

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
