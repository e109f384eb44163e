"""The members that the editor's other language servers know after a dot: the client asks them.

An answer is used where it tells all members. Whatever else it is, and where none comes in time, the
suggestion is written as without it.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import msgspec
from pygls.exceptions import JsonRpcException

from intarsia.infill.languages import Language
from intarsia.infill.syntax.tree import prose_in
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import MEMBERS, AtPosition, DocumentId, Position, read_own
from intarsia.lsp.session import Feature, Session

DEADLINE_S = 0.1
"""Counted from the question on; the pause before a suggestion is part of it."""

GIVEN_UP_S = 10.0
"""Until then, nothing else is asked of a client that has not answered."""

MAX_NAMES = 2_000
MAX_NAME_CHARS = 200
_Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]

_AFTER_DOT = re.compile(r"(?:\.|->|::)\w*\Z")
_MEMBER = re.compile(r"[\w)\]}\"'`][?!]?(?:\.|::)(\w*)\Z")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*\.\w*\Z")
_NEW_MEMBER = re.compile(r"\s*(?:self|this|cls)\.\w*\Z")
"""A statement may begin with a member that it defines."""

_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")


class Members(msgspec.Struct, frozen=True, rename="camel"):
    """The client's answer. ``is_incomplete`` is LSP's: another list may come as more is typed."""

    names: Annotated[list[_Name], msgspec.Meta(max_length=MAX_NAMES)]
    is_incomplete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A question: where it was asked, and the answer that may come."""

    place: tuple[str, str, str]  # URI, the text up to the dot, the text after the cursor
    at: float
    answer: "asyncio.Future[Any]"


class EditorMembers(Feature):
    """Keeps the newest answer, so that nothing is asked again while the name is typed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._contexts = session.feature(ProjectContexts)
        self._asked: _Asked | None = None

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(session)

    def ask_early(self, snapshot: Snapshot) -> None:
        """Ask before the pause for the next key, which the answer may come in."""
        self._question(snapshot)

    async def allowed(self, snapshot: Snapshot, *, is_idle: bool = False) -> Sequence[str]:
        """Return the names allowed after the dot at the cursor; () allows any text.

        ``is_idle``: nobody waits, so a slow client is waited for. Of names that our index and the
        editor know, any may follow: each may lack some.
        """
        offset = snapshot.offset
        if not _AFTER_DOT.search(snapshot.text, max(0, offset - MAX_NAME_CHARS), offset):
            return ()
        own, editors = await asyncio.gather(
            self._contexts.member_names(snapshot), self._names(snapshot, is_idle=is_idle)
        )
        return tuple(dict.fromkeys((*editors, *own)))

    async def _names(self, snapshot: Snapshot, *, is_idle: bool) -> Sequence[str]:
        """Return all members; () after no dot, and where the client does not tell all in time."""
        asked = self._question(snapshot)
        if asked is None:
            return ()
        left_s = asked.at + (GIVEN_UP_S if is_idle else DEADLINE_S) - time.monotonic()
        if left_s > 0:
            await asyncio.wait({asked.answer}, timeout=left_s)
        return _names_in(_answered(asked.answer), snapshot.language)

    def _question(self, snapshot: Snapshot) -> _Asked | None:
        """Return the question for this dot, which is asked once; None where none is asked."""
        start = start_of_member(snapshot) if snapshot.extensions.members else None
        if start is None:
            return None
        document, text = snapshot.document, snapshot.text
        place = (document.uri, text[:start], text[snapshot.offset :])
        asked, now = self._asked, time.monotonic()
        if asked is not None and asked.place == place:
            return asked
        is_waiting = asked is not None and not asked.answer.done() and now < asked.at + GIVEN_UP_S
        if is_waiting or not snapshot.is_current(self._session.documents):
            return None
        position = document.position_at(snapshot.place + start - snapshot.offset)
        params = AtPosition(
            text_document=DocumentId(document.uri, document.version),
            position=Position(position.line, position.character),
        )
        answer = self._session.request(MEMBERS, params)
        answer.add_done_callback(_answered)  # an error that nobody asks for would be logged
        self._asked = _Asked(place=place, at=now, answer=answer)
        return self._asked


def start_of_member(snapshot: Snapshot) -> int | None:
    """Return where the name after a dot begins at the cursor, None where there is none.

    Nor where the statement may define the member, and where a client's menu has one selected.
    """
    text, offset = snapshot.text, snapshot.offset
    if snapshot.language.names is None or snapshot.selected is not None:
        return None
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    found = None if _NUMBER.search(line) or _NEW_MEMBER.match(line) else _MEMBER.search(line)
    if found is None or prose_in(text, snapshot.language, offset) is not None:
        return None
    return offset - len(found[1])


def _answered(answer: "asyncio.Future[Any]") -> object:
    """Return what the client has answered, None where it has not or failed."""
    has_failed = not answer.done() or answer.cancelled() or answer.exception() is not None
    return None if has_failed else answer.result()


def _names_in(answer: object, language: Language) -> Sequence[str]:
    """Return the names of an answer that tells the members of one type."""
    try:
        members = read_own(answer, Members)
    except JsonRpcException:
        return ()
    names = [name for name in members.names if _NAME.fullmatch(name)]
    is_of_type = any(not name.startswith("_") for name in names)  # else of any object at all
    known = language.names.known if language.names else frozenset[str]()
    is_of_scope = 2 * len(known.intersection(names)) > len(known)  # all that is visible there
    may_lack_some = members.is_incomplete and not language.are_members_listed_whole
    return names if is_of_type and not is_of_scope and not may_lack_some else ()
