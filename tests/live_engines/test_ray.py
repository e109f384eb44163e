"""A team's engine on Ray Serve with two replicas of the default model: what users see of it.

`make build/servers/ray/.ready` installs Ray.
"""

import contextlib
import http.client
import itertools
import json
import os
import shutil
import socket
import statistics
import subprocess
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import mortal_team
import psutil
import pytest
import yaml
from checkout import ROOT
from local_server import free_port
from prometheus_client.parser import text_string_to_metric_families
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.remote.fill.team import TeamSession
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.remote.http.remotes import find_remote
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
    metrics_key: str = field(default_factory=new_key)
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

    def request(self, method, path, key=None, body=None) -> http.client.HTTPResponse:
        """Return the answer, with its body unread, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse()

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the samples without other labels, or summed over them, by replica and name."""
        answer = self.request("GET", "/metrics", self.metrics_key)
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

    def wait_until_ready(self, num_replicas: int) -> None:
        began = time.monotonic()
        while time.monotonic() - began < WAIT_S:
            with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
                ready = [row for row in self.metrics().values() if row["intarsia_ready"] == 1]
                if len(ready) >= num_replicas:
                    return
            assert self.head.poll() is None, self.log()
            time.sleep(0.1)
        raise AssertionError(f"no {num_replicas} replicas: {self.log()}")

    def log(self) -> str:
        of_ray = (self.folder / "ray" / "session_latest" / "logs").glob("serve/[cp]*.log")
        names = [*self.logs.glob("*.log"), *of_ray]
        return "\n".join(path.read_text(errors="replace")[-3_000:] for path in names)


@contextmanager
def ray_team(*, num_users, deployment=None, import_path=None, **args) -> Iterator[RayTeam]:
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
    users = {f"user{i}": key for i, key in enumerate(team.keys)} | {"metrics": team.metrics_key}
    keys.write_text("".join(line_of(name, key) for name, key in users.items()))
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
        "PYTHONPATH": str(Path(mortal_team.__file__).parent),
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


_DOCSTRING = '"""Return the lines of a file, each with its number."""'
_PREFIX = f"import os\n\n\ndef read(path):\n    {_DOCSTRING}\n"

_CANCELLED_AT = "intarsia_last_cancel_timestamp_seconds"


def long_fill(*, max_tokens: int) -> dict[str, object]:
    return {
        "id": 1,
        "prefix": _PREFIX,
        "suffix": "\n\nprint(read('a'))\n",
        "max_tokens": max_tokens,
        "watch": True,
        "fresh": True,
        "decoding": "autoregressive",
    }


def cancel_lag_ms(team: RayTeam) -> tuple[float, float]:
    """Begin a fill, close its connection after four passes, and wait until its model has left it.

    Return the longest pass that was seen, and the time from the close to the model's last work.
    Both clocks are of one machine.
    """
    before = _cancelled_at(team)
    with closing(http.client.HTTPConnection("127.0.0.1", team.port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {team.keys[0]}"}
        connection.request("POST", "/v1/fill", json.dumps(long_fill(max_tokens=200)), headers)
        answer = connection.getresponse()
        times: list[float] = []
        while len(times) < 5:
            line = answer.readline()
            assert line, "the fill has ended already"
            if line.startswith(b"event: step"):
                times.append(time.time())
        answer.close()
        connection.close()
        closed_at = time.time()
    end = closed_at + 30
    while (cancelled_at := _cancelled_at(team)) <= before:
        assert time.time() < end, "the fill was not cancelled"
        time.sleep(0.05)
    gaps = [after - before for before, after in pairwise(times)]
    return 1000 * max(gaps), 1000 * (cancelled_at - closed_at)


def _cancelled_at(team: RayTeam) -> float:
    return max(row[_CANCELLED_AT] for row in team.metrics().values())


TYPING_WAIT_S = 120.0


class Attempt(NamedTuple):
    """One request. Times are of time.monotonic()."""

    began_at: float
    ended_at: float
    is_cut_off: bool


def small_hole(number: int = 0) -> Fill:
    """Return one of many holes that take a few passes."""
    prefix = f'def add_{number}(a, b):\n    """Return the sum."""\n    return '
    return Fill(id=1, prefix=prefix, suffix="\n", stop=("\n",), max_tokens=12)


class _Typing:
    """Users who fill one hole after another, each on a thread of its own."""

    def __init__(self, remotes: Sequence[RemoteFiller]) -> None:
        self.attempts: list[Attempt] = []
        self.faults: list[Exception] = []
        self._texts: list[str] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._type, args=[filler]) for filler in remotes]

    @contextmanager
    def running(self) -> Iterator[None]:
        with patch.object(TeamSession, "fill", self._noted(TeamSession.fill)):
            for thread in self._threads:
                thread.start()
            try:
                yield
            finally:
                self._stop.set()
                for thread in self._threads:
                    thread.join(TYPING_WAIT_S)

    def wait_for_more(self, count: int) -> None:
        end, target = time.monotonic() + TYPING_WAIT_S, len(self._texts) + count
        while len(self._texts) < target:
            assert time.monotonic() < end, self.faults
            time.sleep(0.02)

    def _type(self, filler: RemoteFiller) -> None:
        for number in itertools.count():
            if self._stop.is_set():
                return
            control = FillControl(on_step=(lambda _: None) if number % 2 else None)
            try:
                self._texts.append(filler.fill(small_hole(number), control).text)
            except ModelError as error:
                self.faults.append(error)

    def _noted(self, fill):
        def noted(session: TeamSession, request: Fill, control: FillControl) -> Filled:
            began_at, is_cut_off = time.monotonic(), False
            try:
                return fill(session, request, control)
            except RemoteError as error:
                is_cut_off = error.is_cut_off
                raise
            finally:
                self.attempts.append(Attempt(began_at, time.monotonic(), is_cut_off))

        return noted


