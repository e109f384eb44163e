"""``python -m intarsia.lsp``: the language server on standard input and output."""

import logging
import sys

from intarsia.lsp.method_table import serve_stdio

if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    sys.exit(serve_stdio())
