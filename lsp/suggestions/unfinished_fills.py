"""Fills that go on after the user has typed on: their answers may begin with what was typed.

A key ends the request before it. If its fill ended, too, a machine that needs longer for a fill
than the user for a key would never answer.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.suggestions.request_outcome import RequestOutcome

logger = logging.getLogger(__name__)

PATIENCE_S = 0.5
"""How long a fill goes on that no later request waits for."""

_MAX_WAIT_S = 2
"""How long a request waits for an older fill. A new one finds out whether the engine hangs."""


@dataclass(kw_only=True, slots=True)
class UnfinishedFill:
    """A fill of a snapshot: what of its text is settled, and what has been typed since."""

    snapshot: Snapshot
    task: asyncio.Task[RequestOutcome] = field(init=False)
    written: str = ""
    typed: str = ""
    num_waiting: int = 0

    def wrote(self, settled: str) -> None:
        """Take the settled beginning of the text; end the fill if another text was typed."""
        self.written = settled
        if not self._agrees():
            self.task.cancel()

    def goes_on_to(self, text: str, offset: int) -> bool:
        """Whether this may be the snapshot's text with the beginning of the fill typed at its
        cursor; the cursor is now at ``offset``."""
        before, after = self.snapshot.text[: self.snapshot.offset], self.snapshot.offset
        rest = self.snapshot.text[after:]
        if offset < after or text[offset:] != rest or not text.startswith(before):
            return False
        self.typed = text[after:offset]
        return self._agrees()

    def _agrees(self) -> bool:
        written, typed = self.written.lstrip(), self.typed.lstrip()
        return written.startswith(typed) or typed.startswith(written)


def _log_error(task: asyncio.Task[RequestOutcome]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("a suggestion failed: %r", error)


class UnfinishedFills:
    """At most one of each document."""

    def __init__(self) -> None:
        self._fills: dict[str, UnfinishedFill] = {}

    def keep(self, fill: UnfinishedFill) -> None:
        """Let a fill go on whose request has ended."""
        uri = fill.snapshot.document.uri
        self.end(uri)
        self._fills[uri] = fill
        fill.task.add_done_callback(_log_error)
        asyncio.get_running_loop().call_later(PATIENCE_S, self._end_unless_awaited, fill)

    async def finished(self, snapshot: Snapshot) -> bool:
        """Wait for the document's fill if it may answer here, else end it; say whether it may."""
        uri = snapshot.document.uri
        fill = self._fills.get(uri)
        if fill is None:
            return False
        if not fill.goes_on_to(snapshot.text, snapshot.offset):
            self.end(uri)
            return False
        fill.num_waiting += 1
        try:
            done, _ = await asyncio.wait({fill.task}, timeout=_MAX_WAIT_S)
        finally:
            fill.num_waiting -= 1
            asyncio.get_running_loop().call_later(PATIENCE_S, self._end_unless_awaited, fill)
        if not done:
            self.end(uri)
        return bool(done)

    def end(self, uri: str) -> None:
        """Cancel the document's fill, if one goes on."""
        if fill := self._fills.pop(uri, None):
            fill.task.cancel()

    def end_all(self) -> None:
        for uri in list(self._fills):
            self.end(uri)

    def _end_unless_awaited(self, fill: UnfinishedFill) -> None:
        uri = fill.snapshot.document.uri
        if not fill.num_waiting:
            fill.task.cancel()
            if self._fills.get(uri) is fill:
                del self._fills[uri]
