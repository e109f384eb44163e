"""``intarsia doctor``: say what works on this machine, what is missing, and what to do.

Each check returns a ``Finding``. None changes anything.
"""

import asyncio
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import click
import msgspec
import psutil
from rich.text import Text

from intarsia.cli.command_table import load
from intarsia.cli.errors import ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.remote import probe
from intarsia.cli.status import ask_status
from intarsia.cli.terminal import json_option, notices, output, size
from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.cache.own_file import has_digest
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.address import prepare_directory, resolve_address
from intarsia.engine.ipc.client import EngineError, NoEngine
from intarsia.engine.ipc.messages import Status
from intarsia.engine.ipc.ownership import weakness_of
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, CatalogModel, find_model
from intarsia.engine.model_store.download import downloaded_file
from intarsia.engine.remote.http.remotes import read_remotes
from intarsia.infill.languages import all_languages
from intarsia.infill.syntax.tree import load_grammar
from intarsia.workspace.context.chunk import context_budget


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the output. ``note``: worth knowing; ``missing``: must be corrected."""

    name: str
    state: Literal["ok", "note", "missing"]
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Finding:
    return Finding(name, "ok", found)


def note(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "note", found, advice)


def missing(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "missing", found, advice)


_OLDEST_PYTHON = (3, 11)
_MEMORY_NEEDED = 2_500_000_000
"""Bytes that the engine takes with the default model."""

_TORCH_PROBE = """
import torch
if torch.cuda.is_available():
    print(torch.cuda.get_device_name())
elif torch.backends.mps.is_available():
    print("the Apple GPU (mps)")
else:
    print(f"the processor ({torch.get_num_threads()} threads)")
"""
_GEMMA_PROBE = """
from intarsia.engine.families.diffusion_gemma.choose_form import about_released
print(about_released())
"""
_TORCH_TIMEOUT_S = 120
_WHAT_TORCH_IS_FOR = (
    "GPUs, DiffusionGemma and models of other shapes need it: pip install 'intarsia[torch]'"
)


def check_python() -> Finding:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= _OLDEST_PYTHON:
        return ok("python", found)
    return missing("python", found, "install Python 3.11 or newer")


def check_packages() -> Finding:
    """Check that all required packages are installed."""
    needed = [line for line in requires("intarsia") or [] if "extra ==" not in line]
    names = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed]
    lacking = [name for name in names if not _is_installed(name)]
    if not lacking:
        return ok("packages", f"all {len(names)} are installed")
    return missing(
        "packages",
        f"not installed: {', '.join(lacking)}",
        "install intarsia again, into its own environment",
    )


def check_torch() -> Finding:
    """Check that torch starts, and where it computes. Without a GPU none is needed."""
    if not _is_installed("torch"):
        return ok("torch", f"not installed; {_WHAT_TORCH_IS_FOR}")
    probe = probe_torch()
    if probe.error:
        return missing(
            "torch",
            f"{version('torch')} does not start: {probe.error}",
            "install torch again, in the build for this machine (see pytorch.org)",
        )
    return ok("torch", f"{version('torch')}, computes on {probe.said}")


def check_processor() -> Finding:
    """Check in which number format the processor computes."""
    cores = f"{psutil.cpu_count(logical=False) or os.cpu_count()} cores"
    if not _is_installed("numba"):
        return note("processor", f"{cores}, computes in float32", "install intarsia again")
    if instructions := load("intarsia.engine.kernels.processor").find_dot_product():
        return ok("processor", f"{cores}, computes in int8 ({instructions.name})")
    return note(
        "processor",
        f"{cores}, computes in float32 (no AVX2, no dot products of bytes)",
        "without a GPU, fills are slower here and take four times the memory; nothing is broken",
    )


def check_memory() -> Finding:
    """Check that there is memory for the default model."""
    free = psutil.virtual_memory().available
    found = f"{size(free)} free of {size(psutil.virtual_memory().total)}"
    if free >= _MEMORY_NEEDED:
        return ok("memory", found)
    return note(
        "memory",
        found,
        f"the engine takes up to {size(_MEMORY_NEEDED)}: close other programs before a fill",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchProbe:
    """The answer of a program with torch. ``error``: the last line of one that did not start."""

    said: str = ""
    error: str = ""


def probe_torch(program: str = _TORCH_PROBE) -> TorchProbe:
    """Return where torch computes here, or what another program says, or why it does not start."""
    try:
        # With -P in an empty folder, so that no torch.py of the user is imported.
        with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
            done = subprocess.run(
                [sys.executable, "-P", "-c", program],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_TORCH_TIMEOUT_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return TorchProbe(error=f"no answer within {_TORCH_TIMEOUT_S} s")
    if done.returncode == 0:
        return TorchProbe(said=done.stdout.strip())
    last_lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return TorchProbe(error=last_lines[-1])


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def check_runtime_folder() -> Finding:
    """Check that only the user has access to the folder of the engine's socket."""
    try:
        folder = resolve_address().directory
        if not os.path.lexists(folder):
            return ok("socket", f"{folder} (created when the engine starts)")
        prepare_directory(folder)
    except EngineError as error:
        return missing("socket", *_what_and_advice(error))
    return ok("socket", f"{folder}, yours alone")


