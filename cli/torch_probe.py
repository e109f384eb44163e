"""Starts torch in a process of its own, to learn whether it works and on what it computes."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass

_PROGRAM = """
import torch
if torch.cuda.is_available():
    print(torch.cuda.get_device_name())
elif torch.backends.mps.is_available():
    print("the Apple GPU (mps)")
else:
    print(f"the processor ({torch.get_num_threads()} threads)")
"""
_PATIENCE_S = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchProbe:
    """``error``: the last words of a torch that did not start."""

    device: str = ""
    error: str = ""


def probe_torch() -> TorchProbe:
    """Return where torch computes here, or why it does not start."""
    try:
        done = _run_probe()
    except subprocess.TimeoutExpired:
        return TorchProbe(error=f"no sign of life within {_PATIENCE_S} s")
    if done.returncode == 0:
        return TorchProbe(device=done.stdout.strip())
    last_words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return TorchProbe(error=last_words[-1])


def _run_probe() -> subprocess.CompletedProcess[str]:
    """-P and an empty folder: a torch.py in the user's folder is not torch."""
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        return subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
