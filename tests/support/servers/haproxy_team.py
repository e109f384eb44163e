"""Two engines of a small model behind HAProxy, with the configuration that we ship."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from checkout import ROOT
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.team.keys import line_of, new_key

HAPROXY_CONFIG = ROOT / "deploy" / "haproxy" / "haproxy.cfg"
WAIT_S = 120


@dataclass(kw_only=True)
class HaproxyTeam:
    """The running processes. ``ports`` are of the engines; ``port`` is the proxy's."""

    port: int
    ports: list[int]
    keys: list[str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)


def free_port() -> int:
    """Return a port of loopback that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(port: int, path: str = "/readyz") -> None:
    """Return once a server answers 200 there."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", path)
                if connection.getresponse().status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"port {port} is not ready")


@contextmanager
def haproxy_team(folder: Path, *, num_users: int) -> Iterator[HaproxyTeam]:
    """Run them until the block ends; whatever is in ``processes`` then is killed."""
    model = save_toy(folder / "model", toy_causal_model("qwen2"))
    keys = [new_key() for _ in range(num_users)]
    path = folder / "keys"
    path.write_text("".join(line_of(f"user{i}", key) for i, key in enumerate(keys)))
    path.chmod(0o600)
    team = HaproxyTeam(port=free_port(), ports=[free_port(), free_port()], keys=keys)
    serve = [sys.executable, "-P", "-m", "intarsia.cli", "team", "serve", "--keys", str(path)]
    model_options = ["--model", str(model), "--dtype", "float32", "--per-minute", "100000"]
    options = [*model_options, "--drain", "1"]
    one, two = (f"127.0.0.1:{port}" for port in team.ports)
    bind = {"FILL_BIND": f"127.0.0.1:{team.port}", "ENGINE_ONE": one, "ENGINE_TWO": two}
    try:
        for port in team.ports:
            team.processes.append(_start([*serve, *options, "--port", str(port)], {}))
        for port in team.ports:
            wait_until_ready(port)
        team.processes.append(_start(["haproxy", "-f", str(HAPROXY_CONFIG), "-db"], bind))
        wait_until_ready(team.port)
        yield team
    finally:
        for process in team.processes:
            process.kill()
            process.wait()


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet)
