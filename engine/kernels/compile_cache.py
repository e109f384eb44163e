"""Keep compiled kernels on disk, so that only the first start on a machine compiles them.

Their folder's name changes with these source files: numba itself checks only the file of the
function that it keeps. numba reads them with pickle, so a folder where other users may write is not
used.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba

from intarsia.engine.kernels.forward import run_layers, run_output
from intarsia.engine.kernels.int8_matrix import quantize_columns

Result = TypeVar("Result")

_ENTRY_POINTS = (quantize_columns, run_layers, run_output)  # kernels that Python calls
_WRITABLE_BY_OTHERS = 0o022

_kept_in: Path | None = None  # of the process, as numba's compiled functions are


def keep_compiled(folder: Path) -> None:
    """Keep compiled kernels under ``folder``; call this before the first kernel runs.

    Where the folder is not safe, nothing is kept and each process compiles its own. Only the first
    folder counts.
    """
    global _kept_in  # noqa: PLW0603
    if _kept_in is not None:
        return
    _kept_in = _safe_folder(folder / _source_digest())
    if _kept_in is None:
        return
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_kept_in)
    try:
        for kernel in _ENTRY_POINTS:
            kernel.enable_caching()
    finally:
        numba.config.CACHE_DIR = previous


def run_compiled(work: Callable[[], Result]) -> Result:
    """Run ``work``, which may compile kernels or load kept ones.

    If it fails, the kept kernels may be damaged: they are deleted, and ``work`` runs once more.
    """
    try:
        return work()
    except Exception:
        if _kept_in is None:
            raise
        for file in _kept_in.rglob("*"):
            if file.is_file():
                file.unlink(missing_ok=True)
        return work()


def _source_digest() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _safe_folder(folder: Path) -> Path | None:
    """Make the folder; return None where it is not ours alone or cannot be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    is_ours = os.name == "nt" or (
        status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS
    )
    return folder if is_ours and os.access(folder, os.W_OK) else None
