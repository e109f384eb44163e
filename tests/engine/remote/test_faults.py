"""Whatever is wrong with a server gives one reason, soon. The servers are real, on loopback."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import CERTIFICATES, Respond, answer, begin_events, serving, silence, tls
from llama_cpp_double import event, last_event, llama_cpp_answers, send, writing
from remote_settings import HOLE, RemoteSettings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.errors import Cancelled, RemoteError
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.remote.fill import link
from intarsia.engine.remote.http import connections


def refusal(run: Callable[[], object]) -> RemoteError:
    """Return the error, which must come within the time limits."""
    began = time.monotonic()
    with pytest.raises(RemoteError) as caught:
        run()
    assert time.monotonic() - began < 20
    assert "\n" not in str(caught.value)
    return caught.value


def saying(status: int, body: bytes = b"{}", headers: str = "") -> Respond:
    return lambda path, _, connection: answer(connection, body, status=status, headers=headers)


def test_a_server_that_is_gone(ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    error = refusal(lambda: ask(f"http://127.0.0.1:{port}"))
    assert error.code == "unavailable"
    assert f"cannot be reached at 127.0.0.1:{port} (Connection refused)" in str(error)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "no..host", "x" * 64 + ".invalid"])
def test_a_host_without_an_address(ask, host: str) -> None:
    error = refusal(lambda: ask(f"https://{host}"))
    assert error.code == "unavailable"
    assert f"host {host} was not found" in str(error)


def test_a_name_server_that_does_not_answer(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: is_over.wait(60) and [])
    monkeypatch.setattr(connections, "CONNECT_LIMIT_S", 0.1)
    error = refusal(lambda: ask("https://slow.invalid"))
    assert not is_over.is_set()
    assert "cannot be reached at slow.invalid:443 (no answer)" in str(error)
    is_over.set()


def test_no_name_server_is_asked_where_localhost_is(ask, monkeypatch):
    asked: list[object] = []
    look_up = socket.getaddrinfo

    def noted(host: object, *options: Any, **named: Any) -> Any:
        asked.append(host)
        return look_up("127.0.0.1" if host == "localhost" else host, *options, **named)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    answers = llama_cpp_answers(writing(event(toy_tokenizer().encode("val").ids), last_event()))
    with serving(answers) as server:
        assert ask(server.url.replace("127.0.0.1", "localhost")).text == "val"
        assert b"host: localhost:" in server.heads[0].lower()
    assert set(asked) == {"127.0.0.1"}


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_says_when_to_come_again(ask, status: int) -> None:
    said = b'{"error": {"message": "Loading\\nmodel"}}'
    with serving(saying(status, said, "Retry-After: 7\r\n")) as server:
        error = refusal(lambda: ask(server.url))
    assert (error.code, error.retry_after_s) == ("busy", 7)
    assert f"is busy (status {status}, Loading model): try again in 7 s" in str(error)


@pytest.mark.parametrize("value", ["soon", "-3", "1e400", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_an_odd_retry_after_is_no_crash(ask, value: str) -> None:
    with serving(saying(503, headers=f"Retry-After: {value}\r\n")) as server:
        error = refusal(lambda: ask(server.url))
    assert error.retry_after_s is None or 0 <= error.retry_after_s <= 300


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key(ask, status: int, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-old\n")
    key.chmod(0o600)
    with serving(saying(status)) as server:
        error = refusal(lambda: ask(server.url, key_file=key))
        assert b"authorization: bearer sk-old" in server.heads[0].lower()
    assert (error.code, "renew the key" in str(error)) == ("model", True)
    assert "sk-old" not in str(error)


def test_a_redirect_is_not_followed(ask) -> None:
    with serving(saying(200)) as other:
        moved = saying(307, headers=f"Location: {other.url}/v1/models\r\n")
        with serving(moved) as server:
            error = refusal(lambda: ask(server.url))
        assert other.heads == []
    assert "sends to another address" in str(error)


def stream(*pieces: bytes) -> Respond:
    return llama_cpp_answers(writing(*pieces))


def owned_by(owner: str) -> Respond:
    return saying(200, json.dumps({"data": [{"id": "m", "owned_by": owner}]}).encode())


NO_LISTS = (b"", b"<html>", b"[]", b'{"data": 3}', b'{"data": [3]}', b"\xff\xfe", b"[" * 100_000)
NO_HTTP = (b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200", b"\0" * 100_000)
NO_EVENTS = (
    b"",  # it ends without a last event
    b"data: {\n\n",
    b"data: 7\n\n",
    b'data: {"tokens": ["x"]}\n\n',
    b'data: {"tokens": [1, 2], "completion_probabilities": []}\n\n',
    b'data: {"error": {"code": 500, "message": "out of\\nmemory"}}\n\n',
)
FULL = b'data: {"error": {"code": 503, "message": "no slot"}}\n\n'


@pytest.mark.parametrize(
    ("respond", "code", "words"),
    [
        *((saying(200, body), "unavailable", "is unusable") for body in NO_LISTS),
        *((lambda *them, raw=raw: them[2].sendall(raw), "unavailable", "") for raw in NO_HTTP),
        *((stream(events), "unavailable", "is unusable") for events in NO_EVENTS),
        (lambda *them: silence(them[2]), "unavailable", "it sent nothing for 1 s"),
        (stream(FULL), "busy", "is busy (no slot)"),
        (owned_by("somebody"), "model", "use llama.cpp"),
        (owned_by("openai"), "model", "use llama.cpp"),
    ],
)
def test_what_is_no_answer_has_its_reason(ask, respond, code, words):
    with serving(respond) as server:
        error = refusal(lambda: ask(server.url))
    assert error.code == code
    assert words in str(error)


def test_an_id_beyond_the_vocabulary_is_no_text(ask) -> None:
    with serving(llama_cpp_answers(writing(event([10**9]), last_event()))) as server:
        assert ask(server.url).text == ""


def test_a_stream_without_end_is_left_at_the_end_of_the_hole(ask) -> None:
    ids = toy_tokenizer().encode("x1").ids

    def endless(request: dict[str, Any], connection: socket.socket) -> None:
        begin_events(connection)
        while True:
            connection.sendall(event(ids))

    with serving(llama_cpp_answers(endless)) as server:
        assert ask(server.url).text == "x1" * (HOLE.max_tokens // 2)
        server.until_closed_early(1)


def test_another_tokenizer_is_refused(ask) -> None:
    answers = llama_cpp_answers(writing(last_event()))

    def other(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/tokenize":
            send(connection, {"tokens": list(json.loads(body)["content"].encode())[::-1]})
        else:
            answers(path, body, connection)

    with serving(other) as server:
        error = refusal(lambda: ask(server.url))
        assert "/completion" not in server.paths()
    assert (error.code, "has another tokenizer (toy)" in str(error)) == ("model", True)


def test_a_certificate_of_the_users_authority_is_accepted(ask) -> None:
    ids = toy_tokenizer().encode("val").ids
    answers = llama_cpp_answers(writing(event(ids), last_event()))
    with serving(answers, tls("valid")) as server:
        assert ask(server.url, ca=CERTIFICATES / "authority.pem").text == "val"


@pytest.mark.parametrize(
    ("certificate", "options", "words"),
    [
        ("valid", {}, "is not accepted"),
        ("expired", {"ca": CERTIFICATES / "authority.pem"}, "certificate has expired"),
    ],
)
def test_a_certificate_that_is_refused(ask, certificate, options, words):
    with serving(saying(200), tls(certificate)) as server:
        error = refusal(lambda: ask(server.url, **options))
        assert server.heads == []
    assert (error.code, words in str(error)) == ("model", True)


def test_https_to_a_server_without_tls(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECT_LIMIT_S", 0.2)
    with serving(saying(200)) as server:
        error = refusal(lambda: ask(server.url.replace("http:", "https:")))
    assert "does not speak TLS" in str(error)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_unusable_authority(ask, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with serving(saying(200), tls("valid")) as server:
        error = refusal(lambda: ask(server.url, ca=path))
    assert "cannot be read" in str(error)


@pytest.fixture
def slow() -> Iterator[Respond]:
    """A server that sends one token, then nothing more."""

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        begin_events(connection)
        connection.sendall(event(toy_tokenizer().encode("val").ids))
        silence(connection)

    return llama_cpp_answers(complete)


def test_a_cancelled_fill_closes_its_connection(ask, slow: Respond) -> None:
    steps: list[object] = []
    cancelled = threading.Event()

    def checkpoint() -> None:
        if steps:
            cancelled.set()
            raise Cancelled

    with serving(slow) as server:
        control = FillControl(on_step=steps.append, checkpoint=checkpoint)
        with pytest.raises(Cancelled):
            ask(server.url, control, timeout_s=60)
        server.until_closed_early(1)
    assert len(steps) == 1


def test_at_the_deadline_the_text_so_far_is_the_answer(ask, slow: Respond) -> None:
    with serving(slow) as server:
        control = FillControl(deadline=time.monotonic() + 1)
        assert ask(server.url, control, timeout_s=60).text == "val"


ENDLESS = {
    "informational": b"HTTP/1.1 102 Processing\r\n\r\n",
    "head": b"HTTP/1.1 200 OK\r\nX: y\r\n",
    "comments": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
    "body": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ",
}
REST = {"informational": ENDLESS["informational"], "head": b"X: y\r\n", "comments": b":\n"}


def endless(kind: str) -> Respond:
    """Send something every two milliseconds that never becomes a whole answer."""

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        connection.sendall(ENDLESS[kind])
        while True:
            connection.sendall(REST.get(kind, b"x"))
            time.sleep(0.002)

    return llama_cpp_answers(complete)


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_comes_without_end_is_left(ask, kind, monkeypatch):
    """When the fill is cancelled, at its deadline, and after the time of an exchange."""
    cancels_at = time.monotonic() + 0.3

    def checkpoint() -> None:
        if time.monotonic() > cancels_at:
            raise Cancelled

    with serving(endless(kind)) as server:
        with pytest.raises(Cancelled):
            ask(server.url, FillControl(checkpoint=checkpoint))
        server.until_closed_early(1)
        assert ask(server.url, FillControl(deadline=time.monotonic() + 0.3)).text == ""
        monkeypatch.setattr(link, "_TOTAL_FACTOR", 1)
        error = refusal(lambda: ask(server.url, timeout_s=1))
    assert "its answer did not end in 1 s" in str(error)


def test_after_a_fault_the_server_is_spared(settings: RemoteSettings, toy_folder: Path) -> None:
    """Each key would wait for the same fault."""
    is_up = True

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        if is_up:
            writing(event(toy_tokenizer().encode("val").ids), last_event())(request, connection)
        else:
            send(connection, {}, status=429)

    with serving(llama_cpp_answers(complete)) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder)
        assert filler.fill(HOLE, NO_CONTROL).text == "val"
        is_up = False
        first = refusal(lambda: filler.fill(HOLE, NO_CONTROL))
        num_asked = len(server.heads)
        for _ in range(5):
            assert str(refusal(lambda: filler.fill(HOLE, NO_CONTROL))) == str(first)
        assert len(server.heads) == num_asked


def test_a_changed_settings_file_counts_at_once(settings: RemoteSettings, toy_folder: Path) -> None:
    def server_of(word: str) -> Respond:
        return llama_cpp_answers(writing(event(toy_tokenizer().encode(word).ids), last_event()))

    with serving(server_of("val")) as one, serving(server_of("def")) as other:
        filler = settings.filler(one.url, tokenizer=toy_folder)
        assert filler.fill(HOLE, NO_CONTROL).text == "val"
        settings.write(other.url, tokenizer=toy_folder)
        assert filler.fill(HOLE, NO_CONTROL).text == "def"
        settings.path.unlink()
        error = refusal(lambda: filler.fill(HOLE, NO_CONTROL))
        assert (error.code, "no remote 'there'" in str(error)) == ("model", True)
