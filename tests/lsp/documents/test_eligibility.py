"""Of an excluded file, by whatever name it is opened, the engine gets nothing."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from lsprotocol import types
from open_documents import at, changed, document, taken
from pygls.lsp.server import LanguageServer
from scripted_engine import ScriptedEngine

from intarsia.engine.ipc.messages import Fill
from intarsia.lsp.requests.code_action import prefetch
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import ineligibility


@pytest.fixture
def link(tmp_path: Path) -> Path:
    (tmp_path / ".npmrc").write_text("//registry/:_authToken=hunter2\n")
    link = tmp_path / "notes.py"
    link.symlink_to(tmp_path / ".npmrc")
    return link


def test_a_document_that_links_to_a_secret_is_excluded(link: Path) -> None:
    refusal = ineligibility(Settings(), document(uri=link.as_uri()))
    assert refusal.reason == "notes.py is excluded by the pattern '.npmrc'"
    assert ineligibility(Settings(exclude_secrets=False), document(uri=link.as_uri())) is None


def test_the_users_own_patterns_hold_for_what_is_linked_to(link: Path) -> None:
    settings = Settings(exclude_secrets=False, exclude=("*.npmrc",))
    assert ineligibility(settings, document(uri=link.as_uri())) is not None


def test_a_document_that_is_not_on_this_disk_is_judged_by_its_name(link: Path) -> None:
    new = f"untitled:{link}"
    assert ineligibility(Settings(), document(uri=new)) is None
    assert ineligibility(Settings(), document(uri=f"untitled:{link.parent}/.npmrc")) is not None


TEXT = "one = \ntwo = 2\n"
START = types.Position(0, 6)


@dataclass
class RecordingEngine(ScriptedEngine):
    """Answers fills, and records what would be sent of each message that carries code."""

    places: list[Fill] = field(default_factory=list)

    def prefetch_hole(self, fill: Fill, _: object) -> None:
        self.places.append(fill)


async def sent(settings, uri="file:///a.py", *, is_edited=True) -> RecordingEngine:
    """Edit a document, request a suggestion, rest there; return what the engine got."""
    session = Session(LanguageServer("test", "1"), None)
    session.configure(settings)
    engine = RecordingEngine(lambda _: "1")
    session.engine = engine
    session.documents.open(types.TextDocumentItem(uri, "python", 1, TEXT))
    if is_edited:
        session.documents.change(changed(uri, 2, (at(0, 0), "")))
    snapshot = taken(session, uri, START)
    await session.feature(Suggester).suggest(
        snapshot, SuggestOptions(num_candidates=2, is_debounced=False, deadline_ms=1000)
    )
    await prefetch(session, uri, START)
    return engine


@pytest.mark.parametrize(
    "uri", ["file:///.env", "file:///home/me/id_rsa", "file:///a/private.py", "git:/a.py"]
)
async def test_of_an_excluded_file_nothing_is_sent(uri: str) -> None:
    engine = await sent({"exclude": ["**/private.py"]}, uri)
    assert (engine.requests, engine.places) == ([], [])


async def test_of_another_file_code_is_sent() -> None:
    engine = await sent({})
    assert engine.requests and engine.places


@pytest.mark.parametrize(
    ("settings", "is_edited"),
    [({}, False), ({"readAhead": False}, True), ({"disabledLanguages": ["python"]}, True)],
)
async def test_no_place_is_read_ahead_that_is_not_edited_or_not_wanted(settings, is_edited):
    assert (await sent(settings, is_edited=is_edited)).places == []
