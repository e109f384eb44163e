"""The product's language server and engine without compiled kernels, which take a minute to make.

The weights stay a view of the model's file: ``python plain_server.py``.
"""

import sys

from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.lsp.method_table import serve_stdio

PLAIN_SERVER = (sys.executable, __file__)
ENGINE = (sys.executable, "-P", "-m", "intarsia.engine", "--dtype", "float32")

if __name__ == "__main__":
    sys.exit(serve_stdio(LaunchOptions(command=ENGINE)))
