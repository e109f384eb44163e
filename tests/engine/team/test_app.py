"""The HTTP interface over real connections: keys, owners, quotas, events, cancel, bad requests."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from rule_filler import RuleFiller
from team_server import TeamServer, team_server

from intarsia.engine.ipc.messages import PROTOCOL_VERSION, Fill
from intarsia.engine.team import serve
from intarsia.engine.team.app import MAX_BODY_BYTES
from intarsia.engine.team.quotas import TeamLimits

WORDS = "one two three four five"


@pytest.fixture
def seen() -> list[Fill]:
    return []


@pytest.fixture
def server(tmp_path: Path, seen: list[Fill]) -> Iterator[TeamServer]:
    def rule(request: Fill) -> str:
        seen.append(request)
        return WORDS

    with team_server(RuleFiller(rule), tmp_path, "ann", "ben", "metrics") as running:
        yield running


def body_of(**fields: object) -> str:
    return json.dumps({"id": 1, "prefix": "x = ", "suffix": "", **fields})


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic KEY", "KEY", "Bearer KEYx", "Bearer ké"],
)
@pytest.mark.parametrize(
    "path", ["/v1/fill", "/v1/read-ahead", "/v1/status", "/v1/models", "/metrics"]
)
def test_without_a_key_of_this_engine_nothing_is_answered(server, seen, path, header):
    value = header.replace("KEY", server.key_of["ann"]).encode("latin-1").decode("latin-1")
    method = "POST" if path in ("/v1/fill", "/v1/read-ahead") else "GET"
    answer = server.request(method, path, body_of(), Authorization=value)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "Bearer KEY" in json.loads(answer.read())["message"]
    assert not seen


def test_nobody_is_redirected_to_a_host_of_their_request(server: TeamServer) -> None:
    answer = server.request("GET", "/v1/status/", None, Host="evil.example")
    assert answer.status == 404
    assert "location" not in answer.headers


def test_the_key_decides_the_owner_and_the_client_chooses_no_model(server, seen):
    server.fill("ben", owner="ann", model="rules")
    (request,) = seen
    assert (request.owner, request.model) == ("ben", None)


def test_another_model_is_refused_and_not_loaded(server: TeamServer, seen: list[Fill]) -> None:
    status, answer = server.fill("ann", model="/etc")
    assert (status, answer["code"]) == (400, "bad_request")
    assert "serves rules only" in answer["message"]
    assert not seen


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("[]", "malformed"),
        (body_of(prefix=3), "prefix"),
        (body_of(unknown=3), "unknown"),
        ('{"id": 1, "prefix": "x"}', "suffix"),
        ('{"type": "prefetch", "prefix": "x", "suffix": ""}', "malformed"),
        ("[" * 100_000, "malformed"),
        (b'{"id": 1, "prefix": "\xff", "suffix": ""}', "malformed"),
    ],
)
def test_a_malformed_body_is_told_where(server, body, message):
    answer = server.request("POST", "/v1/fill", body, **server.bearer("ann"))
    assert answer.status == 400
    assert message in json.loads(answer.read())["message"]
    assert server.fill("ann")[0] == 200


def test_a_body_that_is_too_large_is_not_read(server: TeamServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        key = server.key_of["ann"]
        connection.sendall(
            f"POST /v1/fill HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Length: {10 * MAX_BODY_BYTES}\r\n\r\n".encode()
        )
        part = b"x" * 65_536
        try:
            for _ in range(2 * MAX_BODY_BYTES // len(part)):
                connection.sendall(part)
        except OSError:
            pass  # it has answered and closed the connection
        assert connection.recv(64).startswith(b"HTTP/1.1 413")


def test_another_protocol_is_refused(server: TeamServer) -> None:
    headers = {**server.bearer("ann"), "X-Intarsia-Protocol": "3"}
    answer = server.request("POST", "/v1/fill", body_of(), **headers)
    assert answer.status == 409
    assert f"protocol {PROTOCOL_VERSION}, not 3" in json.loads(answer.read())["message"]
    headers["X-Intarsia-Protocol"] = str(PROTOCOL_VERSION)
    assert server.request("POST", "/v1/fill", body_of(), **headers).status == 200


def test_unknown_places_and_methods(server: TeamServer) -> None:
    assert server.request("GET", "/v1/other").status == 404
    assert server.request("GET", "/v1/fill", **server.bearer("ann")).status == 405


def test_status_tells_a_user_of_the_engine_and_not_of_the_others(server: TeamServer) -> None:
    server.fill("ben")
    server.wait_until_idle()
    answer = server.request("GET", "/v1/status", **server.bearer("ann"))
    status = json.loads(answer.read())
    assert (status["user"], status["model"], status["state"]) == ("ann", "rules", "ready")
    assert "ben" not in json.dumps(status)


def test_silent_connections_without_a_key_lock_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "MAX_CONNECTIONS", 20)
    with ExitStack() as held, team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann") as server:
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        assert server.request("GET", "/healthz").status == 200
        assert server.request("GET", "/readyz").status == 200
        assert server.fill("ann")[0] == 200


def test_an_engine_that_ends_takes_nothing_on(server: TeamServer, seen: list[Fill]) -> None:
    server.engine.is_draining = True
    assert server.request("GET", "/healthz").status == 200
    assert server.request("GET", "/readyz").status == 503
    status, answer = server.fill("ann")
    assert (status, answer["code"]) == (503, "busy")
    assert not seen


def test_metrics_count_and_hold_no_text_and_no_names(server: TeamServer) -> None:
    server.fill("ann", prefix="secret_prefix = ")
    server.fill("ann", max_tokens=-1)
    server.fill("ann", model="other")
    server.request("POST", "/v1/fill", body_of())
    assert server.request("GET", "/metrics", **server.bearer("ann")).status == 403
    text = server.request("GET", "/metrics", **server.bearer("metrics")).read().decode()
    assert 'intarsia_fills_total{finish_reason="end_of_hole"} 1.0' in text
    assert 'intarsia_failures_total{code="bad_request"} 1.0' in text
    assert 'intarsia_refused_total{reason="key"} 1.0' in text
    assert 'intarsia_fill_seconds_count{part="total"} 1.0' in text
    assert "intarsia_fills_in_flight 0.0" in text
    assert not any(word in text for word in ("secret", "ann", "one two"))


class Gate:
    """Lets a fill run to its first pass, and on when ``opened``."""

    def __init__(self) -> None:
        self.begun, self.opened = threading.Event(), threading.Event()
        self.num_passes = 0

    def __call__(self, step: int) -> None:
        self.num_passes += 1
        self.begun.set()
        assert self.opened.wait(20)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def gated(tmp_path: Path, gate: Gate) -> Iterator[TeamServer]:
    filler = RuleFiller(lambda _: WORDS, between_steps=gate)
    limits = TeamLimits(max_in_flight=1, max_waiting=1)
    with team_server(filler, tmp_path, "ann", "ben", "cid", "dan", limits=limits) as running:
        try:
            yield running
        finally:
            gate.opened.set()


def begin(server: TeamServer, user: str, **fields: object) -> http.client.HTTPConnection:
    """Send a fill, and return the connection without its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", "/v1/fill", body_of(**fields), server.bearer(user))
    return connection


