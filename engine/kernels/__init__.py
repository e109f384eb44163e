"""Kernels of a forward pass through int8 weights on the CPU, compiled by numba at the first use.

``forward.run_layers`` is the pass, ``int8_product.multiply`` one product, ``operands`` what they
take, ``work_units.ThreadTeam`` what runs them. ``compile_cache.keep_compiled`` keeps compiled code
for the next start; importing this folder compiles nothing and reads no processor flags.
"""

import contextlib
import importlib
import os
from pathlib import Path

# It would read ``.numba_config.yaml`` of the current folder: a workspace could switch the compiler
# off. Where that folder is gone, nothing is read there.
with contextlib.suppress(OSError), contextlib.chdir(Path(__file__).parent):
    importlib.import_module("numba")
config = importlib.import_module("numba.core.config")
vars(config)["_config_fname"] = os.devnull  # nor is it read when something is compiled
