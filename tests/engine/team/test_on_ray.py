"""A replica as Ray Serve makes it, without Ray: settings, loading, health, metrics of several."""

from collections.abc import Callable
from pathlib import Path

import pytest
from in_process_engine import always
from prometheus_client.parser import text_string_to_metric_families
from rule_filler import RuleFiller
from scripted_engine import filled_with
from starlette.testclient import TestClient

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Timing
from intarsia.engine.team.keys import line_of, new_key
from intarsia.engine.team.metrics import TeamMetrics, merged
from intarsia.engine.team.on_ray import (
    SESSION_HEADER_VARIABLE,
    ReplicaSettings,
    TeamReplica,
    settings_of,
)
from intarsia.engine.team.serve import TeamError

KEY = new_key()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReplicaSettings:
    monkeypatch.setenv(SESSION_HEADER_VARIABLE, "authorization")
    path = tmp_path / "keys"
    path.write_text(line_of("ann", KEY))
    path.chmod(0o600)
    return ReplicaSettings(keys=str(path), model="rules")


@pytest.fixture
def replica(settings: ReplicaSettings) -> TeamReplica:
    return TeamReplica(settings, load_filler=always(RuleFiller(lambda _: "one two")))


def client_of(replica: TeamReplica) -> TestClient:
    return TestClient(replica.__serve_build_asgi_app__())


def test_a_replica_has_loaded_its_model_and_answers(replica: TeamReplica) -> None:
    replica.check_health()
    client = client_of(replica)
    assert client.get("/readyz").text == "ready\n"
    body = {"id": 3, "prefix": "x = ", "suffix": ""}
    answer = client.post("/v1/fill", json=body, headers={"Authorization": f"Bearer {KEY}"})
    assert (answer.status_code, answer.json()["text"]) == (200, "one two")
    assert client.post("/v1/fill", json=body).status_code == 401


def test_a_replica_that_lost_its_thread_is_unhealthy(replica: TeamReplica) -> None:
    client = client_of(replica)
    assert client.get("/healthz").status_code == 200
    assert client.app.state.engine.worker.stop(20)
    with pytest.raises(TeamError, match="thread has ended"):
        replica.check_health()
    for path in ("/healthz", "/readyz"):
        answer = client.get(path)
        assert (answer.status_code, answer.text) == (503, "the model's thread has ended\n")


def test_a_model_that_cannot_be_loaded_ends_the_replica(settings: ReplicaSettings) -> None:
    def fail(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
        raise ModelError("no such model: name another")

    with pytest.raises(TeamError, match="no such model: name another"):
        TeamReplica(settings, load_filler=fail)


@pytest.mark.parametrize("header", [None, "", "x-session-id"])
def test_without_affinity_no_replica_starts(settings, monkeypatch, header):
    if header is None:
        monkeypatch.delenv(SESSION_HEADER_VARIABLE)
    else:
        monkeypatch.setenv(SESSION_HEADER_VARIABLE, header)
    with pytest.raises(TeamError, match=f"{SESSION_HEADER_VARIABLE}=authorization"):
        TeamReplica(settings, load_filler=always(RuleFiller(lambda _: "one")))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "keys"),
        ({"keys": "k", "modell": "x"}, "modell"),
        ({"keys": "k", "per_minute": "many"}, "per_minute"),
        ({"keys": "k", "model": ""}, "name is empty"),
        ({"keys": "k", "max_waiting": 0}, "max_waiting"),
    ],
)
def test_wrong_settings_are_told(args: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings_of(args)


def metrics_with(num_fills: int) -> bytes:
    metrics = TeamMetrics({"ready": lambda: 1.0})
    ms = Timing(queue=1, prefill=1, denoise=30, total=32)
    for _ in range(num_fills):
        metrics.answered(filled_with("a", ms=ms, num_prefilled=5, num_reused=7))
    return metrics.as_text()


def value_in(text: bytes) -> Callable[..., float]:
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }
    return lambda name, **labels: samples[(name, *sorted(labels.items()))]


def test_the_metrics_of_replicas_are_told_apart() -> None:
    text = merged({"a": metrics_with(2), "b": metrics_with(3)})
    value = value_in(text)
    for replica, num_fills in (("a", 2), ("b", 3)):
        assert value("intarsia_ready", replica=replica) == 1
        assert (
            value("intarsia_fills_total", replica=replica, finish_reason="end_of_hole") == num_fills
        )
        tokens = value("intarsia_context_tokens_total", replica=replica, how="reused")
        assert tokens == 7 * num_fills
        below = {"part": "denoise", "replica": replica}
        assert value("intarsia_fill_seconds_bucket", le="0.05", **below) == num_fills
        assert value("intarsia_fill_seconds_bucket", le="0.025", **below) == 0
    assert text.count(b"# TYPE intarsia_fill_seconds histogram\n") == 1
    assert b"# TYPE intarsia_fills_total counter\n" in text
