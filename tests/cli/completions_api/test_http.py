"""The completions API: real HTTP over a real socket, to an engine that fills by rules."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner
from in_process_engine import always, in_process_engine
from rule_filler import RuleFiller

from intarsia.cli.completions_api import http
from intarsia.cli.completions_api.command import HOST, command
from intarsia.cli.completions_api.completions import Completions, write_error
from intarsia.cli.completions_api.http import HttpServer, Request, Response
from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill

PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n"
QWEN = f"<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Desk:
    """A running API, and what reached the engine."""

    port: int
    client: EngineClient
    fills: list[Fill] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)  # an answer was given, or given up

    async def send(self, raw: bytes) -> Reply:
        reader, writer = await asyncio.open_connection(HOST, self.port)
        writer.write(raw)
        answer = await reader.read()
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in rest)
        return Reply(status=int(first.split()[1]), headers=headers, body=body)

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Reply:
        return await self.send(self.request(method, path, body, **headers))

    async def complete(self, **fields: Any) -> Reply:
        return await self.ask("POST", "/v1/completions", json.dumps(fields).encode())

    def request(self, method: str, path: str, body: bytes, **headers: str) -> bytes:
        named = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        named["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items() if v)]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


StartApi = Callable[..., contextlib.AbstractAsyncContextManager[Desk]]


@pytest.fixture
def start_api(address: Address) -> StartApi:
    @contextlib.asynccontextmanager
    async def opened(write: Callable[[Fill], str] = lambda _: "a + b", **options: Any):
        fills: list[Fill] = []

        def rules(request: Fill) -> str:
            fills.append(request)
            return write(request)

        async with (
            in_process_engine(address, always(RuleFiller(rules, **options))),
            EngineClient(name="api", start=False, address=address) as client,
        ):
            completions = Completions(client)
            left = asyncio.Event()

            async def handle(request: Request) -> Response:
                try:
                    return await completions.handle(request)
                finally:
                    left.set()

            server = await asyncio.start_server(HttpServer(handle, write_error).accept, HOST, 0)
            async with server:
                port = server.sockets[0].getsockname()[1]
                yield Desk(port=port, client=client, fills=fills, left=left)

    return opened


@pytest.fixture
async def desk(start_api: StartApi) -> AsyncIterator[Desk]:
    async with start_api() as desk:
        yield desk


async def test_a_qwen_prompt_is_completed(desk: Desk):
    reply = await desk.complete(model="any", prompt=QWEN, max_tokens=32, temperature=0.2)
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    choice = reply.json["choices"][0]
    assert (choice["text"], choice["finish_reason"], choice["index"]) == ("a + b", "stop", 0)
    assert reply.json["object"] == "text_completion"
    assert reply.json["model"] == "rules"
    usage = reply.json["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    (fill,) = desk.fills
    assert (fill.prefix + fill.given, fill.max_tokens) == (PREFIX, 32)
    assert SUFFIX.startswith(fill.suffix.rstrip("\n"))


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": PREFIX, "suffix": SUFFIX},
        {"prompt": QWEN.replace("<|", "<").replace("|>", ">")},
        {"prompt": f"<｜fim▁begin｜>{PREFIX}<｜fim▁hole｜>{SUFFIX}<｜fim▁end｜>"},
    ],
)
async def test_other_ways_to_say_both_sides_are_the_same(desk: Desk, fields: dict[str, str]):
    await desk.complete(prompt=QWEN)
    await desk.complete(**fields)
    first, second = desk.fills
    assert (first.prefix, first.given, first.suffix) == (second.prefix, second.given, second.suffix)


async def test_a_prompt_without_marks_is_all_prefix(desk: Desk):
    assert (await desk.complete(prompt=PREFIX)).json["choices"][0]["text"] == "a + b"
    assert (desk.fills[0].prefix + desk.fills[0].given, desk.fills[0].suffix) == (PREFIX, "")


async def test_the_answer_is_cleaned(start_api: StartApi):
    """What stands behind the hole is not said again, and no second line is begun."""
    async with start_api(lambda _: "a + b)\nprint(1)") as desk:
        reply = await desk.complete(prompt="x = (", suffix=")\n")
        assert reply.json["choices"][0]["text"] == "a + b"


async def test_stop_texts_and_limits_reach_the_engine(desk: Desk):
    reply = await desk.complete(prompt=QWEN, stop=["<|endoftext|>", "", " b"], seed=7)
    assert reply.json["choices"][0]["text"] == "a +"
    assert {"<|endoftext|>", " b"} <= set(desk.fills[0].stop)
    assert "" not in desk.fills[0].stop
    assert desk.fills[0].seed == 7
    reply = await desk.complete(prompt=QWEN, stop=" +", max_tokens=1)
    assert reply.json["choices"][0]["finish_reason"] == "length" or desk.fills[1].max_tokens == 1
    await desk.complete(prompt=QWEN, max_tokens=10**9)
    assert desk.fills[2].max_tokens == 512


async def test_a_cut_answer_says_so(start_api: StartApi):
    async with start_api(lambda _: "a + b + c + d") as desk:
        reply = await desk.complete(prompt=QWEN, max_tokens=2)
        assert reply.json["choices"][0]["finish_reason"] == "length"


async def test_a_language_opens_the_body_behind_a_header(start_api: StartApi):
    async with start_api(lambda _: "    return a\n    # and more") as desk:
        await desk.complete(prompt="def f(a):\n", language="python")
        await desk.complete(prompt="def f(a):\n")
        assert desk.fills[0].max_tokens > desk.fills[1].max_tokens


async def test_where_nothing_fits_the_text_is_empty(start_api: StartApi):
    async with start_api(lambda _: "") as desk:
        reply = await desk.complete(prompt=QWEN)
        assert (reply.status, reply.json["choices"][0]["text"]) == (200, "")


async def test_null_is_the_same_as_no_field(desk: Desk):
    nothing = dict.fromkeys(("suffix", "max_tokens", "stop", "stream", "n", "seed"))
    assert (await desk.complete(prompt=QWEN, **nothing)).json["choices"][0]["text"] == "a + b"


async def test_a_stream_is_one_event_and_its_end(desk: Desk):
    reply = await desk.complete(prompt=QWEN, stream=True)
    assert reply.headers["content-type"] == "text/event-stream"
    first, last, rest = reply.body.split(b"\n\n")
    assert json.loads(first.removeprefix(b"data: "))["choices"][0]["text"] == "a + b"
    assert (last, rest) == (b"data: [DONE]", b"")


async def test_the_model_is_named(desk: Desk):
    await desk.complete(prompt=QWEN)
    reply = await desk.ask("GET", "/v1/models?x=1")
    assert [model["id"] for model in reply.json["data"]] == ["rules"]


async def test_closing_the_connection_cancels_the_fill(start_api: StartApi):
    loop, begun, released = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    steps: list[int] = []

    def between_steps(step: int) -> None:
        steps.append(step)
        loop.call_soon_threadsafe(begun.set)
        released.wait(30)

    async with start_api(between_steps=between_steps) as desk:
        _, writer = await asyncio.open_connection(HOST, desk.port)
        body = json.dumps({"prompt": QWEN}).encode()
        writer.write(desk.request("POST", "/v1/completions", body))
        await begun.wait()
        writer.close()
        await desk.left.wait()
        await desk.client.status()  # behind the cancel, on the same connection
        released.set()
        assert (await desk.complete(prompt=QWEN)).status == 200
    assert steps == [1, 1, 2, 3], "one step of the first fill, all of the second"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not a completion request"),
        (b"[]", "not a completion request"),
        (b"{}", "prompt"),
        (b'{"prompt": 1}', "prompt"),
        (b'{"prompt": "x", "max_tokens": 0}', "max_tokens"),
        (b'{"prompt": "x", "n": 2}', "n must be 1"),
        (b'{"prompt": "x", "seed": 18446744073709551616}', "seed"),
        (b'{"prompt": "x", "seed": -9223372036854775809}', "seed"),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
        (b'{"prompt": "\xff"}', "not a completion request"),
    ],
)
async def test_a_body_that_is_none_is_refused_in_one_line(desk: Desk, body: bytes, says: str):
    reply = await desk.ask("POST", "/v1/completions", body)
    assert reply.status == 400
    message = reply.json["error"]["message"]
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9258", "192.168.1.2", "", "[::1"])
async def test_another_host_name_is_refused(desk: Desk, host: str):
    reply = await desk.ask("GET", "/v1/models", Host=host)
    assert reply.status in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1"])
async def test_names_of_this_machine_are_taken(desk: Desk, host: str):
    assert (await desk.ask("GET", "/v1/models", Host=host)).status == 200


async def test_web_pages_are_refused_and_told_nothing(desk: Desk):
    page = {"Origin": "https://evil.example"}
    for method in ("GET", "POST", "OPTIONS"):
        reply = await desk.ask(method, "/v1/completions", b"{}", **page)
        assert reply.status == 403
        assert not any(name.startswith("access-control") for name in reply.headers)
    simple = await desk.ask(
        "POST", "/v1/completions", b'{"prompt": "x"}', Content_Type="text/plain"
    )
    assert simple.status == 415
    assert desk.fills == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("POST", "/v1/chat/completions", 404),
        ("GET", "/v1/completions", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
async def test_other_paths_and_methods_are_refused(desk: Desk, method: str, path: str, status: int):
    assert (await desk.ask(method, path)).status == status


async def test_a_client_that_waits_to_be_told_may_send_its_body(desk: Desk):
    body = json.dumps({"prompt": QWEN}).encode()
    head = desk.request("POST", "/v1/completions", body, Expect="100-continue").removesuffix(body)
    reader, writer = await asyncio.open_connection(HOST, desk.port)
    writer.write(head)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    writer.write(body)
    assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_the_answer_to_a_head_request_has_no_body(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    reply = await desk.ask("HEAD", "/v1/models")
    assert (reply.status, reply.body) == (405, b"")
    assert not caplog.records, "nothing went wrong in the server"


async def test_a_body_that_is_too_long_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1000)
    assert (await desk.complete(prompt="x" * 2000)).status == 413


async def test_what_is_no_http_is_refused_and_the_server_stays_up(desk: Desk):
    assert (await desk.send(b"\x16\x03\x01 hello\r\n\r\n")).status == 400
    assert (await desk.send(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 9000 + b"\r\n")).status in (
        400,
        431,
    )
    assert (await desk.complete(prompt=QWEN)).status == 200


async def test_a_request_that_never_ends_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "READ_TIMEOUT_S", 0.0)
    assert (await desk.send(b"POST /v1/completions HTTP/1.1\r\n")).status == 408


async def test_too_many_requests_at_once_are_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 0)
    assert (await desk.complete(prompt=QWEN)).status == 503


async def test_without_an_engine_the_reason_is_told(address: Address):
    async with EngineClient(name="api", start=False, address=address) as client:
        http = HttpServer(Completions(client).handle, write_error)
        server = await asyncio.start_server(http.accept, HOST, 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            reply = await Desk(port=port, client=client).complete(prompt=QWEN)
    assert reply.status == 503
    assert "no engine is running" in reply.json["error"]["message"]


def test_a_port_that_is_taken_is_named(address: Address):
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(command, ["--port", str(port)])
    assert isinstance(result.exception, CliError)
    assert f"port {port} is unavailable" in str(result.exception)
    assert result.exception.code == ExitCode.BAD_INPUT


def test_only_this_machine_can_reach_it():
    assert HOST == "127.0.0.1"
    assert not any(option.name == "host" for option in command.params)
