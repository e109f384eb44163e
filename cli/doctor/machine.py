"""Check this machine: Python, packages, torch, processor and memory.

Each check returns what it found and, if something is missing, what to do. None changes anything.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

import psutil

from intarsia.cli.doctor.finding import Finding, missing, note, ok
from intarsia.cli.terminal import size

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
_TORCH_TIMEOUT_S = 120


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
    """Check that torch starts, and where it computes."""
    if not _is_installed("torch"):
        return missing("torch", "not installed", "install intarsia again")
    probe = probe_torch()
    if probe.error:
        return missing(
            "torch",
            f"{version('torch')} does not start: {probe.error}",
            "install torch again, in the build for this machine (see pytorch.org)",
        )
    return ok("torch", f"{version('torch')}, computes on {probe.device}")


def check_processor() -> Finding:
    """Check in which number format the processor computes."""
    cores = f"{psutil.cpu_count(logical=False) or os.cpu_count()} cores"
    if not _is_installed("numba"):
        return note("processor", f"{cores}, computes in float32", "install intarsia again")
    from intarsia.engine.kernels.vector_writer import find_dot_product  # it loads a compiler

    if instructions := find_dot_product():
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
    """Where torch computes. ``error``: the last line of a torch that did not start."""

    device: str = ""
    error: str = ""


def probe_torch() -> TorchProbe:
    """Return where torch computes here, or why it does not start."""
    try:
        # With -P in an empty folder, so that no torch.py of the user is imported.
        with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
            done = subprocess.run(
                [sys.executable, "-P", "-c", _TORCH_PROBE],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_TORCH_TIMEOUT_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return TorchProbe(error=f"no answer within {_TORCH_TIMEOUT_S} s")
    if done.returncode == 0:
        return TorchProbe(device=done.stdout.strip())
    last_lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return TorchProbe(error=last_lines[-1])


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
