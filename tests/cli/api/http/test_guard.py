"""Who may ask the API, how much, and how slowly: real HTTP over a real socket."""

import asyncio
import contextlib
import json
import logging
from pathlib import Path

import pytest
from api_desk import Desk, read_reply, running_api, serving

from intarsia.cli.api import server
from intarsia.cli.api.http import access, read
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Fill

PROMPT = "return "
KEY, OTHER_KEY = "k" * 32, "K" * 32


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:9258", "user@127.0.0.1", "192.168.1.2", "0.0.0.0", ""),
        *("localhost.evil.example", "127.0.0.1.evil.example", "[::1].evil.example"),
        *("127.0.0.1:x.evil.example", "127.0.0.1:9258.evil.example", "127.0.0.1:", "127.0.0.1:²"),
        *("127.1", "2130706433", "[127.0.0.1", "[::1", "::1", "[::2]"),
    ],
)
async def test_another_host_name_is_refused(desk: Desk, host: str):
    for path in ("/v1/models", "/health", "/api/tags"):
        assert (await desk.ask("GET", path, Host=host)).status in (400, 403)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2", "[::1]", "[::1]:9"]
)
async def test_names_of_this_machine_are_taken(desk: Desk, host: str):
    assert (await desk.ask("GET", "/v1/models", Host=host)).status == 200


async def test_a_request_without_a_host_is_refused(desk: Desk):
    assert (await desk.send(b"GET /v1/models HTTP/1.0\r\n\r\n")).status == 403
    assert (await desk.send(b"GET /v1/models HTTP/1.1\r\n\r\n")).status == 400
    two = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n"
    assert (await desk.send(two)).status == 400
    elsewhere = b"GET http://evil.example/v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    assert (await desk.send(elsewhere + b"Connection: close\r\n\r\n")).status == 404


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/completions", "/infill", "/completion", "/api/generate"),
        *("/v1/models", "/health", "/api/tags", "/api/show"),
    ],
)
async def test_web_pages_are_refused_and_told_nothing(desk: Desk, path: str):
    body = json.dumps({"prompt": PROMPT, "input_prefix": "x", "input_suffix": ""}).encode()
    for method in ("GET", "POST", "OPTIONS"):
        for page in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ):
            reply = await desk.ask(method, path, body, **page)
            assert reply.status == 403
            assert not any(name.startswith("access-control") for name in reply.headers)
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert (await desk.ask("POST", path, body, Content_Type=kind)).status in (405, 415)
    assert desk.fills == []


async def test_a_program_that_names_its_fetch_mode_is_no_web_page(desk: Desk):
    """Node's fetch does, in the extensions of VS Code."""
    fetch = {"Sec_Fetch_Mode": "cors", "Content_Type": "application/json; charset=utf-8"}
    assert (await desk.post("/v1/completions", {"prompt": PROMPT}, **fetch)).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/chat/completions", 404),
        ("POST", "/v1/completions/", 404),
        ("GET", "/v1/completions", 405),
        ("GET", "/infill", 405),
        ("GET", "/api/generate", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
async def test_other_paths_and_methods_are_refused(desk: Desk, method: str, path: str, status: int):
    reply = await desk.ask(method, path)
    assert reply.status == status
    assert reply.json["error"]


async def test_a_client_that_waits_to_be_told_may_send_its_body(desk: Desk):
    body = json.dumps({"prompt": PROMPT}).encode()
    head = desk.request("POST", "/v1/completions", body, Expect="100-continue").removesuffix(body)
    reader, writer = await desk.connect()
    writer.write(head)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    writer.write(body)
    assert read_reply(await reader.read()).status == 200
    writer.close()


async def test_the_answer_to_a_head_request_has_no_body(desk, caplog):
    reply = await desk.ask("HEAD", "/v1/models")
    assert (reply.status, reply.body) == (200, b"")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_connection_serves_several_requests(desk: Desk):
    reader, writer = await desk.connect()
    for _ in range(3):
        body = json.dumps({"prompt": PROMPT}).encode()
        writer.write(desk.request("POST", "/v1/completions", body, Connection=""))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        assert json.loads(await reader.readexactly(length))["choices"]
    writer.close()


async def test_a_body_that_is_too_long_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read, "MAX_BODY_BYTES", 1000)
    assert (await desk.complete(prompt="x" * 2000)).status == 413
    assert (await desk.complete(prompt="x" * 500_000)).status == 413
    chunks = b"400\r\n" + b"x" * 1024 + b"\r\n"
    head = desk.request("POST", "/v1/completions", b"", Transfer_Encoding="chunked")
    head = head.replace(b"Content-Length: 0\r\n", b"")
    assert (await desk.send(head + chunks * 3 + b"0\r\n\r\n")).status == 413
    assert (await desk.complete(prompt=PROMPT)).status == 200


async def test_what_is_no_http_is_refused_and_the_server_stays_up(desk: Desk):
    assert (await desk.send(b"\x16\x03\x01 hello\r\n\r\n")).status == 400
    assert (await desk.send(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 9000 + b"\r\n")).status in (
        400,
        431,
    )
    smuggled = desk.request("POST", "/infill", b"12345", Transfer_Encoding="chunked")
    assert (await desk.send(smuggled + b"5\r\n")).status == 400
    assert (await desk.complete(prompt=PROMPT)).status == 200


