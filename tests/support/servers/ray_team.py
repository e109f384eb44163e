"""A team's engine on Ray Serve, started as docs/team.md says, on 127.0.0.1 alone."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml
from checkout import ROOT
from local_server import free_port
from prometheus_client.parser import text_string_to_metric_families

from intarsia.engine.team.keys import line_of, new_key

RAY = ROOT / "build" / "servers" / "ray"
WAIT_S = 240.0


@dataclass(kw_only=True)
class RayTeam:
    """A running one. ``keys`` are of user0, user1 and so on."""

    folder: Path
    port: int
    gcs_port: int
    keys: list[str]
    import_path: str | None  # of another application than that of the configuration
    args: Mapping[str, object]  # that replace those of the configuration
    head: subprocess.Popen[bytes]
    commands: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def configure(self, deployment: Mapping[str, Any]) -> None:
        """Have Ray run our configuration; ``deployment`` replaces what it says of the replicas."""
        path = _configuration(self, deployment)
        command = [_program("serve"), "run", "--address", f"127.0.0.1:{self.gcs_port}", str(path)]
        self.commands.append(_start(self.folder, command))

    def run(self, script: Path) -> None:
        command = [_program("python"), str(script), f"127.0.0.1:{self.gcs_port}"]
        assert _start(self.folder, command).wait(WAIT_S) == 0, self.log()

    def request(
        self, method: str, path: str, key: str | None = None, body: object = None
    ) -> http.client.HTTPResponse:
        """Return the answer, with its body unread, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse()

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the samples without other labels, or summed over them, by replica and name."""
        answer = self.request("GET", "/metrics", self.keys[0])
        text = answer.read().decode()
        assert answer.status == 200, text
        values: dict[str, dict[str, float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                of_replica = values.setdefault(sample.labels["replica"], {})
                of_replica[sample.name] = of_replica.get(sample.name, 0.0) + sample.value
        return values

    def replicas(self) -> list[psutil.Process]:
        found = []
        for process in psutil.Process(self.head.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "".join(process.cmdline()).startswith("ray::ServeReplica:team:"):
                    found.append(process)
        return found

    def wait_until_ready(self, num_replicas: int) -> float:
        """Wait until ``num_replicas`` serve; return the seconds that took."""
        began = time.monotonic()
        while time.monotonic() - began < WAIT_S:
            with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
                ready = [row for row in self.metrics().values() if row["intarsia_ready"] == 1]
                if len(ready) >= num_replicas:
                    return time.monotonic() - began
            assert self.head.poll() is None, self.log()
            time.sleep(0.1)
        raise AssertionError(f"no {num_replicas} replicas: {self.log()}")

    def log(self) -> str:
        of_ray = (self.folder / "ray" / "session_latest" / "logs").glob("serve/[cp]*.log")
        names = [*self.logs.glob("*.log"), *of_ray]
        return "\n".join(path.read_text(errors="replace")[-3_000:] for path in names)


@contextmanager
def ray_team(
    *,
    num_users: int,
    deployment: Mapping[str, Any] | None = None,
    import_path: str | None = None,
    **args: object,
) -> Iterator[RayTeam]:
    """Start Ray and our configuration of it, and wait for the first replica.

    ``deployment`` and ``args`` replace what the configuration says of the deployment and of the
    engine's options.
    """
    _link_packages()
    # In /tmp: Ray makes Unix sockets below it, and their paths have a short limit.
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    port = free_port()
    team = RayTeam(
        folder=folder,
        port=free_port(),
        gcs_port=port,
        keys=[new_key() for _ in range(num_users)],
        import_path=import_path,
        args=args,
        head=_start_ray(folder, port),
    )
    try:
        _wait_for_port(port, team)
        team.configure(deployment or {})
        team.wait_until_ready(1)
        yield team
    finally:
        _end(team)
        shutil.rmtree(folder, ignore_errors=True)


def _link_packages() -> None:
    """Let Ray's environment see intarsia and what it requires, as they are in this one.

    Its own packages come first. A .pth file counts in every process that Ray starts.
    """
    [site_packages] = RAY.glob("lib/python3*/site-packages")
    ours = sysconfig.get_path("purelib")
    (site_packages / "intarsia.pth").write_text(f"import site; site.addsitedir({ours!r})\n")


def _configuration(team: RayTeam, deployment: Mapping[str, Any]) -> Path:
    keys = team.folder / "team.keys"
    keys.write_text("".join(line_of(f"user{i}", key) for i, key in enumerate(team.keys)))
    keys.chmod(0o600)
    values = yaml.safe_load((ROOT / "deploy" / "ray" / "serve.yaml").read_text())
    values["http_options"]["port"] = team.port
    [application] = values["applications"]
    application["args"] |= {"keys": str(keys), **team.args}
    if team.import_path is not None:
        application["import_path"] = team.import_path
    [replica] = application["deployments"]
    replica |= {"ray_actor_options": {"num_cpus": 1}, **deployment}
    path = team.folder / "serve.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def _start_ray(folder: Path, port: int) -> subprocess.Popen[bytes]:
    (folder / "logs").mkdir()
    (folder / "token").write_text(new_key())
    (folder / "token").chmod(0o600)
    command = f"start --head --block --node-ip-address 127.0.0.1 --port {port} --num-cpus 2"
    ports = "--min-worker-port 0 --max-worker-port 0 --include-dashboard=false"
    memory = f"--object-store-memory 100000000 --temp-dir {folder / 'ray'}"
    agent = f"--dashboard-agent-listen-port {free_port()} --ray-client-server-port {free_port()}"
    words = f"{command} {ports} {memory} {agent}".split()
    return _start(folder, [_program("ray"), *words])


def _start(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "RAY_SERVE_SESSION_ID_HEADER_KEY": "authorization",
        "PYTHONPATH": str(Path(__file__).parent),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
    }
    with (folder / "logs" / f"{Path(command[0]).name}.log").open("ab") as log:
        return subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder
        )


def _end(team: RayTeam) -> None:
    processes = psutil.Process(team.head.pid).children(recursive=True)
    for command in team.commands:
        command.kill()  # that alone would leave what it has deployed
        command.wait()
    team.head.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        team.head.wait(20)
    team.head.kill()
    team.head.wait()
    for left in processes:
        with contextlib.suppress(psutil.Error):
            left.kill()


def _program(name: str) -> str:
    return str(RAY / "bin" / name)


def _wait_for_port(port: int, team: RayTeam) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and team.head.poll() is None:
        with contextlib.suppress(OSError), closing(socket.create_connection(("127.0.0.1", port))):
            return
        time.sleep(0.1)
    raise AssertionError(f"Ray does not start: {team.log()}")