@pytest.mark.parametrize("watches", [False, True])
def test_a_client_that_goes_cancels_its_fill_within_a_pass(gated, gate, watches):
    connection = begin(gated, "ann", watch=watches)
    assert gate.begun.wait(20)
    connection.close()
    while gated.engine.quotas.num_in_flight:
        assert not gate.opened.wait(0.005)
    let_on_at = time.time()
    gate.opened.set()
    gated.wait_until_idle()
    assert gate.num_passes == 1
    metrics = gated.engine.metrics.as_text().decode()
    assert 'intarsia_failures_total{code="cancelled"} 1.0\n' in metrics
    cancelled_at = float(metrics.split("\nintarsia_last_cancel_timestamp_seconds ")[1].split()[0])
    assert let_on_at <= cancelled_at <= time.time()
    assert gated.fill("ann")[0] == 200


def test_a_user_with_too_many_fills_is_refused_and_others_are_not(gated, gate):
    first = begin(gated, "ann")
    assert gate.begun.wait(20)
    answer = gated.request("POST", "/v1/fill", body_of(), **gated.bearer("ann"))
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert json.loads(answer.read())["code"] == "busy"
    second = begin(gated, "ben")
    while not gated.engine.worker.num_waiting:
        assert not gate.opened.wait(0.005)
    third = gated.request("POST", "/v1/fill", body_of(), **gated.bearer("cid"))
    assert third.status == 503
    assert third.headers["retry-after"] == "1"
    gate.opened.set()
    assert first.getresponse().status == second.getresponse().status == 200
    assert gated.fill("cid")[0] == 200


def test_what_is_read_ahead_has_a_quota_and_costs_no_fill(tmp_path, monkeypatch):
    limits = TeamLimits(per_minute=1, burst=2)
    with team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann", "ben", limits=limits) as server:
        read: list[str] = []
        monkeypatch.setattr(
            server.engine.worker, "prefetch", lambda place: read.append(place.owner)
        )
        for user in ("ann", "ann", "ann", "ann", "ben"):
            body = json.dumps({"prefix": "x", "suffix": ""})
            answer = server.request("POST", "/v1/read-ahead", body, **server.bearer(user))
            assert answer.status == 202
        assert read == ["ann", "ann", "ben"]
        assert server.fill("ann")[0] == 200


def test_a_key_that_is_taken_back_is_refused_at_once(server: TeamServer, tmp_path: Path) -> None:
    assert server.fill("ann")[0] == 200
    keys = tmp_path / "keys"
    rest = [line for line in keys.read_text().splitlines(keepends=True) if "ann" not in line]
    (tmp_path / "draft").write_text("".join(rest))
    (tmp_path / "draft").chmod(0o600)
    (tmp_path / "draft").replace(keys)
    assert server.fill("ann")[0] == 401
    assert server.fill("ben")[0] == 200
