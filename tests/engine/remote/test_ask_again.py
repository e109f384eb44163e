"""A server that ends before its answer does is asked again, as another one may be there by then."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

import msgspec
import pytest
from http_server import Respond, answer, begin_events, serving, silence
from llama_cpp_double import event, last_event, llama_cpp_answers, send, writing
from remote_settings import HOLE
from scripted_engine import filled_with
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.errors import Cancelled, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import PROTOCOL_VERSION, CanvasToken, Failed, Step
from intarsia.engine.remote.fill.link import WAITS_S

NUM_TRIES = 1 + len(WAITS_S)

Answer: TypeAlias = Callable[[socket.socket], None]
"""Writes the answer to one fill."""


def end_without_a_word(connection: socket.socket) -> None:
    """End as a process that was killed before it answered."""


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def end_within_the_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-")


def end_within_the_body(connection: socket.socket) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"type":"filled",')


def end_within_the_events(connection: socket.socket) -> None:
    begin_events(connection)
    connection.sendall(b"data: {")


def end_before_the_last_event(connection: socket.socket) -> None:
    """End as a proxy ends its answer for a server that is gone: in good order."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    connection.sendall(head + b"0\r\n\r\n")


def page_of_a_proxy(connection: socket.socket) -> None:
    answer(connection, b"<html>Bad Gateway</html>", status=502)


def error_of_rays_proxy(connection: socket.socket) -> None:
    answer(connection, b"Internal Server Error", status=500)


ENDS = [end_without_a_word, reset, end_within_the_head, page_of_a_proxy, error_of_rays_proxy]
ENDS_OF_EVENTS = [end_within_the_events, end_before_the_last_event]


def token(text: str) -> CanvasToken:
    return CanvasToken(text=text, confidence=0.9, is_settled=True)


def filled_by_a_team(connection: socket.socket) -> None:
    message = filled_with("return val", id=HOLE.id, tokens=(token("return val"),))
    answer(connection, msgspec.json.encode(message))


def events_of_a_team(connection: socket.socket) -> None:
    """Send a step that the user has seen already, and end."""
    begin_events(connection)
    step = Step(id=HOLE.id, step=1, tokens=(token("return"),))
    connection.sendall(b"data: " + msgspec.json.encode(step) + b"\n\n")


def filled_by_llama_cpp(connection: socket.socket) -> None:
    ids = toy_tokenizer().encode("return val").ids
    writing(event(ids), last_event())({}, connection)


def team(answers: list[Answer]) -> Respond:
    """Return a team's engine that answers its fills so, in turn; the last one again and again."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            send(connection, {"data": [{"id": "toy", "owned_by": "intarsia"}]})
        elif path == "/v1/status":
            send(connection, {"protocol": PROTOCOL_VERSION})
        else:
            (answers.pop(0) if len(answers) > 1 else answers[0])(connection)

    return respond


def llama_cpp(answers: list[Answer]) -> Respond:
    """Return llama.cpp's server that answers its fills so, in turn."""
    return llama_cpp_answers(
        lambda _, connection: (answers.pop(0) if len(answers) > 1 else answers[0])(connection)
    )


SYSTEMS = [
    pytest.param(team, "/v1/fill", filled_by_a_team, id="team"),
    pytest.param(llama_cpp, "/completion", filled_by_llama_cpp, id="llama.cpp"),
]

WAYS = [
    *((one, end) for one in SYSTEMS for end in ENDS),
    (SYSTEMS[0], end_within_the_body),
    *((SYSTEMS[1], end) for end in ENDS_OF_EVENTS),
]


@pytest.mark.parametrize(
    ("system", "path", "complete", "end"),
    [pytest.param(*one.values, end, id=f"{one.id}-{end.__name__}") for one, end in WAYS],
)
def test_the_user_sees_no_server_that_ended(ask, system, path, complete, end):
    with serving(system([end, end, complete])) as server:
        assert ask(server.url).text == "return val"
        assert server.paths().count(path) == 3


@pytest.mark.parametrize(("system", "path", "complete"), SYSTEMS)
def test_a_server_that_always_ends_is_told_after_three_tries(ask, system, path, complete):
    with serving(system([end_without_a_word])) as server:
        with pytest.raises(RemoteError, match="unusable") as caught:
            ask(server.url)
        assert server.paths().count(path) == NUM_TRIES
    assert caught.value.code == "unavailable"


@pytest.mark.parametrize("end", ENDS_OF_EVENTS)
def test_the_steps_begin_again(ask, end: Answer) -> None:
    steps: list[Step] = []

    def all_events(connection: socket.socket) -> None:
        events_of_a_team(connection)
        message = Failed(id=HOLE.id, code="internal", message="a fault of its own")
        connection.sendall(b"data: " + msgspec.json.encode(message) + b"\n\n")

    with serving(team([events_of_a_team, end, all_events])) as server:
        with pytest.raises(RemoteError, match="a fault of its own"):
            ask(server.url, FillControl(on_step=steps.append))
        assert server.paths().count("/v1/fill") == 3
    assert [step.tokens[0].text for step in steps] == ["return", "return"]


def saying(status: int, message: object) -> Answer:
    return lambda connection: send(connection, message, status=status)


FAILED = {"type": "failed", "id": HOLE.id, "code": "out_of_memory", "message": "no memory"}


@pytest.mark.parametrize(("system", "path", "complete"), SYSTEMS)
@pytest.mark.parametrize(
    "refuses",
    [
        *(saying(status, {}) for status in (400, 401, 404, 409, 413, 422, 429, 503)),
        saying(500, {"error": {"message": "no memory"}}),
        saying(500, FAILED),
        saying(200, {"type": "filled"}),
        silence,
    ],
)
def test_a_server_that_refuses_is_not_asked_again(ask, system, path, complete, refuses):
    with serving(system([refuses, complete])) as server:
        with pytest.raises(RemoteError):
            ask(server.url)
        assert server.paths().count(path) == 1


def test_a_cancelled_fill_is_not_asked_again(ask) -> None:
    ended = threading.Event()

    def end(connection: socket.socket) -> None:
        ended.set()

    def checkpoint() -> None:
        if ended.is_set():
            raise Cancelled

    with serving(team([end, filled_by_a_team])) as server:
        with pytest.raises(Cancelled):
            ask(server.url, FillControl(checkpoint=checkpoint))
        assert server.paths().count("/v1/fill") == 1


def test_after_its_deadline_a_fill_is_not_asked_again(ask) -> None:
    def end_late(connection: socket.socket) -> None:
        time.sleep(0.3)

    with serving(team([end_late, filled_by_a_team])) as server:
        with pytest.raises(RemoteError):
            ask(server.url, FillControl(deadline=time.monotonic() + 0.2))
        assert server.paths().count("/v1/fill") == 1


def test_a_server_that_ends_while_it_is_asked_what_it_is_is_asked_again(ask) -> None:
    ends = [page_of_a_proxy]
    answers = team([filled_by_a_team])

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if ends:
            ends.pop()(connection)
        else:
            answers(path, body, connection)

    with serving(respond) as server:
        assert ask(server.url).text == "return val"
    assert server.paths()[:2] == ["/v1/models", "/v1/models"]
