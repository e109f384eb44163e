"""A team's engine in a process of its own, with keys for a number of users, and requests to it."""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import h11
import msgspec

from intarsia.engine.ipc.messages import Failed, Fill, Filled
from intarsia.engine.team.keys import line_of, new_key
from intarsia_research.errors import EvaluationFault

_START_S = 300.0
_MAX_BYTES = 16 * 1024 * 1024

_answer: msgspec.json.Decoder[Filled | Failed] = msgspec.json.Decoder(Filled | Failed)


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamEngineProcess:
    """A running engine, which has loaded its model."""

    port: int
    keys: tuple[str, ...]  # of the users

    async def fill(self, user: int, request: Fill) -> Filled:
        """Return the answer; cancelling the await closes the connection.

        Raises EvaluationFault if the engine refuses.
        """
        body = await self._exchange("POST", "/v1/fill", user, msgspec.json.encode(request))
        answer = _answer.decode(body)
        if isinstance(answer, Failed):
            raise EvaluationFault(f"the engine refused a fill: {answer.message}")
        return answer

    async def gauges(self) -> Mapping[str, float]:
        """Return the metrics without labels, by name."""
        text = (await self._exchange("GET", "/metrics", 0)).decode()
        rows = (line.split() for line in text.splitlines() if line[:1] not in ("", "#"))
        return {row[0]: float(row[1]) for row in rows if len(row) == 2 and "{" not in row[0]}

    async def _exchange(self, method: str, path: str, user: int, body: bytes = b"") -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_BYTES)
            head = [
                ("Host", "127.0.0.1"),
                ("Authorization", f"Bearer {self.keys[user]}"),
                ("Content-Length", str(len(body))),
                ("Connection", "close"),
            ]
            sent = (
                http.send(h11.Request(method=method, target=path, headers=head)),
                http.send(h11.Data(data=body)) if body else b"",
                http.send(h11.EndOfMessage()),
            )
            writer.write(b"".join(part or b"" for part in sent))
            await writer.drain()
            return await _body(http, reader)
        finally:
            writer.close()


async def _body(http: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage):
            return b"".join(parts)


@asynccontextmanager
async def team_engine(model: str, num_users: int) -> AsyncIterator[TeamEngineProcess]:
    """Start an engine for this many users, and end it afterwards. Raises EvaluationFault."""
    with tempfile.TemporaryDirectory(prefix="intarsia-team-") as folder:
        keys = tuple(new_key() for _ in range(num_users))
        path, port = Path(folder) / "keys", _free_port()
        path.write_text("".join(line_of(f"user{i}", key) for i, key in enumerate(keys)))
        path.chmod(0o600)
        limits = ("--per-minute", "100000", "--max-waiting", "1000", "--drain", "0")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "intarsia.cli", "team", "serve"),
            *("--keys", str(path), "--port", str(port), "--model", model, *limits),
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "INTARSIA_CONTEXTS_DIR": folder},
        )
        try:
            await _until_ready(port, process)
            yield TeamEngineProcess(port=port, keys=keys)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _until_ready(port: int, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(_START_S):
        while process.returncode is None:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET /readyz HTTP/1.0\r\n\r\n")
                is_ready = b" 200 " in await reader.readline()
                writer.close()
                if is_ready:
                    return
            await asyncio.sleep(0.2)
    raise EvaluationFault("the team's engine did not start: try `intarsia team serve`")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
