"""The client of the engine: ``await client.fill(...)``; cancelling the await cancels the fill.

Raises an ``EngineError`` where there is no answer. Imports neither torch nor transformers.
"""

import itertools
from typing import Self, TypeVar

from msgspec.structs import replace

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.connection import Answered, ConnectionLost, OnLoadProgress, OnStep
from intarsia.engine.ipc.errors import (
    EngineError,
    EngineStuck,
    EngineUnavailable,
    FillFailed,
    NoEngine,
)
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.engine.ipc.link import Link
from intarsia.engine.ipc.messages import (
    AheadReport,
    Fill,
    Filled,
    FindNextEdits,
    GetStatus,
    NextEdits,
    Prefetch,
    Preload,
    ScoreTexts,
    Status,
    TextScores,
    Welcome,
)
from intarsia.engine.ipc.stop import stop_engine
from intarsia.engine.ipc.transport import ProtocolError

__all__ = [
    "EngineClient",
    "EngineError",
    "EngineStuck",
    "EngineUnavailable",
    "FillFailed",
    "LaunchOptions",
    "NoEngine",
]

_Answer = TypeVar("_Answer", Filled, NextEdits, TextScores, Status)


class EngineClient:
    """Sends its requests over one connection, on one event loop; starts the engine on demand.

    With ``start=False`` it uses only an engine that runs already, and raises ``NoEngine`` else.
    """

    def __init__(
        self,
        *,
        name: str,
        on_load_progress: OnLoadProgress | None = None,
        launch: LaunchOptions | None = None,
        start: bool = True,
        address: Address | None = None,
    ) -> None:
        self._name = name
        self._ids = itertools.count(1)
        self._link = Link(
            name=name,
            address=address,
            launch=(launch or LaunchOptions()) if start else None,
            on_load_progress=on_load_progress,
        )

    @property
    def welcome(self) -> Welcome | None:
        """The connected engine's process, protocol and build; None if none is connected."""
        connection = self._link.current
        return connection.welcome if connection is not None and connection.is_open else None

    async def fill(self, request: Fill, on_step: OnStep | None = None) -> Filled:
        """Return the answer; an engine is started if none runs. ``on_step`` gets watched steps."""
        return await self.ask(request, Filled, on_step)

    async def find_next_edits(self, request: FindNextEdits) -> NextEdits:
        """Return what an edit made unlikely. Raises ``FillFailed`` if the model cannot score."""
        return await self.ask(request, NextEdits)

    async def score_texts(self, request: ScoreTexts) -> TextScores:
        """Return what texts gain over the present one. Raises ``FillFailed``, as next edits do."""
        return await self.ask(request, TextScores)

    def prefetch(self, place: Prefetch) -> None:
        """Send a connected engine the place of the user's cursor. Starts nothing, never fails."""
        self._tell(place)

    def report_ahead(self, report: AheadReport) -> None:
        """Send a connected engine what fills ahead of the user have brought. Never fails."""
        self._tell(report)

    async def preload(self, model: str | None = None) -> Status:
        """Load a model now (None: the default). Raises ``FillFailed`` if it cannot be loaded."""
        return await self.ask(Preload(id=0, model=model), Status)

    async def status(self) -> Status:
        return await self.ask(GetStatus(id=0), Status)

    async def stop(self) -> None:
        """End the engine, whatever protocol it speaks, and return when it has ended."""
        await stop_engine(self._link.address, name=self._name)

    async def close(self) -> None:
        """Close the connection; the engine runs on, and requests in flight fail."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def ask(
        self, request: Answered, kind: type[_Answer], on_step: OnStep | None = None
    ) -> _Answer:
        """Return the answer, which is of this kind, to a request: it gets its number here."""
        connection = await self._link.connection()
        try:
            answer = await connection.ask(replace(request, id=next(self._ids)), on_step)
        except ProtocolError as error:
            raise FillFailed("bad_request", str(error)) from error
        except ConnectionLost as error:
            self._link.lost(connection)
            raise FillFailed("internal", f"{error}: try again, which starts it again") from error
        if not isinstance(request, GetStatus):
            self._link.answered()
        if isinstance(answer, kind):
            return answer
        name = type(answer).__name__
        raise FillFailed("internal", f"the engine answered another request ({name}): restart it")

    def _tell(self, message: Prefetch | AheadReport) -> None:
        connection = self._link.current
        if connection is not None and connection.is_open:
            connection.send_unanswered(message)
