"""Keep numba's compiled code in sealed files: only what this user's own programs wrote is run.

numba's own cache reads any file at its path with pickle, and maps what is in it as code.
"""

import hashlib
import logging
import platform
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps, loads

from intarsia.engine.cache.sealed_files import SealedFiles

_log = logging.getLogger(__name__)


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
