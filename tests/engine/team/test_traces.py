"""Traces of a team's engine: one span for each fill, in the trace of its request, with no text."""

import http.client
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import answer, serving
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from rule_filler import RuleFiller
from team_server import TeamServer, team_server

from intarsia.engine.config import EngineConfig
from intarsia.engine.team.keys import line_of, new_key
from intarsia.engine.team.serve import TRACES_VARIABLES, TeamError, TeamOptions, team_engine
from intarsia.engine.team.traces import FillTraces

WORDS = "one two three four five"
SECRET = "secret_name = "
TRACE_ID, PARENT_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE_ID}-{PARENT_ID}-01"


@pytest.fixture(autouse=True)
def no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(spans: InMemorySpanExporter) -> FillTraces:
    return FillTraces("rules", spans)


@pytest.fixture
def server(tmp_path: Path, traces: FillTraces) -> Iterator[TeamServer]:
    with team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann") as running:
        running.engine.trace = traces.begin
        yield running


@pytest.mark.parametrize("watch", [False, True])
def test_a_fill_has_a_span_in_the_trace_of_its_request(
    server: TeamServer, traces: FillTraces, spans: InMemorySpanExporter, watch: bool
) -> None:
    watches = "true" if watch else "false"
    body = f'{{"id": 1, "prefix": "{SECRET}", "suffix": "", "max_tokens": 9, "watch": {watches}}}'
    headers = {**server.bearer("ann"), "traceparent": TRACEPARENT}
    assert server.request("POST", "/v1/fill", body, **headers).read()
    traces.close()
    [span] = spans.get_finished_spans()
    assert (span.name, span.kind) == ("text_completion rules", SpanKind.SERVER)
    assert span.context is not None and span.parent is not None
    assert f"{span.context.trace_id:032x}" == TRACE_ID
    assert f"{span.parent.span_id:016x}" == PARENT_ID
    assert span.attributes is not None
    attributes = dict(span.attributes)
    passes = attributes.pop("intarsia.num_passes")
    assert isinstance(passes, int) and passes > 0
    for part in ("queue", "prefill", "denoise"):
        milliseconds = attributes.pop(f"intarsia.{part}_ms")
        assert isinstance(milliseconds, float) and milliseconds >= 0
    read = attributes.pop("gen_ai.usage.input_tokens")
    reused = attributes.pop("gen_ai.usage.cache_read.input_tokens")
    assert isinstance(read, int) and isinstance(reused, int) and 0 <= reused <= read
    tokens = attributes.pop("gen_ai.usage.output_tokens")
    assert isinstance(tokens, int) and tokens > 1
    assert attributes == {
        "gen_ai.operation.name": "text_completion",
        "gen_ai.provider.name": "intarsia",
        "gen_ai.request.model": "rules",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.response.model": "rules",
        "gen_ai.response.finish_reasons": ("end_of_hole",),
    }
    assert span.resource.attributes["service.name"] == "intarsia"
    assert not any(word in span.to_json() for word in ("secret", "one", "ann"))


@pytest.mark.parametrize("traceparent", [None, "00-0-0-00", "nonsense"])
def test_without_a_trace_of_the_request_a_span_begins_one(
    server: TeamServer, traces: FillTraces, spans: InMemorySpanExporter, traceparent: str | None
) -> None:
    headers = {} if traceparent is None else {"traceparent": traceparent}
    body = '{"id": 1, "prefix": "x", "suffix": ""}'
    answer = server.request("POST", "/v1/fill", body, **server.bearer("ann"), **headers)
    assert answer.read() and answer.status == 200
    traces.close()
    [span] = spans.get_finished_spans()
    assert span.parent is None


def test_a_failed_fill_names_its_kind_and_quotes_nothing(
    server: TeamServer, traces: FillTraces, spans: InMemorySpanExporter
) -> None:
    assert server.fill("ann", prefix=SECRET, max_tokens=-1)[0] == 400
    traces.close()
    [span] = spans.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["error.type"] == "bad_request"
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert "secret" not in span.to_json()


def test_a_cancelled_fill_has_a_span_without_an_error(
    tmp_path: Path, traces: FillTraces, spans: InMemorySpanExporter
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def pass_(step: int) -> None:
        begun.set()
        assert may_end.wait(20)

    filler = RuleFiller(lambda _: WORDS, between_steps=pass_)
    with team_server(filler, tmp_path, "ann") as server:
        server.engine.trace = traces.begin
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        body = '{"id": 1, "prefix": "x", "suffix": ""}'
        connection.request("POST", "/v1/fill", body, server.bearer("ann"))
        assert begun.wait(20)
        connection.close()
        while server.engine.quotas.num_in_flight:
            assert not may_end.wait(0.005)
        may_end.set()
        server.wait_until_idle()
    traces.close()
    [span] = spans.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["error.type"] == "cancelled"
    assert span.status.status_code == StatusCode.UNSET


def test_what_is_refused_has_no_span(
    server: TeamServer, traces: FillTraces, spans: InMemorySpanExporter
) -> None:
    server.request("POST", "/v1/fill", "{}").read()
    server.engine.is_draining = True
    assert server.fill("ann")[0] == 503
    traces.close()
    assert spans.get_finished_spans() == ()


# -- where they are sent ---------------------------------------------------------------------------


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(line_of("ann", new_key()))
    path.chmod(0o600)
    return path


def test_nothing_is_sent_unasked(keys: Path) -> None:
    assert team_engine(EngineConfig(), TeamOptions(keys=keys)).trace is None


@pytest.mark.parametrize("variable", TRACES_VARIABLES)
def test_the_environment_asks_too(
    keys: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    engine = team_engine(EngineConfig(), TeamOptions(keys=keys))
    assert engine.trace is not None
    engine.close()


def test_without_the_packages_it_is_told_what_to_install(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "intarsia.engine.team.traces", None)
    with pytest.raises(TeamError, match=r"install intarsia\[otel\]"):
        team_engine(EngineConfig(), TeamOptions(keys=keys, sends_traces=True))


def test_a_collector_gets_the_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[tuple[str, bytes]] = []

    def collect(path: str, body: bytes, connection: object) -> None:
        bodies.append((path, body))
        answer(connection, b"")  # type: ignore[arg-type]

    with serving(collect) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "fill-service")
        traces = FillTraces("rules")
        with team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann") as server:
            server.engine.trace = traces.begin
            assert server.fill("ann", prefix=SECRET)[0] == 200
        traces.close()
    [(path, body)] = bodies
    assert path == "/v1/traces"
    assert b"gen_ai.usage.output_tokens" in body and b"fill-service" in body
    assert not any(word in body for word in (b"secret", b"one two", b"three"))


def test_a_collector_that_is_gone_disturbs_no_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    traces = FillTraces("rules")
    with team_server(RuleFiller(lambda _: WORDS), tmp_path, "ann") as server:
        server.engine.trace = traces.begin
        assert server.fill("ann")[0] == 200
    traces.close()
