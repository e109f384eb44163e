"""An edit that has no place left in its file goes on in another open one."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from looking_window import URI, Window
from lsprotocol import types
from open_documents import changed
from scripted_next_edits import BOLD, NOT_SHOWN, SURE, rule

from intarsia.infill.next_edit.offer import Level
from intarsia.lsp.documents import Document, Folder
from intarsia.lsp.next_edits import next_edits
from intarsia.lsp.settings import Settings

OTHER = "file:///b.py"
BEFORE = "x = fetch(url, 30)\n"
AFTER = "x = fetch(url, timeout=30)\n"
USE, NEW_USE = "y = fetch(url, 30)\n", "y = fetch(url, timeout=30)\n"


class Windows(Window):
    """A session with two documents, and the places that the client was told to go to."""

    def __init__(self) -> None:
        super().__init__()
        self.level: Level = "bold"
        self.told: dict[str, tuple[int, types.Location | None]] = {}  # by URI: version, next
        self.engine.rules = [rule("url, 30", "url, timeout=30")]
        self.documents.open(types.TextDocumentItem(URI, "python", 1, BEFORE))
        self.open(OTHER, f"\n\n{USE}")
        session = self.looks._session
        session.settings_of = lambda document: Settings(next_edit=self.level)
        session.notify = lambda _, told: self.told.update({told.uri: (told.version, told.next)})

    def open(self, uri: str, text: str, language: str = "python") -> None:
        self.documents.open(types.TextDocumentItem(uri, language, 1, text))

    def of(self, uri: str) -> Document:
        document = self.documents.current(uri)
        assert document is not None
        return document

    def rewrite(self, uri: str, text: str) -> None:
        before = self.of(uri)
        self.documents.change(changed(uri, before.version + 1, text))
        self.looks.document_changed(before, self.of(uri), ())

    async def gone_on(self, uri: str = URI) -> str | None:
        """Return where the client was told to go from a document, once all has been looked at."""
        watched = self.looks._of[uri]
        while watched.is_busy:
            if watched.task is not None:
                await watched.task
            else:
                await watched.answered.wait()
        version, place = self.told.get(uri, (0, None))
        assert place is None or version == self.of(uri).version
        return None if place is None else f"{place.uri}:{place.range.start.line + 1}"

    def texts(self, uri: str) -> list[str]:
        return [it.text for it in self.looks.offers_of(uri)]


@pytest_asyncio.fixture
async def windows(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Windows]:
    monkeypatch.setattr(next_edits, "PAUSE_S", 0.02)
    found = Windows()
    yield found
    found.looks.configured(None)


@pytest_asyncio.fixture
async def offering(windows: Windows) -> Windows:
    windows.rewrite(URI, AFTER)
    assert await windows.gone_on() == f"{OTHER}:3"
    return windows


async def test_accepting_goes_on_in_that_file_and_then_in_the_next(offering: Windows) -> None:
    assert offering.texts(OTHER) == [NEW_USE]
    offering.open("file:///c.py", f"{USE}")
    offering.rewrite(OTHER, offering.of(OTHER).text.replace(USE, NEW_USE))
    assert offering.count.accepted == 1 and offering.told[URI][1] is None
    assert await offering.gone_on(OTHER) == "file:///c.py:1"
    offering.rewrite("file:///c.py", NEW_USE)
    assert await offering.gone_on("file:///c.py") is None
    assert offering.count.accepted == 2 and offering.told[OTHER][1] is None


async def test_the_engine_reads_the_edit_and_then_the_other_file(offering: Windows) -> None:
    *_, request = [it for it in offering.engine.asked if it.only_repeats]
    assert [(it.before, it.after, it.may_change) for it in request.parts] == [
        (BEFORE, AFTER, False),
        ("\n\n", "\n\n", False),
        (f"\n\n{USE}", f"\n\n{USE}", True),
    ]
    assert [(it.first_line, it.text) for it in request.repeats] == [(5, NEW_USE)]


@pytest.mark.parametrize(
    ("act", "place"),
    [
        pytest.param(lambda it: it.rewrite(URI, f"\n{AFTER}"), f"{OTHER}:3", id="elsewhere here"),
        pytest.param(lambda it: it.rewrite(URI, BEFORE), None, id="the edit is undone"),
        pytest.param(lambda it: it.rewrite(OTHER, f"#\n\n\n{USE}"), f"{OTHER}:4", id="it moves"),
        pytest.param(lambda it: it.rewrite(OTHER, "\n"), None, id="it is gone"),
        pytest.param(lambda it: it.rewrite(OTHER, f"\n\n{NEW_USE}#\n"), None, id="and more"),
        pytest.param(lambda it: it.looks.closed(OTHER), None, id="that file is closed"),
        pytest.param(lambda it: it.looks.configured([OTHER]), None, id="switched off there"),
        pytest.param(
            lambda it: it.looks.dismiss(OTHER, it.looks.offers_of(OTHER)[0].id), None, id="refused"
        ),
    ],
)
async def test_the_place_ends_with_what_it_depends_on(offering, act, place) -> None:
    act(offering)
    version, told = offering.told[URI]
    assert version == offering.of(URI).version
    assert (None if told is None else f"{told.uri}:{told.range.start.line + 1}") == place
    assert offering.texts(OTHER) == ([] if place is None else [NEW_USE])


async def test_a_dismissed_place_in_another_file_stays_silent(offering: Windows) -> None:
    offering.looks.dismiss(OTHER, offering.looks.offers_of(OTHER)[0].id)
    offering.rewrite(URI, AFTER.replace("timeout", "seconds"))
    assert await offering.gone_on() is None


@pytest.mark.parametrize(
    ("uri", "language", "text"),
    [
        pytest.param("file:///c.js", "javascript", USE, id="of another language"),
        pytest.param("file:///p/c.py", "python", USE, id="in another folder"),
        pytest.param("file:///c.py", "python", "", id="empty"),
        pytest.param("file:///c.py", "python", USE.replace("30", "31"), id="where it does not fit"),
        pytest.param("file:///c.py", "python", NEW_USE, id="where it is made already"),
        pytest.param("file:///c.py", "python", USE + "#" * 1_000_000, id="too long"),
        pytest.param("file:///no.py", "python", USE, id="that gets no suggestions"),
    ],
)
async def test_other_files_are_left_alone(windows: Windows, uri: str, language, text: str) -> None:
    windows.documents.close(OTHER)
    windows.open(uri, text, language)
    in_force = windows.looks._session.in_force
    in_force.folders = (Folder(uri="file:///p"),)
    in_force.of = lambda it: Settings(next_edit="bold", enabled=it.uri != "file:///no.py")
    windows.rewrite(URI, AFTER)
    assert await windows.gone_on() is None
    assert not any(it.only_repeats for it in windows.engine.asked)


@pytest.mark.parametrize(
    ("level", "numbers", "place"),
    [("bold", BOLD, f"{OTHER}:1"), ("bold", NOT_SHOWN, None), ("balanced", SURE, None)],
)
async def test_it_is_a_bold_offer(windows: Windows, level: Level, numbers, place) -> None:
    windows.level = level
    windows.documents.close(OTHER)
    windows.open(OTHER, "\ufeff" + USE.replace("\n", "\r\n"))
    windows.engine.rules = [rule("url, 30", "url, timeout=30", numbers)]
    windows.rewrite(URI, AFTER)
    assert await windows.gone_on() == place
    assert windows.texts(OTHER) == ([NEW_USE.replace("\n", "\r\n")] if place else [])


async def test_no_name_loses_its_definition_there(windows: Windows) -> None:
    windows.engine.rules = [rule("import url", "import other")]
    windows.open(URI, "from a import url\nx = 1\n")
    windows.open(OTHER, "from a import url\nprint(url)\n")
    windows.open("file:///c.py", "from a import url\n")
    windows.rewrite(URI, "from a import other\nx = 1\n")
    assert await windows.gone_on() == "file:///c.py:1"
