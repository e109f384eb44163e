"""The language server with a rule engine, and less patience: ``python fault_server.py OPTIONS``.

``OPTIONS`` is JSON with the arguments of ``rule_engine_launch``. Only the waits are shorter than in
the product, so that a test of a hung engine takes seconds.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from rule_engine import rule_engine_launch

from intarsia.engine.ipc import client, connection
from intarsia.lsp.method_table import serve_stdio
from intarsia.workspace.process.client import IndexClient

GRACE_S, STATUS_S, MAX_QUIET_S = 0.5, 2.0, 1.5


def be_impatient() -> None:
    """Shorten the waits of this process for an engine that hangs."""
    connection.GRACE_S = GRACE_S
    connection.STATUS_S = client.GREETING_S = STATUS_S
    connection.ASK_EVERY_S = GRACE_S
    connection.MAX_QUIET_S = connection.HANGS_AFTER_S = MAX_QUIET_S
    connection.CONFIRM_S = GRACE_S
    client.MAX_BUSY_S = STATUS_S
    IndexClient.__init__.__kwdefaults__["hang_s"] = MAX_QUIET_S


def fault_server_command(**options: object) -> tuple[str, ...]:
    return (sys.executable, __file__, json.dumps(options))


if __name__ == "__main__":
    be_impatient()
    sys.exit(serve_stdio(rule_engine_launch(**json.loads(sys.argv[1]))))
