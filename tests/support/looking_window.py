"""A session with one open document whose next edits are found by rules, and what it was told."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from engine_watch import until
from lsprotocol import types
from open_documents import changed
from scripted_next_edits import SURE, find_by_rules, rule

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import FindNextEdits
from intarsia.engine.ipc.messages import NextEdits as Answer
from intarsia.infill.next_edit.renaming import Rename
from intarsia.infill.replacement import ChangedFile
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document, Documents
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import Extensions
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import SettingsRequests
from intarsia.lsp.status import NextEditCounts
from intarsia.lsp.suggestions import Suggestions, Windows

URI = "file:///a.py"
BEFORE = "old(1)\nold(2)\nold(3)\nold(4)\n"
EDITED = BEFORE.replace("old(1)", "new(1)")


class Engine:
    """Answers by rules, as a connection to an engine does."""

    def __init__(self) -> None:
        self.is_awaited = False
        self.asked: list[FindNextEdits] = []
        self.rules = [rule("old", "new", SURE)]
        self.num_interruptions = 0
        self.hold: asyncio.Event | None = None
        self.hold_further: asyncio.Event | None = None  # requests for several places

    async def find_next_edits(self, request: FindNextEdits) -> Answer | NoSuggestion | None:
        self.asked.append(request)
        if self.hold is not None:
            await self.hold.wait()
        if self.hold_further is not None and request.max_places > 1:
            await self.hold_further.wait()
        if self.num_interruptions:
            self.num_interruptions -= 1
            return None
        return find_by_rules(self.rules)(request, FillControl())


async def _nowhere(document: Document, before: str, rename: Rename) -> tuple[ChangedFile, ...]:
    return ()


class Window:
    """A session with one document, and what it was told."""

    def __init__(self) -> None:
        self.documents = Documents()
        self.engine = Engine()
        self.ahead = SimpleNamespace(is_filling=False)
        self.offers: list[Sequence[OpenOffer]] = []
        self.count = NextEditCounts()
        self.looks = NextEdits(self.session())
        self.documents.open(types.TextDocumentItem(URI, "python", 1, BEFORE))

    def session(self) -> Any:
        windows = {"windows": Windows(), "first_windows": Windows()}
        suggestions = SimpleNamespace(ahead=self.ahead, **windows)
        projects = SimpleNamespace(uses_elsewhere=_nowhere)
        return SimpleNamespace(
            documents=self.documents,
            engine=self.engine,
            feature={Suggestions: suggestions, ProjectContexts: projects}.get,
            settings=Settings(model="a model", next_edit="sure"),
            settings_of=lambda document: Settings(next_edit="sure"),
            settings_requests=SettingsRequests(),
            in_force=SimpleNamespace(of=lambda document: Settings(next_edit="sure"), folders=()),
            extensions=Extensions(next_edits=True),
            notify=lambda _, told: self.offers.append(self.looks.offers_of(told.uri)),
            status=SimpleNamespace(count_next_edits=self._add),
        )

    def _add(self, count: NextEditCounts) -> None:
        self.count = self.count.plus(count)

    @property
    def document(self) -> Document:
        document = self.documents.current(URI)
        assert document is not None
        return document

    def write(self, text: str, *inserted: str) -> None:
        """Change the text, by putting in these texts."""
        before = self.document
        self.documents.change(changed(URI, before.version + 1, text))
        self.looks.document_changed(before, self.document, inserted)

    async def looked(self) -> None:
        await self.looks.settled(URI)

    async def look(self, text: str, *inserted: str) -> None:
        """Change the text, and wait until it has been looked at."""
        self.write(text, *inserted)
        await self.looked()

    async def held(self) -> None:
        """Begin a look that waits until the engine is let go on."""
        self.engine.hold = asyncio.Event()
        self.write(EDITED)
        await until(lambda: len(self.engine.asked) == 1)

    def offered(self) -> list[str]:
        return [offer.text for offer in self.offers[-1]]