def check_engine() -> Finding:
    """Check whether the engine runs and answers."""
    try:
        status = asyncio.run(ask_status())
    except NoEngine:
        return ok("engine", "not running; the next fill starts it")
    except EngineError as error:
        return missing("engine", *_what_and_advice(error))
    if status.cache_folder in (None, str(cache_folder())):
        return ok("engine", _running(status))
    return note(
        "engine",
        f"{_running(status)}, has its models in {status.cache_folder}, not in {cache_folder()}",
        "run `intarsia stop`: the next fill starts one with INTARSIA_CACHE_DIR as it is here",
    )


def check_gemma() -> Finding:
    """Show where and in which number format DiffusionGemma runs, or would run, and why."""
    try:
        status = asyncio.run(ask_status())
    except EngineError:  # the check of the engine says which
        status = None
    if status is not None and status.family == "diffusion_gemma":
        return ok("gemma", f"{status.model}: {'; '.join(status.notes)}")
    if not _is_installed("torch"):
        return ok("gemma", "needs torch, which is not installed")
    said = probe_torch(_GEMMA_PROBE).said
    return ok("gemma", said or "torch does not start")


def check_reading_speed() -> Finding:
    """Show how quickly the engine reads, and how much code of other files that allows."""
    try:
        tokens_per_s = asyncio.run(ask_status()).prefill_tokens_per_s
    except EngineError:  # the check of the engine says which
        tokens_per_s = None
    budget = f"up to {context_budget(tokens_per_s):,} tokens of other files before a hole"
    if tokens_per_s is None:
        return ok("reading", f"{budget} (speed not measured yet)")
    return ok("reading", f"{tokens_per_s:,.0f} tokens a second; {budget}")


def _running(status: Status) -> str:
    model = "no model loaded yet"
    if status.model is not None:
        model = f"{status.model} ({status.dtype} on {status.device})"
    return f"{status.state}, {model}, process {status.pid}"


def _what_and_advice(error: EngineError) -> tuple[str, str]:
    """Return the parts of an error: the engine's messages have advice after a colon."""
    what, _, advice = str(error).partition(": ")
    return what, advice or "see its log"


def check_remotes() -> Finding:
    """Ask each remote what it is. A faulty settings file is found here too."""
    try:
        remotes = list(read_remotes().values())
    except ModelError as error:
        what, _, advice = str(error).rpartition(": ")
        return missing("remotes", what, advice)
    if not remotes:
        return ok("remotes", "none: all is computed on this machine")
    probes = [probe(remote) for remote in remotes]
    usable = [one for one in probes if one.is_usable]
    named = [f"{one.remote.name} ({one.remote.address.shown})" for one in usable]
    found = f"{len(usable)} of {len(probes)} can fill holes" + "".join(f"; {n}" for n in named)
    problem = next((one.problem for one in probes if one.problem is not None), None)
    if problem is None:
        return ok("remotes", found)
    return note("remotes", found, problem)


_CONVERSION_FACTOR = 3.0
"""Size of the converted model over that of the downloaded file."""


