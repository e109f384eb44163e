"""Knows the repairs of documents: each place is looked at once for each version.

The light bulb gets only what is known, so that it costs no time. Where the cursor rests at an
error, the repair is looked for in idle time. A user who asks for actions waits for it a little.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lsprotocol import types

from intarsia.infill.repair.find_repair import Repair
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document
from intarsia.lsp.session import Feature

logger = logging.getLogger(__name__)

REST_S = 1.0
"""How long a document must not change before a repair is looked for that is not asked for."""

WAIT_S = 3.0
"""How long a request for actions waits for a repair. The search goes on, for the next request."""

Compute = Callable[[Document, int, int], Awaitable[Repair | NoSuggestion]]
"""Returns the repair of an error at a range of a document, or why there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorRange:
    """Where an error is, and the diagnostics that report it; none if only the parser does."""

    start: int
    end: int
    diagnostics: tuple[types.Diagnostic, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Search:
    """One search in one version of a document."""

    document: Document
    where: tuple[int, int]
    task: asyncio.Task[Repair | NoSuggestion]
    rest: asyncio.Task[None]


class Repairs(Feature):
    """One search at a time: a newer place or version ends the one before."""

    def __init__(self) -> None:
        self._search: _Search | None = None

    def known(self, document: Document, error: ErrorRange) -> Repair | None:
        """Return the repair of an error if it was found in this version."""
        search = self._search
        if search is None or not _is_same(search, document, error) or not search.task.done():
            return None
        result = _result_of(search.task)
        return None if isinstance(result, NoSuggestion) else result

    def look(
        self, document: Document, error: ErrorRange, compute: Compute, *, after_s: float = 0.0
    ) -> None:
        """Look for the repair of an error, once it has rested for a time."""
        search = self._search
        if search is not None and _is_same(search, document, error):
            return
        self._forget()
        where = error.start, error.end
        rest = asyncio.create_task(asyncio.sleep(after_s))

        async def search_after_rest() -> Repair | NoSuggestion:
            await rest
            found = await compute(document, *where)
            if isinstance(found, NoSuggestion):
                logger.info("no repair: %s", found.reason)
            return found

        task = asyncio.create_task(search_after_rest())
        self._search = _Search(document=document, where=where, task=task, rest=rest)

    async def wait(self, document: Document, error: ErrorRange, compute: Compute) -> Repair | None:
        """Return the repair of an error, None if there is none or it is not found soon."""
        search = self._search
        if search is not None and (
            not search.rest.done()
            or (search.task.done() and isinstance(_result_of(search.task), NoSuggestion))
        ):
            self._forget()  # the user does not wait for its rest, and may have mended what failed
        self.look(document, error, compute)
        search = self._search
        assert search is not None, "there is a search now"
        await asyncio.wait({search.task}, timeout=WAIT_S)
        return self.known(document, error)

    def closed(self, uri: str) -> None:
        if self._search is not None and self._search.document.uri == uri:
            self._forget()

    async def close(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """End the search, and forget what it found."""
        if (search := self._search) is not None:
            search.rest.cancel()
            search.task.cancel()
            self._search = None


def reported_error(
    document: Document, where: types.Range, diagnostics: Sequence[types.Diagnostic]
) -> ErrorRange | None:
    """Return the first error that a client reports on the lines of a range."""
    errors = tuple(it for it in diagnostics if _is_error(it) and _is_on_lines(it.range, where))
    if not errors:
        return None
    place = errors[0].range
    return ErrorRange(
        start=document.offset_at(place.start),
        end=document.offset_at(place.end),
        diagnostics=tuple(it for it in errors if it.range == place),
    )


def _is_error(diagnostic: types.Diagnostic) -> bool:
    """Whether a diagnostic is an error; one without a severity counts as one."""
    return diagnostic.severity in (None, types.DiagnosticSeverity.Error)


def _is_on_lines(place: types.Range, where: types.Range) -> bool:
    return place.start.line <= where.end.line and where.start.line <= place.end.line


def _is_same(search: _Search, document: Document, error: ErrorRange) -> bool:
    return search.document is document and search.where == (error.start, error.end)


def _result_of(task: asyncio.Task[Repair | NoSuggestion]) -> Repair | NoSuggestion:
    if task.cancelled():
        return NoSuggestion(reason="the search was cancelled")
    if error := task.exception():
        logger.error("the search for a repair failed", exc_info=error)
        return NoSuggestion(reason="the search for a repair failed")
    return task.result()
