"""``intarsia/draft``: sends a suggestion while it settles, to clients that requested drafts.

At most 20 notifications a second; none after the request has ended or the document has changed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from lsprotocol import types

from intarsia.engine.ipc.throttle import Throttle
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.syntax.hidden_characters import first_hidden
from intarsia.infill.syntax.lines import newline_of
from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.protocol_extensions import DRAFT

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import CanvasToken, Step

    ShownOf: TypeAlias = Callable[[Step], Step | None]

INTERVAL_S = 1 / 20


class DraftToken(msgspec.Struct, frozen=True):
    text: str
    confidence: float | None  # 0 to 1; None: the model's server does not say
    settled: bool


class Draft(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The suggestion after ``step`` forward passes."""

    text_document: types.VersionedTextDocumentIdentifier
    range: types.Range
    step: int
    tokens: tuple[DraftToken, ...]
    revised: bool = False  # an answer that was given has become this one


class Drafts:
    """Sends one client the drafts of its requests."""

    def __init__(self, notify: Callable[[str, object], None], documents: Documents) -> None:
        self._notify = notify
        self._documents = documents
        self._throttle: Throttle[tuple[Snapshot, Step, ShownOf]] = Throttle(self._send, INTERVAL_S)

    @contextmanager
    def of(
        self, snapshot: Snapshot, shown_of: "ShownOf" = lambda step: step
    ) -> "Iterator[Callable[[Step], None]]":
        """Yield a function that takes the steps of a fill at the snapshot's cursor.

        Of each that is sent, ``shown_of`` returns what is shown; None: nothing yet.
        """

        def on_step(step: "Step") -> None:
            self._throttle.put((snapshot, step, shown_of))

        try:
            yield on_step
        finally:
            self._throttle.drop()

    def revise(self, snapshot: Snapshot, tokens: Sequence[ConfidentToken]) -> None:
        """Tell that the answer at the snapshot's cursor is another one now, if that is current.

        The client asks again to show it.
        """
        if snapshot.is_current(self._documents):
            drafted = tuple(DraftToken(token.text, token.confidence, True) for token in tokens)
            draft = _draft_at(snapshot, 0, drafted)
            self._notify(DRAFT, msgspec.structs.replace(draft, revised=True))

    def _send(self, progress: "tuple[Snapshot, Step, ShownOf]") -> None:
        snapshot, step, shown_of = progress
        if snapshot.is_current(self._documents) and (shown := shown_of(step)) is not None:
            self._notify(DRAFT, _draft(snapshot, shown))


def _draft(snapshot: Snapshot, step: "Step") -> Draft:
    newline = newline_of(snapshot.document.text)
    seen = first_hidden("".join(token.text for token in step.tokens), snapshot.text)
    tokens = tuple(
        DraftToken(token.text.replace("\n", newline), token.confidence, token.is_settled)
        for token in _until(step.tokens, seen)
    )
    return _draft_at(snapshot, step.step, tokens)


def _until(tokens: "Sequence[CanvasToken]", end: int | None) -> "Iterator[CanvasToken]":
    """Yield the tokens up to this offset of their text, None for all."""
    at = 0
    for token in tokens:
        if end is not None and at + len(token.text) > end:
            if end > at:
                yield msgspec.structs.replace(token, text=token.text[: end - at])
            return
        yield token
        at += len(token.text)


def _draft_at(snapshot: Snapshot, step: int, tokens: tuple[DraftToken, ...]) -> Draft:
    document = snapshot.document
    return Draft(
        text_document=types.VersionedTextDocumentIdentifier(
            uri=document.uri, version=document.version
        ),
        range=snapshot.range_at_cursor(),
        step=step,
        tokens=tokens,
    )
