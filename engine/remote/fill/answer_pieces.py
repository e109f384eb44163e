"""The pieces of an answer's body: server-sent events, lines of JSON, or the whole at once."""

from collections.abc import Iterator

from intarsia.engine.remote.dialects.text_generation import AnswerForm
from intarsia.engine.remote.http.exchange import Answer, unusable
from intarsia.engine.remote.http.statuses import require_success
from intarsia.engine.remote.settings.remotes import Remote


def pieces(remote: Remote, path: str, answer: Answer, form: AnswerForm) -> Iterator[bytes]:
    """Yield the data of each event, each line that is not blank, or the whole body.

    Raises RemoteError for another status than success, and for an answer of another form.
    """
    require_success(remote, path, answer.status, answer.headers, answer.body)
    match form:
        case "events":
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                raise unusable(remote, f"{path} is no stream of events")
            yield from _event_data(answer.body)
        case "lines":
            yield from filter(None, map(bytes.strip, _lines(answer.body)))
        case "whole":
            yield b"".join(answer.body)


def _event_data(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of each event: lines of the form ``data: …``, one for each event."""
    for line in _lines(body):
        if line.startswith(b"data:"):
            yield line[5:].strip()
        elif line.startswith(b"error:"):
            yield line[6:].strip()


def _lines(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield each whole line without its line end. A line may come in millions of pieces."""
    begun: list[bytes] = []
    for piece in body:
        first, *others = piece.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun)
            yield from others[:-1]
            begun = [others[-1]]
