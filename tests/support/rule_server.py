"""The product's language server before a rule engine: ``python rule_server.py OPTIONS``.

``OPTIONS`` is JSON, read as ``rule_engine_launch`` takes it.
"""

import json
import sys

from rule_engine import rule_engine_launch

from intarsia.lsp.features import serve_stdio


def rule_server_command(**options: object) -> tuple[str, ...]:
    """Return the command of a server that starts such an engine on demand."""
    return (sys.executable, __file__, json.dumps(options))


if __name__ == "__main__":
    sys.exit(serve_stdio(rule_engine_launch(**json.loads(sys.argv[1]))))