@pytest.mark.parametrize(
    "part",
    [
        b"",
        b"POST /v1/completions HTTP/1.1\r\n",
        b"POST /infill HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 9\r\n\r\n{",
    ],
)
async def test_a_request_that_never_ends_is_given_up(start_api, monkeypatch, part):
    monkeypatch.setattr(read, "READ_TIMEOUT_S", 0.05)
    monkeypatch.setattr(server, "READ_TIMEOUT_S", 0.05)
    async with start_api() as desk:
        reader, writer = await desk.connect()
        writer.write(part)
        async with asyncio.timeout(5):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_a_slow_second_head_is_given_up_too(start_api, monkeypatch):
    monkeypatch.setattr(server, "READ_TIMEOUT_S", 0.3)
    async with start_api() as desk:
        reader, writer = await desk.connect()
        writer.write(desk.request("GET", "/health", b"", Connection=""))
        assert (await reader.readuntil(b"}\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /health HT")
        async with asyncio.timeout(5):
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_too_many_requests_at_once_are_told_to_come_again(desk, monkeypatch):
    monkeypatch.setattr(access, "MAX_OPEN_REQUESTS", 0)
    reply = await desk.complete(prompt=PROMPT)
    assert reply.status == 429
    assert int(reply.headers["retry-after"]) >= 1
    monkeypatch.undo()
    assert (await desk.complete(prompt=PROMPT)).status == 200


async def test_of_too_many_connections_the_oldest_is_cut(start_api, monkeypatch):
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 2)
    async with start_api() as desk:
        kept = [await desk.connect() for _ in range(2)]
        assert (await desk.complete(prompt=PROMPT)).status == 200
        with contextlib.suppress(ConnectionError):
            assert await kept[0][0].read() == b""
        for _, writer in kept:
            writer.transport.abort()


async def test_without_an_engine_the_reason_is_told(address: Address):
    async with serving(address) as desk:
        reply = await desk.complete(prompt=PROMPT)
        assert reply.status == 503
        assert "no engine is running" in reply.json["error"]["message"]
        ollama = await desk.post("/api/generate", {"prompt": PROMPT})
        assert "no engine is running" in ollama.json["error"]


async def test_asking_for_the_model_starts_no_engine(address: Address):
    async with serving(address) as desk:
        for path in ("/v1/models", "/api/tags", "/props", "/health"):
            assert (await desk.ask("GET", path)).status == 200
    assert not address.pid_path.exists()


async def test_a_fault_of_ours_is_told_without_any_text(start_api, monkeypatch, capsys):
    def fails(*_: object) -> None:
        raise LookupError("secret text")

    monkeypatch.setattr("intarsia.cli.api.holes.filler.plan_at_cursor", fails)
    async with start_api() as desk:
        reply = await desk.complete(prompt=PROMPT)
    assert reply.status == 500
    assert "secret" not in reply.body.decode()
    assert capsys.readouterr().err == "intarsia api: LookupError at /v1/completions\n"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(f"# mine\n{KEY}\n")
    path.chmod(0o600)
    return path


async def test_with_a_key_file_only_its_keys_are_served(address: Address, keys: Path):
    where = dict(host="127.0.0.1", port=0, key_file=keys, tls_cert=None, tls_key=None)
    async with running_api(address, where=where) as desk:
        fields = {"prompt": PROMPT}
        for wrong in ("", f"Bearer {OTHER_KEY}", "Bearer ", f"Basic {KEY}", KEY, f"Bearer {KEY}x"):
            for path in ("/v1/completions", "/infill", "/api/generate", "/health", "/nothing"):
                reply = await desk.post(path, fields, Authorization=wrong)
                assert reply.status == 401
                assert reply.headers["www-authenticate"] == "bearer"
        assert desk.fills == []
        right = {"Authorization": f"Bearer {KEY}"}
        assert (await desk.post("/v1/completions", fields, **right)).status == 200
        page = right | {"Origin": "https://evil.example"}
        assert (await desk.post("/v1/completions", fields, **page)).status == 403


async def test_a_changed_key_file_counts_at_once(address, keys, capsys):
    where = dict(host="127.0.0.1", port=0, key_file=keys, tls_cert=None, tls_key=None)
    async with running_api(address, where=where) as desk:

        async def status(key: str) -> int:
            headers = {"Authorization": f"Bearer {key}"}
            return (await desk.ask("GET", "/v1/models", **headers)).status

        assert (await status(KEY), await status(OTHER_KEY)) == (200, 401)
        rewrite(keys, OTHER_KEY)
        assert (await status(KEY), await status(OTHER_KEY)) == (401, 200)
        rewrite(keys, OTHER_KEY, mode=0o644)
        assert await status(OTHER_KEY) == 503
        rewrite(keys, None)
        assert await status(OTHER_KEY) == 503
        assert "run chmod 600" in capsys.readouterr().err
        rewrite(keys, KEY)
        assert await status(KEY) == 200


def rewrite(path: Path, key: str | None, mode: int = 0o600) -> None:
    """Put another file in its place, as editors do; None: remove it."""
    path.unlink(missing_ok=True)
    if key is not None:
        path.write_text(f"{key}\n")
        path.chmod(mode)


async def test_the_engine_s_failure_is_told_with_its_reason(start_api):
    def fails(_: Fill) -> str:
        raise ValueError("max_context_tokens is 8")

    async with start_api(fails) as desk:
        reply = await desk.complete(prompt=PROMPT)
        assert reply.status == 400
        assert "max_context_tokens" in reply.json["error"]["message"]
