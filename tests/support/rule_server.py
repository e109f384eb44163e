"""The product's language server with a rule engine: ``python rule_server.py OPTIONS``.

``OPTIONS`` is JSON with the arguments of ``rule_engine_launch``.
"""

import json
import sys

from rule_engine import rule_engine_launch

from intarsia.lsp.features import serve_stdio


def rule_server_command(**options: object) -> tuple[str, ...]:
    """Return the command of a server that starts such an engine when it needs one."""
    return (sys.executable, __file__, json.dumps(options))


if __name__ == "__main__":
    sys.exit(serve_stdio(rule_engine_launch(**json.loads(sys.argv[1]))))
