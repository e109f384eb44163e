"""Changes that a rename by another language server makes: they are no edits of the user.

While it runs, all changes of a document count as one. The client says how it ended; one that never
does is not waited for longer than 30 s.
"""

import asyncio
from collections.abc import Callable, Mapping

from intarsia.lsp.documents.documents import Document

LONGEST_HOLD_S = 30.0


class HeldChanges:
    """The documents that have changed since a rename began, as they were before."""

    def __init__(self) -> None:
        self._before: dict[str, Document] = {}  # by URI
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, give_up: Callable[[], None]) -> None:
        """Hold changes from now on; ``give_up`` is called if nothing ends this."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(LONGEST_HOLD_S, give_up)

    def hold(self, before: Document) -> bool:
        """Hold a change of this version of a document; return False if no rename runs."""
        if self._timer is None:
            return False
        self._before.setdefault(before.uri, before)
        return True

    def is_held(self, uri: str) -> bool:
        """Whether a change of this document is held."""
        return uri in self._before

    def forget(self, uri: str) -> None:
        """Drop a document that is closed."""
        self._before.pop(uri, None)

    def end(self) -> Mapping[str, Document]:
        """Return the changed documents by URI, as they were before; hold nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        before, self._before = self._before, {}
        return before
