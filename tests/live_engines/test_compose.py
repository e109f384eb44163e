"""What can be shown of deploy/compose without Docker: its files, and its programs by themselves.

HAProxy and Prometheus are Debian's: `apt-get install haproxy prometheus`.
"""

import http.client
import json
import os
import shutil
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT
from haproxy_team import (
    HAPROXY_CONFIG,
    WAIT_S,
    HaproxyTeam,
    free_port,
    haproxy_team,
    wait_until_ready,
)

COMPOSE = ROOT / "deploy" / "compose"
COMPOSE_PYTHON = ROOT / "build" / "servers" / "compose" / "bin" / "python"

_READ = """
import sys, compose_spec
read = compose_spec.PyOptions(apply_merge=True).from_yaml(sys.stdin.read())
read.validate()
print(" ".join(sorted(read.service_names())))
"""

needs_haproxy = pytest.mark.skipif(shutil.which("haproxy") is None, reason="needs haproxy")
needs_prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs prometheus")


def read_compose(text: str) -> subprocess.CompletedProcess[str]:
    """Read a Compose file by its specification."""
    return subprocess.run(
        [str(COMPOSE_PYTHON), "-c", _READ], input=text, text=True, capture_output=True
    )


@pytest.mark.skipif(not COMPOSE_PYTHON.exists(), reason="needs make engines")
def test_the_compose_file_is_one() -> None:
    text = (COMPOSE / "compose.yaml").read_text()
    done = read_compose(text)
    names = ["grafana", "haproxy", "model", "one", "prometheus", "two"]
    assert done.stdout.split() == names, done.stderr
    for good, bad in (
        ("read_only: true", "read_only: [1]"),
        ("networks: [engines]", "networks: [others]"),
    ):
        assert good in text
        assert read_compose(text.replace(good, bad)).returncode != 0, bad


@needs_haproxy
def test_haproxy_takes_its_file_with_the_environment_of_compose(tmp_path: Path) -> None:
    services = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]
    environment = services["haproxy"]["environment"]
    pem = tmp_path / "fill.pem"
    certificates = ROOT / "tests" / "data" / "certificates"
    pem.write_text(
        "".join((certificates / name).read_text() for name in ("valid.pem", "server.key"))
    )
    values = {
        "FILL_BIND": environment["FILL_BIND"].replace("/etc/haproxy/fill.pem", str(pem)),
        "ENGINE_ONE": environment["ENGINE_ONE"].replace("one:", "127.0.0.1:"),
        "ENGINE_TWO": environment["ENGINE_TWO"].replace("two:", "127.0.0.1:"),
    }
    assert values["ENGINE_ONE"] == "127.0.0.1:8420"
    command = ["haproxy", "-c", "-f", str(HAPROXY_CONFIG)]
    done = subprocess.run(command, env={**os.environ, **values}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def prometheus_config(folder: Path, key: str, targets: list[str]) -> Path:
    """Write the configuration that we ship, for these engines and this key."""
    (folder / "prometheus.key").write_text(key)
    values = yaml.safe_load((COMPOSE / "prometheus.yml").read_text())
    [scrape] = values["scrape_configs"]
    scrape["authorization"]["credentials_file"] = str(folder / "prometheus.key")
    scrape["static_configs"][0]["targets"] = targets
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(values))
    return path


@needs_prometheus
def test_promtool_takes_the_configuration(tmp_path: Path) -> None:
    path = prometheus_config(tmp_path, "key", ["one:8420", "two:8420"])
    done = subprocess.run(
        ["promtool", "check", "config", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


class Prometheus:
    """A running Prometheus at a port."""

    def __init__(self, port: int) -> None:
        self._port = port

    def value_of(self, expression: str) -> list[dict[str, Any]]:
        """Return the series that an expression has now."""
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)) as connection:
            query = urllib.parse.urlencode({"query": expression})
            connection.request("GET", f"/api/v1/query?{query}")
            answer = json.loads(connection.getresponse().read())
        assert answer["status"] == "success", answer
        series: list[dict[str, Any]] = answer["data"]["result"]
        return series

    def wait_for(self, expression: str) -> list[dict[str, Any]]:
        """Return the first series of an expression that has some."""
        end = time.monotonic() + WAIT_S
        while not (series := self.value_of(expression)):
            assert time.monotonic() < end, expression
            time.sleep(0.5)
        return series


@pytest.fixture
def team(tmp_path: Path) -> Iterator[HaproxyTeam]:
    with haproxy_team(tmp_path, num_users=8) as running:
        yield running


@pytest.fixture
def prometheus(team: HaproxyTeam, tmp_path: Path) -> Prometheus:
    targets = [f"127.0.0.1:{port}" for port in team.ports]
    config = prometheus_config(tmp_path, team.keys[0], targets)
    port = free_port()
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
    address = f"--web.listen-address=127.0.0.1:{port}"
    quiet = subprocess.DEVNULL
    team.processes.append(subprocess.Popen([*command, address], stdout=quiet, stderr=quiet))
    wait_until_ready(port, "/-/ready")
    return Prometheus(port)


def fill(team: HaproxyTeam, key: str, **fields: object) -> int:
    """Return the status of a fill through the proxy."""
    with closing(http.client.HTTPConnection("127.0.0.1", team.port, timeout=60)) as connection:
        body = json.dumps({"id": 1, "prefix": "x = ", "suffix": "", "max_tokens": 4, **fields})
        connection.request("POST", "/v1/fill", body, {"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status


@needs_haproxy
@needs_prometheus
def test_the_dashboard_has_values_of_both_engines(
    team: HaproxyTeam, prometheus: Prometheus
) -> None:
    series = prometheus.wait_for("up == 1")
    assert {row["metric"]["job"] for row in series} == {"intarsia"}
    expressions = [
        target["expr"]
        for panel in json.loads((COMPOSE / "grafana/dashboards/intarsia.json").read_text())[
            "panels"
        ]
        for target in panel["targets"]
    ]
    missing = set(expressions)
    end = time.monotonic() + WAIT_S
    while missing:
        for key in team.keys:
            assert fill(team, key) == 200
        assert fill(team, team.keys[0], max_tokens=-1) == 400
        assert fill(team, "wrong") == 401
        missing = {expression for expression in missing if not prometheus.value_of(expression)}
        assert time.monotonic() < end, missing
        time.sleep(0.5)
    assert len(prometheus.wait_for("up == 1")) == 2
    filled = prometheus.value_of("sum by (instance) (intarsia_fills_total)")
    assert len(filled) == 2 and all(float(row["value"][1]) > 0 for row in filled)
