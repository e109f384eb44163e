"""An answer that was given without code of other files is written again with it in idle time."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from engine_watch import engine_once, until
from lsprotocol import types
from open_documents import changed, taken
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import DRAFT, Extensions
from intarsia.lsp.requests import look_ahead
from intarsia.lsp.requests.look_ahead import LookAhead
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.status import Draft, Drafts
from intarsia.lsp.suggestions import Suggestions

URI = "file:///tmp/a.py"
TEXT, CURSOR = "y = ", types.Position(0, 4)
OPTIONS = SuggestOptions(num_candidates=1, is_debounced=False, deadline_ms=10_000)
PROJECT = ProjectContext(
    repository="r", path="a.py", chunks=(ContextChunk(path="b.py", text=" + known"),)
)


@pytest.fixture(autouse=True)
def address(runtime: Address, monkeypatch: pytest.MonkeyPatch) -> Address:
    for name, value in runtime.as_environment().items():
        monkeypatch.setenv(name, value)
    return runtime


@asynccontextmanager
async def session_with(project, *, drafts=True, **engine):
    """Yield a session with one open document, and the drafts that it sends."""
    sent: list[Draft] = []

    def notify(method: str, params: object) -> None:
        if method == DRAFT:
            assert isinstance(params, Draft)
            sent.append(params)

    launch = rule_engine_launch(**{"text": "value{project}", **engine})
    server = IntarsiaServer(launch)
    server.protocol.client_capabilities = types.ClientCapabilities()
    session = server.session
    session.feature(ProjectContexts).of = lambda _uri: project
    session.configure({"fillAhead": "always"})
    session.extensions = Extensions(drafts=drafts)
    session.feature(Suggestions).drafts = Drafts(notify, session.documents)
    session.documents.open(types.TextDocumentItem(URI, "python", 1, TEXT))
    try:
        yield session, sent
    finally:
        await session.close()
        async with EngineClient(name="test", start=False) as client:
            await client.stop()


async def answered(session: Session) -> Snapshot:
    """Answer a request as the handlers do; the text is written without other files."""
    snapshot = taken(session, URI, CURSOR)
    outcome = await session.feature(Suggester).suggest(snapshot, OPTIONS)
    assert [ghost.text for ghost in outcome.ghosts] == ["value"]
    session.feature(LookAhead).answered(snapshot, outcome)
    return snapshot


async def chain_over(session: Session) -> None:
    await until(lambda: not session.feature(Suggestions).ahead.is_running)


async def test_the_client_is_told_once_and_the_cache_has_the_new_text() -> None:
    async with session_with(PROJECT) as (session, sent):
        await answered(session)
        await chain_over(session)
        (draft,) = sent
        assert draft.revised
        assert "".join(token.text for token in draft.tokens) == "value + known"
        assert all(token.settled for token in draft.tokens)
        assert draft.text_document.version == 1
        snapshot = taken(session, URI, CURSOR)
        again = await session.feature(Suggester).suggest(snapshot, OPTIONS)
        assert [ghost.text for ghost in again.ghosts] == ["value + known"]
        assert again.is_cached
        session.feature(LookAhead).answered(snapshot, again)
        await chain_over(session)
        assert len(sent) == 1


@pytest.mark.parametrize(
    ("project", "text", "drafts"),
    [
        (None, "value{project}", True),  # nothing is known of other files
        (PROJECT, "value", True),  # the same text
        (PROJECT, "value{project}", False),  # the client did not request drafts
    ],
)
async def test_otherwise_nothing_is_told(project, text, drafts):
    async with session_with(project, drafts=drafts, text=text) as (session, sent):
        await answered(session)
        await chain_over(session)
        assert sent == []


async def test_a_first_answer_is_written_again_from_all_that_may_be_read(address: Address) -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(1000)) + TEXT
    async with session_with(None, text="value") as (session, sent):
        session.documents.open(types.TextDocumentItem(URI, "python", 2, text))
        snapshot = taken(session, URI, types.Position(1000, 4))
        await session.feature(Suggester).suggest(snapshot, OPTIONS)
        first = await engine_once(address, lambda it: it.num_fills == 1)
        cached = await session.feature(Suggester).suggest(snapshot, OPTIONS)
        assert cached.is_cached  # after a cached answer too all is read
        session.feature(LookAhead).answered(snapshot, cached)
        await chain_over(session)
        whole = await engine_once(address, lambda it: it.ahead.num_asked >= 2)
        assert whole.cached_tokens > 2 * first.cached_tokens  # the rule engine's are characters
        assert len(session.feature(Suggestions).windows.of(URI)) == 1
        assert sent == []  # the text is the same


@pytest.mark.parametrize("project", [None, PROJECT])
async def test_the_rest_is_read_between_two_keys_unless_other_files_come_first(
    monkeypatch: pytest.MonkeyPatch, project: ProjectContext | None
) -> None:
    monkeypatch.setattr(look_ahead, "PAUSE_S", 60.0)
    text = "".join(f"value_{number} = {number}\n" for number in range(1000)) + TEXT
    async with session_with(project, text="value") as (session, _):
        session.documents.change(changed(URI, 2, text))
        snapshot = taken(session, URI, types.Position(1000, 4))
        outcome = await session.feature(Suggester).suggest(snapshot, OPTIONS)
        session.feature(LookAhead).answered(snapshot, outcome)
        windows = session.feature(Suggestions).windows
        if project is None:
            await until(lambda: windows.of(URI) != ())
        else:
            await asyncio.sleep(0.2)
            assert windows.of(URI) == ()


async def test_never_after_the_user_has_typed(address: Address) -> None:
    slow = {"text": "value{project}", "step_seconds": 0.2}
    async with session_with(PROJECT, **slow) as (session, sent):
        await answered(session)
        await engine_once(address, lambda it: it.num_fills == 1 and it.state == "filling")
        session.documents.change(changed(URI, 2, "y = z"))
        await chain_over(session)
        await asyncio.sleep(0)
        assert sent == []
        assert session.feature(Suggestions).cache.lookup(taken(session, URI, CURSOR)).ghosts == ()
