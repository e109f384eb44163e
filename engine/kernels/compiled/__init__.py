"""The source of the kernels, which numba compiles in a process of its own (``__main__``).

``forward.run_layers`` is the pass, ``int8_product.multiply`` one product, ``work_units`` how
threads share both.
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
