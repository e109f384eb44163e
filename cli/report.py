"""``intarsia report``: versions, settings by name, counts and codes; nothing of the user's own."""

import asyncio
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.ipc.errors import EngineError
from intarsia.engine.ipc.handshake import build_id
from intarsia.lsp import statistics


@click.command("report")
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("intarsia-report.md"),
    help="The file to write. It must not exist yet.",
)
def command(path: Path) -> None:
    """Write a bug report to a file, and show it. Nothing is sent.

    It contains versions, the machine, settings, results of the doctor's checks, and counts, but no
    code, no log, and no name or path of yours. Read it before you attach it anywhere.
    """
    content = "# Bug report of intarsia\n\n" + "".join(f"- {line}\n" for line in _lines())
    try:
        with path.open("x", encoding="utf-8") as file, _gone_if_it_fails(path):
            file.write(content)
            file.flush()
    except OSError as error:
        why = "exists" if isinstance(error, FileExistsError) else error.strerror or error
        advice = f"cannot write {path} ({why}): name another file with --output"
        raise CliError(advice, ExitCode.NOT_WRITTEN) from error
    click.echo(content)
    click.echo(f"Written to {path}. Nothing was sent: attach it where you report the bug.")


@contextmanager
def _gone_if_it_fails(path: Path) -> Iterator[None]:
    """Leave no half a file on a full disk: it would be in the way of the next report."""
    try:
        yield
    except OSError:
        path.unlink()
        raise


def _lines() -> Iterator[str]:
    yield f"intarsia {version('intarsia')}, build {build_id()}"
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"
    yield f"Python {platform.python_version()}, {machine}"
    for needed in requires("intarsia") or ():
        if 'extra == "test"' not in needed:  # torch is of use if it is there
            name = re.split(r"[^\w.-]", needed, maxsplit=1)[0]
            with suppress(PackageNotFoundError):  # the doctor tells what is missing
                yield f"{name} {version(name)}"
    kept = statistics.read_last_settings(statistics.last_settings_file()) or {}
    for key, value in sorted(kept.items()):
        yield f"setting {key}: {value}"
    findings = load("intarsia.cli.doctor").run_checks()
    yield from (f"doctor, {found.name}: {found.state}" for found in findings)
    yield asyncio.run(_engine())
    counts = statistics.read_counts(statistics.statistics_file()).counts
    for language, of in sorted(counts.languages.items()):
        yield f"{language}: {of.shown} shown, {of.accepted} accepted, {of.kept} of {of.ended} kept"
    yield from (f"not shown, {why}: {number}" for why, number in sorted(counts.not_shown.items()))


async def _engine() -> str:
    """Return the engine's state and counts, or the kind of error."""
    try:
        status = await load("intarsia.cli.status").ask_status()
    except EngineError as error:
        return f"engine: {type(error).__name__}"
    megabytes = status.resident_bytes // 1_000_000
    return f"engine: {status.state}, {status.num_fills} fills, {megabytes} MB, build {status.build}"
