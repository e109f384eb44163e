"""Compile kernels beside other work, and keep them: only the first start on a machine does so.

Compiled kernels are code. So they are kept only in a folder that is the user's alone, up to the
root, and each file is sealed with the user's key: numba's own cache reads any file at its path with
pickle, and maps what is in it as code. The folder's name changes with the kernels' source.

On common processors the package has the code (``prebuilt.py``): nothing is compiled or kept.

A seal shows that code is what was written. It cannot show that it runs here: a virtual machine may
have moved to another processor. So a first run that ends the process leaves a mark, and the next
process compiles its own.
"""

import contextlib
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from llvmlite import binding

from intarsia.engine.cache.own_file import SealedFiles, open_seals
from intarsia.engine.ipc.ownership import make_own_folder
from intarsia.engine.kernels.prebuilt import prebuilt_codes, source_digest
from intarsia.engine.kernels.processor import dot_product

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
    """Return whether a process has died in ``first_run`` since this was last asked."""
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


Result = TypeVar("Result")

KERNELS = ("quantize_columns", "unpack_blocks", "run_output", "run_layers")
_AT_ONCE = (KERNELS[:3], KERNELS[3:])
"""The kernels of a row are compiled in turn, the rows at once. A conversion needs the first row."""

_SUFFIX = ".kernel"
_CHOICES = ("NAME", "FEATURES")  # numba's variables, with which users choose a processor


_kept: SealedFiles | None = None  # of the process, as numba's compiled functions are
_reason: str | None = None  # why nothing is kept
_may_be_prebuilt = False


def keep_compiled(folder: Path) -> None:
    """Keep compiled kernels under ``folder``; call this before the first kernel runs.

    Where the folder is not safe, nothing is kept and each process compiles its own. Only the first
    folder counts.
    """
    global _kept, _reason, _may_be_prebuilt  # noqa: PLW0603
    if _kept is not None or _reason is not None:
        return
    try:
        _kept = open_files(folder / source_digest())
    except OSError as error:
        _reason = error.strerror or str(error)
        _log.warning("compiled kernels are not kept: %s", _reason)
        return
    _may_be_prebuilt = not has_crashed(_kept.folder)
    if not _may_be_prebuilt:
        _log.warning("a process died of the compiled kernels in %s: compiled again", _kept.folder)
        _kept.clear()


def why_not_kept() -> str | None:
    """Return why compiled kernels are not kept, None if they are, or if none was asked for."""
    return _reason


def run_compiled(work: Callable[[], Result]) -> Result:
    """Run ``work``, which may compile kernels or load kept ones.

    Should the process die of kept ones, the next process drops them and compiles its own.
    """
    if _kept is None or (_kept.is_empty() and not _prebuilt()):
        return work()
    with first_run(_kept.folder):
        return work()


def open_files(folder: Path) -> SealedFiles:
    """Return the kept kernels. Raises OSError where others could change them."""
    seals = open_seals()
    if seals is None:
        raise PermissionError("there is no folder for the key that seals them")
    if (weakness := make_own_folder(folder)) is not None:
        raise PermissionError(f"{weakness}: {weakness.remedy}")
    return SealedFiles(folder, seals, suffix=_SUFFIX)


def _prebuilt() -> dict[str, bytes]:
    """Return the code that came with the package, {} where a crash would not be noticed."""
    chosen = any(f"NUMBA_CPU_{part}" in os.environ for part in _CHOICES)
    return prebuilt_codes() if _may_be_prebuilt and not chosen else {}


_codes: dict[str, Future[bytes]] = {}  # of the process
_one_at_a_time = threading.Lock()


def code_of(name: str) -> bytes:
    """Return a kernel's compiled code: what was kept, or what is compiled now, with all others.

    Raises RuntimeError where it cannot be compiled.
    """
    begin_compiling()
    return _codes[name].result()


def begin_compiling() -> None:
    """Find or compile the code of all kernels beside other work, unless that has begun."""
    with _one_at_a_time:
        if not _codes:
            for names in _AT_ONCE:
                _codes.update((each, Future()) for each in names)
                threading.Thread(target=_find_codes, args=(names,), daemon=True).start()


def _find_codes(names: tuple[str, ...]) -> None:
    for name in names:
        try:
            _codes[name].set_result(_find_code(name))
        except BaseException as error:  # noqa: BLE001 - who waits for it is told
            _codes[name].set_exception(error)


def _find_code(name: str) -> bytes:
    file = _file_of(name)
    if _kept is not None and (code := _kept.read(file)) is not None:
        return code
    if (code := _prebuilt().get(name)) is not None:
        return code
    code = compile_kernel(name, dot_product().name)
    if _kept is not None:
        try:
            _kept.write(file, code)
        except OSError as error:
            _log.warning(
                "compiled code is not kept: %s cannot be written (%s)", _kept.folder, error.strerror
            )
    return code


def compile_kernel(name: str, product: str, environment: Mapping[str, str] = {}) -> bytes:
    """Return what a process of the compiler writes, for a dot product. Raises RuntimeError."""
    command = [sys.executable, "-P", "-m", "intarsia.engine.kernels.compiled"]
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [*command, name, product],
            cwd=folder,  # not the user's project
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise RuntimeError(f"the compiler ended with {done.returncode}: {lines[-1]}")
    return done.stdout


def _file_of(name: str) -> str:
    """Return the name of a kernel's file: of this processor, its use and the compiler."""
    chosen = [os.environ.get(f"NUMBA_CPU_{part}") for part in _CHOICES]
    host = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    versions = (sys.version_info[:2], version("numba"), version("llvmlite"))
    about = repr((host, chosen, dot_product(), binding.get_process_triple(), versions))
    return f"{name}-{hashlib.sha256(about.encode()).hexdigest()[:32]}"
