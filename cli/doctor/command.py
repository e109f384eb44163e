"""``intarsia doctor``: say what works on this machine, what is missing, and what to do."""

from collections.abc import Callable
from dataclasses import asdict

import click
import msgspec
from rich.text import Text

from intarsia.cli.doctor.engine import (
    check_adapter,
    check_cache,
    check_conversion,
    check_engine,
    check_grammars,
    check_model,
    check_reading_speed,
    check_remotes,
    check_runtime_folder,
)
from intarsia.cli.doctor.finding import Finding
from intarsia.cli.doctor.machine import (
    check_memory,
    check_packages,
    check_processor,
    check_python,
    check_torch,
)
from intarsia.cli.errors import ExitCode
from intarsia.cli.terminal import json_option, output

CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_packages,
    check_torch,
    check_processor,
    check_memory,
    check_cache,
    check_model,
    check_conversion,
    check_adapter,
    check_grammars,
    check_runtime_folder,
    check_engine,
    check_reading_speed,
    check_remotes,
)

_SIGNS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "missing": ("missing", "bold red")}


@click.command("doctor")
@json_option
def command(as_json: bool) -> ExitCode:
    """Say what works here, what is missing and what to do. Exit code 1 if something is."""
    findings = []
    for check in CHECKS:
        finding = check()
        findings.append(finding)
        if as_json:
            click.echo(msgspec.json.encode(asdict(finding)))
        else:
            _show(finding)
    is_complete = all(finding.state != "missing" for finding in findings)
    return ExitCode.OK if is_complete else ExitCode.NOTHING


def _show(finding: Finding) -> None:
    word, style = _SIGNS[finding.state]
    line = Text.assemble((f"{word:<8}", style), (f"{finding.name:<12}", "bold"), finding.found)
    console = output()
    console.print(line, soft_wrap=True)
    if finding.advice:
        console.print(Text(f"{'':20}→ {finding.advice}", style=style), soft_wrap=True)
