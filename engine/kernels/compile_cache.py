"""Keep compiled kernels on disk, so that only the first start on a machine compiles them.

Compiled kernels are code. So they are kept only in a folder that is the user's alone, up to the
root, and each file is sealed with the user's key: numba's own cache reads any file at its path with
pickle, and maps what is in it as code. The folder's name changes with these source files.

A seal shows that code is what was written. It cannot show that it runs here: a virtual machine may
have moved to another processor. So a first run that ends the process leaves a mark.
"""

import contextlib
import hashlib
import logging
import platform
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from filelock import FileLock, Timeout
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps, loads

from intarsia.engine.cache.own_file import SealedFiles, open_seals
from intarsia.engine.ipc.ownership import make_own_folder
from intarsia.engine.kernels.forward import run_layers, run_output
from intarsia.engine.kernels.int8_matrix import quantize_columns

_MARK_PREFIX, _MARK_SUFFIX = "first-run-", ".lock"

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def first_run(folder: Path) -> Iterator[None]:
    """Leave a mark in the folder if the process ends while the block runs.

    The mark is a lock file: the system frees the lock however the process ends.
    """
    mark = folder / f"{_MARK_PREFIX}{uuid.uuid4().hex}{_MARK_SUFFIX}"
    lock = FileLock(mark)
    try:
        lock.acquire(timeout=0)
    except (OSError, NotImplementedError) as error:  # a full disk, or one without locks
        _log.warning("a crash of kept code would not be noticed: %s", error)
        yield
        return
    try:
        yield
    finally:
        lock.release()
        _remove(mark)


def has_crashed(folder: Path) -> bool:
    """Tell whether a process died in ``first_run`` since this was asked last."""
    marks = list(folder.glob(f"{_MARK_PREFIX}*{_MARK_SUFFIX}"))
    return any([_take_mark(mark) for mark in marks])


def _take_mark(mark: Path) -> bool:
    """Remove the mark of a process that is gone; return whether it is."""
    lock = FileLock(mark)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError, NotImplementedError):
        return False
    lock.release()
    _remove(mark)
    return True


def _remove(mark: Path) -> None:
    with contextlib.suppress(OSError):
        mark.unlink()


class KeptCode(_Cache):
    """The compiled code of one kernel, for all types of its arguments."""

    def __init__(self, kernel: Any, files: SealedFiles) -> None:
        self._kernel = kernel
        self._files = files
        self._is_enabled = True

    @property
    def cache_path(self) -> str:
        return str(self._files.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return kept code, None without any. What cannot be loaded is removed, and made again."""
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        content = self._files.read(name) if self._is_enabled else None
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *loads(content))
        except Exception as error:  # noqa: BLE001 - of another numba, in whatever way
            _log.warning("kept code of %s cannot be loaded (%r): compiled again", name, error)
            self._files.remove(name)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, where there is room for it."""
        if not self._is_enabled or data.library.has_dynamic_globals:
            return
        try:
            self._files.write(self._name(sig, data.codegen), dumps(data._reduce()))
        except OSError as error:
            _log.warning(
                "compiled code is not kept: %s cannot be written (%s)",
                self._files.folder,
                error.strerror,
            )

    def enable(self) -> None:
        self._is_enabled = True

    def disable(self) -> None:
        self._is_enabled = False

    def flush(self) -> None:
        self._files.clear()

    def _name(self, sig: Any, codegen: Any) -> str:
        """Return a name for this code: of this kernel and types, processor and compiler."""
        function = self._kernel.py_func
        versions = (platform.python_version(), numba.__version__, llvmlite.__version__)
        about = repr((function.__module__, function.__qualname__, sig, codegen.magic_tuple()))
        digest = hashlib.sha256(f"{versions}\n{about}".encode()).hexdigest()
        return f"{function.__name__}-{digest[:32]}"


Result = TypeVar("Result")

_ENTRY_POINTS = (quantize_columns, run_layers, run_output)  # kernels that Python calls
_SUFFIX = ".kernel"


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
    """Return the kept kernels, none if a process died of these. Raises OSError."""
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
