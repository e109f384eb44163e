"""The sections of a report, each as lines of Markdown. None holds a text, name or path of the user.

Each section is made of what is known to be plain, and not of what was found to be private.
"""

import asyncio
import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

import psutil

from intarsia.cli.doctor.command import CHECKS
from intarsia.cli.doctor.finding import Finding
from intarsia.cli.report.engine_log import end_of_log
from intarsia.cli.report.own_messages import only_own_text
from intarsia.cli.units import duration, size
from intarsia.engine.ipc.address import resolve_address
from intarsia.engine.ipc.build_id import build_id
from intarsia.engine.ipc.client import EngineClient, EngineError
from intarsia.engine.ipc.messages import Status
from intarsia.lsp.statistics.file import (
    last_settings_file,
    read_counts,
    read_last_settings,
    statistics_file,
)

_VARIABLES = (
    "INTARSIA_RUNTIME_DIR",
    "INTARSIA_CACHE_DIR",
    "INTARSIA_DATA_DIR",
    "INTARSIA_LOG_DIR",
    "INTARSIA_TRANSPORT",
)


def report() -> str:
    """Return the whole report."""
    sections = {
        "Versions": versions(),
        "Machine": machine(),
        "Settings that differ from their defaults": settings(),
        "Doctor": doctor(),
        "Engine": engine(),
        "Statistics": statistics(),
        "End of the engine's log": log(),
    }
    parts = ["# Report of intarsia\n"]
    for title, lines in sections.items():
        parts.append(f"## {title}\n\n" + "".join(f"- {line}\n" for line in lines or ["nothing"]))
    return "\n".join(parts)


def versions() -> list[str]:
    """Return our version, Python's, and those of the packages that we need."""
    needed = [line for line in requires("intarsia") or [] if "extra ==" not in line]
    names = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed]
    return [
        f"intarsia {version('intarsia')}, build {build_id()}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        *(f"{name} {_version(name)}" for name in names),
    ]


def machine() -> list[str]:
    """Return the system, the cores, the memory, and which of our variables are set."""
    release = re.match(r"\d+(?:\.\d+)*", platform.release())
    used = [name for name in _VARIABLES if os.environ.get(name)]
    return [
        f"{platform.system()} {release[0] if release else ''}, {platform.machine()}",
        f"{os.cpu_count()} cores, {size(psutil.virtual_memory().total)} of memory",
        f"environment variables that are set: {', '.join(used) or 'none'}",
    ]


def settings() -> list[str]:
    """Return the settings of the last window that an editor has closed."""
    known = read_last_settings(last_settings_file())
    if known is None:
        return ["not known: no window with `statistics` was closed yet"]
    return [f"{key}: {value}" for key, value in sorted(known.items())]


def doctor() -> list[str]:
    """Return what each check has found."""
    return [_finding(check()) for check in CHECKS]


def engine() -> list[str]:
    """Return what the engine says of itself."""
    try:
        status = asyncio.run(_ask())
    except EngineError as error:
        return [only_own_text(str(error))]
    return [
        f"{status.state}, build {status.build}, for {duration(status.uptime_s)}",
        f"model: {only_own_text(str(status.model))}, {only_own_text(str(status.device))}",
        f"{status.num_fills} fills, {status.num_clients} clients, {size(status.resident_bytes)}",
        *(f"note: {only_own_text(note)}" for note in status.notes),
    ]


def statistics() -> list[str]:
    """Return the counts."""
    return list(_counts())


def log() -> list[str]:
    """Return the end of the engine's log."""
    try:
        return end_of_log(resolve_address().log_path)
    except EngineError as error:
        return [only_own_text(str(error))]


def _counts() -> Iterator[str]:
    counts = read_counts(statistics_file()).counts
    for language, of in sorted(counts.languages.items()):
        yield f"{language}: {of.shown} shown, {of.accepted} accepted, {of.kept} of {of.ended} kept"
    for kind, number in sorted(counts.not_shown.items()):
        yield f"not shown, {kind}: {number}"


def _finding(finding: Finding) -> str:
    advice = f"; {only_own_text(finding.advice)}" if finding.advice else ""
    return f"{finding.name}: {finding.state}: {only_own_text(finding.found)}{advice}"


async def _ask() -> Status:
    async with EngineClient(name="cli", start=False) as client:
        return await client.status()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is missing"
