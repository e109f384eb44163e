"""The product's language server with a rule engine: ``python rule_server.py OPTIONS``.

``OPTIONS`` is JSON with the arguments of ``rule_engine_launch``. ``on_battery`` is what psutil
tells of the computer instead of the truth.
"""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

import psutil
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.lsp.method_table import serve_stdio


@dataclass(frozen=True)
class RuleServer:
    """A server for the test's own process, with the options of ``rule_server_command``."""

    options: Mapping[str, object]


def rule_server(**options: object) -> RuleServer:
    """Return a server that runs in the test's process, as its engine does."""
    return RuleServer(options)


def rule_server_command(**options: object) -> tuple[str, ...]:
    """Return the command of a server that starts such an engine when it needs one."""
    return (sys.executable, __file__, json.dumps(options))


@contextlib.contextmanager
def launching(*, on_battery: bool = False, **engine: object) -> Iterator[LaunchOptions]:
    """Pretend a state of the computer; yield how to start the engine."""
    battery = SimpleNamespace(power_plugged=False)
    pretended = patch.object(psutil, "sensors_battery", lambda: battery)
    with pretended if on_battery else contextlib.nullcontext():
        yield rule_engine_launch(**engine)


def main() -> int:
    with launching(**json.loads(sys.argv[1])) as launch:
        return serve_stdio(launch)


if __name__ == "__main__":
    sys.exit(main())
