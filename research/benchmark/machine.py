"""Describe this machine in one line, since figures depend on it."""

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import psutil


def describe_machine() -> str:
    """Return processor, cores, memory and the versions that matter for speed."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = f"{psutil.virtual_memory().total / 1e9:.1f} GB"
    return (
        f"{_processor()}, {cores} cores, {memory}, {platform.system()}, "
        f"Python {platform.python_version()}, torch {version('torch')}, "
        f"intarsia {version('intarsia')}"
    )


def _processor() -> str:
    try:
        words = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    match = re.search(r"^model name\s*:\s*(.+)$", words, re.MULTILINE)
    return match[1] if match else platform.machine()
