"""A connection carries the next request after a whole answer, and after no other."""

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from http_server import CERTIFICATES, Respond, answer, serving, tls
from llama_cpp_double import event, last_event, llama_cpp_answers
from remote_settings import HOLE, RemoteSettings
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.errors import RemoteError
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.remote.http import connections
from intarsia.engine.remote.http.connections import MAX_KEPT, KeptConnections, Watch
from intarsia.engine.remote.http.exchange import ask_json, open_exchange
from intarsia.engine.remote.http.remotes import Remote, find_remote


def watch() -> Watch:
    return Watch(checkpoint=lambda: None, silence_s=10, total_s=20)


def remote_at(settings: RemoteSettings, url: str, **options: object) -> Remote:
    settings.write(url, **options)
    return find_remote("there")


def asking(settings: RemoteSettings, url: str, **options: object) -> Callable[[], Any]:
    """Return a function that asks a server for JSON, by connections that are kept."""
    remote = remote_at(settings, url, **options)
    kept = KeptConnections(remote)
    return lambda: ask_json(remote, "/a", watch(), {}, kept)


def one(path: str, body: bytes, connection: socket.socket) -> None:
    answer(connection, b"1")


def events(connection: socket.socket, *pieces: bytes, is_whole: bool = True) -> None:
    """Write a stream of events in chunks, which tells where it ends."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    connection.sendall(head + chunks + (b"0\r\n\r\n" if is_whole else b""))


@pytest.mark.parametrize(
    ("is_tls", "is_kept", "max_idle_s", "num_connections"),
    [(False, True, 60, 1), (True, True, 60, 1), (False, False, 60, 3), (False, True, 0, 3)],
)
def test_requests_after_whole_answers_share_a_connection_that_is_kept_and_not_idle_for_long(
    settings, monkeypatch, is_tls, is_kept, max_idle_s, num_connections
):
    monkeypatch.setattr(connections, "MAX_IDLE_S", max_idle_s)
    options = {"ca": CERTIFICATES / "authority.pem"} if is_tls else {}
    with serving(one, tls() if is_tls else None, keeps_open=True) as server:
        remote = remote_at(settings, server.url, **options)
        kept = KeptConnections(remote) if is_kept else None
        assert [ask_json(remote, "/a", watch(), {}, kept) for _ in range(3)] == [1, 1, 1]
        assert (server.num_connections, len(server.heads)) == (num_connections, 3)
        is_asked = [b"connection: keep-alive" in head.lower() for head in server.heads]
        assert is_asked == [is_kept] * 3


def first_piece(remote: Remote, kept: KeptConnections, *, has_said_all: bool) -> bytes:
    """Return the first piece of a stream, and leave it there."""
    with open_exchange(remote, "/a", watch(), {}, kept) as answer:
        answer.has_said_all = has_said_all
        return next(answer.body)


def test_a_stream_left_after_its_last_piece_keeps_the_connection(settings, monkeypatch):
    monkeypatch.setattr(connections, "END_LIMIT_S", 20)
    was_taken = threading.Event()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        events(connection, b"data: 1\n\n", is_whole=False)
        assert was_taken.wait(10)
        was_taken.clear()
        connection.sendall(b"0\r\n\r\n")

    with serving(respond, keeps_open=True) as server:
        remote = remote_at(settings, server.url)
        kept = KeptConnections(remote)
        for _ in range(2):
            with open_exchange(remote, "/a", watch(), {}, kept) as answer:
                assert next(answer.body) == b"data: 1\n\n"
                answer.has_said_all = True
                was_taken.set()
        assert server.num_connections == 1


@pytest.mark.parametrize("rest", [b"", b"8\r\ndata: 2\n\r\n" * 40_000])
def test_a_stream_that_goes_on_after_its_last_piece_is_closed(settings, rest):
    is_closed = threading.Event()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        events(connection, b"data: 1\n\n", is_whole=False)
        try:
            connection.sendall(rest)
            is_open = connection.recv(1)
        except OSError:
            is_open = b""
        if not is_open:
            is_closed.set()

    with serving(respond, keeps_open=True) as server:
        remote = remote_at(settings, server.url)
        kept = KeptConnections(remote)
        for number in (1, 2):
            assert first_piece(remote, kept, has_said_all=True) == b"data: 1\n\n"
            assert server.num_connections == number
        assert is_closed.wait(10)


def test_a_stream_that_is_given_up_is_cancelled(settings: RemoteSettings) -> None:
    is_closed = threading.Event()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        events(connection, b"data: 1\n\n", is_whole=False)
        if not connection.recv(1):
            is_closed.set()

    with serving(respond, keeps_open=True) as server:
        remote = remote_at(settings, server.url)
        kept = KeptConnections(remote)
        assert first_piece(remote, kept, has_said_all=False) == b"data: 1\n\n"
        assert is_closed.wait(10)
        assert first_piece(remote, kept, has_said_all=False) == b"data: 1\n\n"
        assert server.num_connections == 2


def test_a_connection_that_the_server_has_ended_is_replaced(settings: RemoteSettings) -> None:
    ended = threading.Event()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        answer(connection, b"1")
        connection.shutdown(socket.SHUT_RDWR)
        ended.set()

    with serving(respond) as server:
        ask = asking(settings, server.url)
        for _ in range(2):
            assert ask() == 1
            assert ended.wait(10)
        assert server.num_connections == 2


def ending_the_second(*, first_bytes: bytes) -> Respond:
    """Answer the first request of a connection; end the connection within the second answer."""
    num_asked = dict[int, int]()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        asked = num_asked[id(connection)] = num_asked.get(id(connection), 0) + 1
        if asked == 1:
            answer(connection, b"1")
        else:
            connection.sendall(first_bytes)
            raise ConnectionAbortedError

    return respond


def test_a_request_that_a_kept_connection_lost_is_sent_again(settings: RemoteSettings) -> None:
    with serving(ending_the_second(first_bytes=b""), keeps_open=True) as server:
        ask = asking(settings, server.url)
        assert [ask() for _ in range(2)] == [1, 1]
        assert (server.num_connections, len(server.heads)) == (2, 3)


def test_an_answer_that_is_cut_off_is_a_fault_on_a_kept_connection(settings):
    with serving(ending_the_second(first_bytes=b"HTTP/1.1 200"), keeps_open=True) as server:
        ask = asking(settings, server.url)
        assert ask() == 1
        with pytest.raises(RemoteError) as caught:
            ask()
        assert caught.value.is_cut_off
        assert len(server.heads) == 2


@pytest.mark.parametrize("is_tls", [False, True])
@pytest.mark.parametrize("num_sends", [1, 2])
def test_bytes_that_were_not_asked_for_are_no_answer(settings, is_tls, num_sends):
    """A second answer in advance would be taken for that of the next request."""
    answers = [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + it for it in (b"1", b"9")]
    were_sent = threading.Event()

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for sent in answers if num_sends == 2 else [b"".join(answers)]:
            connection.sendall(sent)
        were_sent.set()

    with serving(respond, tls() if is_tls else None, keeps_open=True) as server:
        options = {"ca": CERTIFICATES / "authority.pem"} if is_tls else {}
        ask = asking(settings, server.url, **options)
        for number in (1, 2, 3):
            assert ask() == 1
            assert server.num_connections == number
            assert were_sent.wait(10)
            were_sent.clear()


def test_no_more_connections_are_kept_than_a_user_needs(settings: RemoteSettings) -> None:
    together = threading.Barrier(MAX_KEPT + 1)

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        together.wait(10)
        answer(connection, b"1")

    with serving(respond, keeps_open=True) as server:
        ask = asking(settings, server.url)
        for _ in range(2):
            with ThreadPoolExecutor(MAX_KEPT + 1) as threads:
                asked = [threads.submit(ask) for _ in range(MAX_KEPT + 1)]
                assert [it.result(20) for it in asked] == [1] * (MAX_KEPT + 1)
        assert server.num_connections == MAX_KEPT + 2


def test_fills_share_a_connection_until_a_pause(settings: RemoteSettings, toy_folder: Path) -> None:
    ids = toy_tokenizer().encode("return val").ids

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        events(connection, event(ids), last_event())

    with serving(llama_cpp_answers(complete), keeps_open=True) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder)
        filler.fill(HOLE, NO_CONTROL)
        num_before = server.num_connections
        for _ in range(3):
            assert filler.fill(HOLE, NO_CONTROL).text == "return val"
        assert server.num_connections == num_before
        filler.rest()
        assert filler.fill(HOLE, NO_CONTROL).text == "return val"
        assert server.num_connections == num_before + 1
        filler.rest()
