"""Keep compiled kernels on disk, so that only the first start on a machine compiles them.

Compiled kernels are code. So they are kept only in a folder that is the user's alone, up to the
root, and each file is sealed with the user's key. The folder's name changes with these source
files.
"""

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from intarsia.engine.cache.seal import open_seals
from intarsia.engine.cache.sealed_files import SealedFiles
from intarsia.engine.ipc.ownership import make_own_folder
from intarsia.engine.kernels.crash_guard import first_run, has_crashed
from intarsia.engine.kernels.forward import run_layers, run_output
from intarsia.engine.kernels.int8_matrix import quantize_columns
from intarsia.engine.kernels.kept_code import KeptCode

Result = TypeVar("Result")

_ENTRY_POINTS = (quantize_columns, run_layers, run_output)  # kernels that Python calls
_SUFFIX = ".kernel"

_log = logging.getLogger(__name__)

_kept: SealedFiles | None = None  # of the process, as numba's compiled functions are
_reason: str | None = None  # why nothing is kept


def keep_compiled(folder: Path) -> None:
    """Keep compiled kernels under ``folder``; call this before the first kernel runs.

    Where the folder is not safe, nothing is kept and each process compiles its own. Only the first
    folder counts.
    """
    global _kept, _reason  # noqa: PLW0603
    if _kept is not None or _reason is not None:
        return
    try:
        _kept = open_files(folder / _source_digest())
    except OSError as error:
        _reason = error.strerror or str(error)
        _log.warning("compiled kernels are not kept: %s", _reason)
        return
    for kernel in _ENTRY_POINTS:
        kernel._cache = KeptCode(kernel, _kept)


def why_not_kept() -> str | None:
    """Return why compiled kernels are not kept, None if they are, or if none was asked for."""
    return _reason


def run_compiled(work: Callable[[], Result]) -> Result:
    """Run ``work``, which may compile kernels or load kept ones.

    Should the process die of kept ones, the next process drops them and compiles its own.
    """
    if _kept is None or _kept.is_empty():
        return work()
    with first_run(_kept.folder):
        return work()


def open_files(folder: Path) -> SealedFiles:
    """Return the files of kept kernels, none if a process died of these.

    Raises OSError where the folder is not the user's alone, or cannot be written.
    """
    seals = open_seals()
    if seals is None:
        raise PermissionError("there is no folder for the key that seals them")
    if (weakness := make_own_folder(folder)) is not None:
        raise PermissionError(f"{weakness}: {weakness.remedy}")
    files = SealedFiles(folder, seals, suffix=_SUFFIX)
    if has_crashed(folder):
        _log.warning("a process died of the compiled kernels in %s: compiled again", folder)
        files.clear()
    return files


def _source_digest() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
