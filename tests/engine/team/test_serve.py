"""The command `intarsia team serve` as a process, with a small model: keys, TLS, draining."""

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_causal import save_toy, toy_causal_model

from intarsia.cli.errors import CliError
from intarsia.cli.team import command
from intarsia.engine.team.keys import TeamKeys
from intarsia.engine.team.serve import TeamError, TeamOptions

WAIT_S = 60


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("model"), toy_causal_model("qwen2"))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def make_key(keys: Path, name: str) -> str:
    result = CliRunner().invoke(command, ["key", name, "--keys", str(keys)])
    assert result.exit_code == 0, result.output
    return result.output.strip()


class Process:
    """A serving process; its log is read line by line."""

    def __init__(self, *arguments: str) -> None:
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "intarsia.cli", "team", "serve", *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, pattern: str) -> re.Match[str]:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(line)
            if (match := re.search(pattern, line)) is not None:
                return match
        raise AssertionError(f"no {pattern!r} in {''.join(self.lines)}")

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        self.lines += self._process.stderr.readlines()
        return self._process.wait(WAIT_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stderr.close()


@pytest.fixture
def started() -> Iterator[list[Process]]:
    processes: list[Process] = []
    yield processes
    for process in processes:
        process.kill()


def serve(started: list[Process], keys: Path, model: Path, *options: str) -> tuple[Process, int]:
    """Start a server; return it and its port once the model is loaded."""
    arguments = ["--keys", str(keys), "--model", str(model), "--dtype", "float32", "--port", "0"]
    process = Process(*arguments, *options)
    started.append(process)
    port = int(process.until(r"serving at \S+:(\d+)")[1])
    process.until("the model is loaded")
    return process, port


def ask(connection: http.client.HTTPConnection, key: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"id": 1, "prefix": "def f(", "suffix": "):\n", "max_tokens": 4})
    connection.request("POST", "/v1/fill", body, {"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_a_served_model_fills_holes_over_tls_and_drains(started, keys, model, certificate):
    key, (cert, cert_key) = make_key(keys, "ann"), certificate
    tls = ("--tls-cert", str(cert), "--tls-key", str(cert_key))
    process, port = serve(started, keys, model, "--drain", "2", *tls)
    plain = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    with closing(plain), pytest.raises((http.client.HTTPException, OSError)):
        ask(plain, key)
    trusted = ssl.create_default_context(cafile=str(cert))
    https = http.client.HTTPSConnection("127.0.0.1", port, timeout=WAIT_S, context=trusted)
    with closing(https):
        status, answer = ask(https, key)
        assert (status, answer["type"]) == (200, "filled")
        process.signal(signal.SIGTERM)
        end = time.monotonic() + WAIT_S
        while status == 200:
            assert time.monotonic() < end
            status, answer = ask(https, key)
        assert (status, answer["code"]) == (503, "busy"), "it still answers, and takes nothing on"
    assert process.wait() == 0
    assert not any("def f(" in line or key in line for line in process.lines)


def test_a_second_signal_ends_at_once(started: list[Process], keys: Path, model: Path) -> None:
    make_key(keys, "ann")
    process, _ = serve(started, keys, model, "--drain", "3600")
    process.signal(signal.SIGTERM)
    process.until("draining")
    process.signal(signal.SIGTERM)
    assert process.wait() == 0


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(command, ["serve", *arguments])
    assert isinstance(result.exception, CliError), result.output
    return str(result.exception)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_plain_http_beyond_this_machine_is_refused(keys: Path, host: str) -> None:
    make_key(keys, "ann")
    assert "can read plain HTTP" in refusal("--keys", str(keys), "--host", host)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_plain_http_on_this_machine_is_allowed(keys: Path, host: str) -> None:
    TeamOptions(keys=keys, host=host).check()
    TeamOptions(keys=keys, host="0.0.0.0", is_behind_proxy=True).check()
    with pytest.raises(TeamError, match="give both"):
        TeamOptions(keys=keys, host=host, tls_cert=keys).check()


def test_a_bad_certificate_is_told(keys: Path, tmp_path: Path) -> None:
    make_key(keys, "ann")
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate")
    tls = ("--tls-cert", str(bad), "--tls-key", str(bad))
    assert "certificate" in refusal("--keys", str(keys), *tls)


def test_a_user_gets_one_key(keys: Path) -> None:
    key = make_key(keys, "ann")
    assert TeamKeys(keys).user_of(key) == "ann"
    if os.name == "posix":
        assert keys.stat().st_mode & 0o777 == 0o600
    result = CliRunner().invoke(command, ["key", "ann", "--keys", str(keys)])
    assert isinstance(result.exception, CliError)
    assert "has a key already" in str(result.exception)
    assert make_key(keys, "ben") != key
    assert TeamKeys(keys).user_of(key) == "ann"
