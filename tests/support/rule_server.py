"""The product's language server with a rule engine: ``python rule_server.py OPTIONS``.

``OPTIONS`` is JSON with the arguments of ``rule_engine_launch``. ``on_battery`` and
``load_per_core`` are what psutil tells of the computer instead of the truth.
"""

import json
import os
import sys
from types import SimpleNamespace

import psutil
from rule_engine import rule_engine_launch

from intarsia.lsp.features import serve_stdio


def rule_server_command(**options: object) -> tuple[str, ...]:
    """Return the command of a server that starts such an engine when it needs one."""
    return (sys.executable, __file__, json.dumps(options))


def _pretend(*, on_battery: bool, load_per_core: float | None) -> None:
    if on_battery:
        psutil.sensors_battery = lambda: SimpleNamespace(power_plugged=False)
    if load_per_core is not None:
        load = load_per_core * (os.cpu_count() or 1)
        psutil.getloadavg = lambda: (load, load, load)


def main() -> int:
    """Serve; return the exit code."""
    options = json.loads(sys.argv[1])
    _pretend(
        on_battery=options.pop("on_battery", False),
        load_per_core=options.pop("load_per_core", None),
    )
    return serve_stdio(rule_engine_launch(**options))


if __name__ == "__main__":
    sys.exit(main())