NUM_USERS = 20

pytestmark = [
    pytest.mark.skipif(not RAY.exists(), reason="Ray is not installed: make engines"),
    pytest.mark.timeout(900),  # two models are loaded at once
]


@pytest.fixture(scope="module")
def team() -> Iterator[RayTeam]:
    with ray_team(num_users=NUM_USERS, per_minute=100_000) as running:
        running.wait_until_ready(2)
        yield running


@pytest.fixture
def remotes(team: RayTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RemoteFiller]:
    """A remote for each user."""
    folder, lines = tmp_path / "config", []
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(folder))
    folder.mkdir(mode=0o700)
    for number, key in enumerate(team.keys):
        path = folder / f"key{number}"
        path.write_text(key)
        path.chmod(0o600)
        lines.append(f"[user{number}]\nurl = 'http://127.0.0.1:{team.port}'\nkey_file = '{path}'\n")
    (folder / "remotes.toml").write_text("".join(lines))
    (folder / "remotes.toml").chmod(0o600)
    found = [find_remote(f"user{number}") for number in range(len(team.keys))]
    return [RemoteFiller(remote, max_context_tokens=2_048) for remote in found]


def test_a_users_requests_go_to_one_replica_and_users_are_spread(team, remotes):
    for filler in remotes:
        filled = [filler.fill(small_hole(), FillControl()) for _ in range(3)]
        assert {one.text for one in filled} == {"a + b"}
        assert filled[0].num_reused == 0
        assert all(one.num_prefilled == 0 and one.num_reused > 10 for one in filled[1:])
    rows = list(team.metrics().values())
    assert len(rows) == 2
    assert all(row["intarsia_fills_total"] >= 3 for row in rows)
    assert sum(row["intarsia_users_with_contexts"] for row in rows) == NUM_USERS
    assert all(row["intarsia_users_with_contexts"] >= 2 for row in rows)


def test_steps_arrive_while_the_fill_runs(team: RayTeam) -> None:
    times: list[float] = []
    answer = team.request("POST", "/v1/fill", team.keys[0], long_fill(max_tokens=24))
    while line := answer.readline():
        if line.startswith(b"event:"):
            times.append(time.monotonic())
        elif line.startswith(b"data:"):
            last = json.loads(line[5:])
    assert last["type"] == "filled"
    assert len(times) > 8
    took_s = times[-1] - times[0]
    assert took_s > 0.5 * last["ms"]["denoise"] / 1000
    gaps = [after - before for before, after in pairwise(times)]
    assert max(gaps) < 0.5 * took_s  # not in one heap


def test_closing_the_connection_ends_the_fill_within_a_pass(team: RayTeam) -> None:
    passes, lags = zip(*(cancel_lag_ms(team) for _ in range(7)), strict=True)
    assert statistics.median(lags) <= max(passes) + 50


def test_no_user_sees_that_a_replica_was_killed(team: RayTeam, remotes: list[RemoteFiller]) -> None:
    before, typing = set(team.metrics()), _Typing(remotes)
    with typing.running():
        typing.wait_for_more(2 * len(remotes))
        killed_at = time.monotonic()
        team.replicas()[0].kill()
        typing.wait_for_more(4 * len(remotes))
    team.wait_until_ready(2)
    assert typing.faults == []
    cut_off = [attempt for attempt in typing.attempts if attempt.is_cut_off]
    assert 0 < len(cut_off) <= NUM_USERS
    assert all(one.began_at <= killed_at <= one.ended_at for one in cut_off)
    assert len(set(team.metrics()) - before) == 1


def test_the_logs_have_no_code_and_no_keys(team: RayTeam) -> None:
    files = (path for path in team.folder.rglob("*") if path.is_file())
    paths = [path for path in files if path.suffix in (".log", ".err", ".out")]
    assert any("replica_team" in path.name for path in paths)
    for path in paths:
        text = path.read_text(errors="replace")
        assert "Return the sum" not in text and "each with its number" not in text, path
        assert not any(key in text for key in team.keys), path


def test_a_replica_that_is_taken_away_ends_its_fills(team: RayTeam) -> None:
    answers = [
        team.request("POST", "/v1/fill", key, long_fill(max_tokens=16)) for key in team.keys[:6]
    ]
    running = [row["intarsia_fills_in_flight"] for row in team.metrics().values()]
    assert sum(running) == 6 and min(running) > 0
    team.configure({"num_replicas": 1})
    assert all(b"event: filled" in answer.read() for answer in answers)
    end = time.monotonic() + WAIT_S
    while len(team.metrics()) > 1 or len(team.replicas()) > 1:
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_replica_that_lost_its_models_thread_is_replaced(tmp_path: Path) -> None:
    model = save_toy(tmp_path / "model", toy_causal_model("qwen2"))
    with ray_team(
        num_users=1,
        deployment={"num_replicas": 1},
        import_path="mortal_team:app",
        model=str(model),
        dtype="float32",
    ) as team:
        [before] = team.metrics()
        team.run(Path(mortal_team.__file__))
        end = time.monotonic() + WAIT_S
        while before in (now := replicas_that_serve(team)) or not now:
            assert time.monotonic() < end, team.log()
            time.sleep(0.2)
        body = {"id": 1, "prefix": "x = ", "suffix": "", "max_tokens": 4}
        assert team.request("POST", "/v1/fill", team.keys[0], body).status == 200


def replicas_that_serve(team: RayTeam) -> set[str]:
    """Return the names of the replicas, none while there is none."""
    try:
        return set(team.metrics())
    except (AssertionError, OSError, http.client.HTTPException):
        return set()