def check_cache() -> Finding:
    """Check that the cache folder is writable and its disk has room for the model."""
    folder = cache_folder()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    found = f"{folder} ({size(free)} free)"
    weakness = weakness_of(folder) if nearest == folder else None
    if weakness is not None:
        return missing(
            "cache",
            str(weakness),
            f"{weakness.remedy}, or set INTARSIA_CACHE_DIR to a folder of your own",
        )
    if not os.access(nearest, os.W_OK):
        return missing(
            "cache",
            f"{found} cannot be written",
            "make it writable, or set INTARSIA_CACHE_DIR to a folder that is",
        )
    needed = _bytes_to_come(_default_model())
    if free < needed:
        return missing(
            "cache", found, f"{size(needed)} are needed: free some, or set INTARSIA_CACHE_DIR"
        )
    return ok("cache", found)


def check_model() -> Finding:
    """Check that the default model is downloaded and undamaged."""
    model = _default_model()
    path = downloaded_file(model)
    if not path.is_file():
        if _conversions():
            return ok("model", f"{model.name}, converted; the download is not kept")
        return missing("model", f"{model.name} is not downloaded", "run `intarsia pull`")
    if not has_digest(path, model.sha256):
        return missing(
            "model", f"{path} is damaged (wrong sha256)", "remove it and run `intarsia pull`"
        )
    return ok("model", f"{model.name}, verified ({size(model.num_bytes)})")


def check_conversion() -> Finding:
    """Check that the converted default model is as it was when this user converted it."""
    folders = _conversions()
    problem_of = load("intarsia.engine.model_store.gguf.convert").problem_of_conversion
    if not folders:
        return ok("conversion", "none yet; the first fill makes it")
    folder = max(folders, key=lambda it: it.stat().st_mtime)
    if (problem := problem_of(folder)) is not None:
        return note("conversion", problem, "the engine converts the model again when it loads it")
    if (problem := problem_of(folder, is_whole=True)) is not None:
        return missing(
            "conversion", problem, f"remove {folder}: the engine converts the model again"
        )
    return ok("conversion", f"{folder.name}, verified")


def check_drafter() -> Finding:
    """Check that the default model's drafter is bundled: without it a fill takes longer."""
    drafter = _default_model().drafter
    if drafter is not None and drafter.is_file():
        return ok("drafter", f"{drafter.name} ({size(drafter.stat().st_size)})")
    return missing("drafter", "not bundled with this installation", "install intarsia again")


def check_grammars() -> Finding:
    """Check that the grammar of every known language can be loaded."""
    broken = []
    for language in all_languages():
        if language.grammar:
            try:
                load_grammar(language.grammar)
            except (ImportError, AttributeError, ValueError) as error:
                broken.append(f"{language.id} ({error})")
    if not broken:
        return ok("languages", f"{len(all_languages())} grammars")
    return missing("languages", f"cannot be loaded: {', '.join(broken)}", "install intarsia again")


def _default_model() -> CatalogModel:
    model = find_model(DEFAULT_MODEL)
    assert model is not None, "the default model is a row of the catalog"
    return model


def _conversions() -> list[Path]:
    found: list[Path] = load("intarsia.engine.model_store.locate").catalog_folders(_default_model())
    return [folder for folder in found if folder.is_dir()]


def _bytes_to_come(model: CatalogModel) -> float:
    """Return the bytes that a download and a conversion will still write."""
    is_there = downloaded_file(model).is_file() or _conversions()
    return 0 if is_there else model.num_bytes * (1 + _CONVERSION_FACTOR)


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_packages,
    check_torch,
    check_processor,
    check_memory,
    check_cache,
    check_model,
    check_conversion,
    check_drafter,
    check_grammars,
    check_runtime_folder,
    check_engine,
    check_gemma,
    check_reading_speed,
    check_remotes,
)


def run_checks() -> Iterator[Finding]:
    """Yield the finding of each check; on a terminal a line says which is being made."""
    for check in CHECKS:
        words = check.__name__.replace("_", " ").replace("check", "checking", 1)
        with LoadBar(notices(), words):
            finding = check()
        yield finding


_SIGNS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "missing": ("missing", "bold red")}


@click.command("doctor")
@json_option
def command(as_json: bool) -> ExitCode:
    """Say what works here, what is missing and what to do. Exit code 1 if something is."""
    findings = []
    for finding in run_checks():
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
