"""Kernels of a forward pass through int8 weights on the CPU, compiled by numba at the first use.

``forward.run_layers`` is the pass, ``int8_product.multiply`` one product, ``operands`` what they
take, ``threads.ThreadTeam`` what runs them. ``compile_cache.keep_compiled`` keeps the compiled code
for the next start; importing this folder compiles nothing and reads no processor flags.
"""

import contextlib
import importlib
import os
from pathlib import Path


def _import_numba() -> None:
    """Import numba so that no file of the current folder configures it, now or at a compilation.

    It would read ``.numba_config.yaml`` there: a workspace could switch the compiler off.
    """
    with contextlib.suppress(OSError), contextlib.chdir(Path(__file__).parent):
        importlib.import_module("numba")
    import numba.core.config as config  # where the current folder is gone, nothing is read there

    config._config_fname = os.devnull


_import_numba()
