"""The body of a remote server's answer in every dialect: events, however it is cut into pieces."""

from collections.abc import Sequence

from harness.byte_reader import ByteReader
from harness.remote_dialects import EVENTS, READERS, REMOTE, read
from harness.target import Target

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.fill.link import pieces
from intarsia.engine.remote.http.exchange import Answer

HEADERS = {"content-type": "text/event-stream"}
KINDS = tuple(READERS)


def check(data: bytes) -> None:
    """Read events with one of them damaged; in other pieces the answer says the same."""
    reader = ByteReader(data)
    kind, piece_bytes = reader.pick(KINDS), 1 + reader.byte()
    event, start, num_bytes = reader.pick(EVENTS), reader.byte(), reader.byte()
    damaged = event[:start] + reader.rest() + event[start + num_bytes :]
    mark = b"data: " if READERS[kind][0] == "events" else b""
    body = mark + event + b"\n\n" + mark + damaged + b"\n"
    cut = [body[at : at + piece_bytes] for at in range(0, len(body), piece_bytes)]
    assert _said(kind, cut) == _said(kind, [body])


def _said(kind: str, body: Sequence[bytes]) -> str:
    """Return all that is read, as text: NaN is equal to NaN then."""
    form, parse = READERS[kind]
    answer = Answer(status=200, headers=HEADERS, body=iter(body))
    try:
        return repr([read(parse, data) for data in pieces(REMOTE, "/fill", answer, form)])
    except RemoteError as error:
        return str(error)


TARGET = Target(
    about="events of remote servers, six dialects",
    check=check,
    seeds=[
        bytes([kind, 7, event, start, 3]) + change
        for kind in range(len(KINDS))
        for event, start, change in ((kind % 5, 20, b"1e999"), (5, 30, b"\\ud800"), (7, 0, b"{}"))
    ],
    watched=["intarsia.engine.remote"],
    weight=130,
    max_bytes=160,
)
