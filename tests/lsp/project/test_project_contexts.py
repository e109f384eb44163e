"""Code of other files: what is edited, indexed and chosen reaches the engine and the user."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from client_edits import lines, run_edit
from editor_clients import Page, open_document, page, vscode
from engine_watch import until
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from open_documents import taken
from short_pauses import PAUSE_S

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Fill, ProjectContext
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.engine_connection import EngineConnection
from intarsia.lsp.method_table import build_server
from intarsia.lsp.project import project_contexts
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.project.project_contexts import (
    MAX_REGIONS,
    EditedLines,
    ProjectContexts,
    RecentEdits,
    Region,
)
from intarsia.lsp.requests.look_ahead import _hole_of
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.workspace.context.chunk import Chunk, Place
from intarsia.workspace.files.paths import RootSettings, Seen
from intarsia.workspace.process.client import IndexClient

pytestmark = pytest.mark.usefixtures("short_pauses")

MODELS = '''class Account:
    """A bank account."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def withdraw(self, amount: int) -> int:
        return amount
'''
USE = """from models import Account


def pay(account: Account) -> None:
    account.
"""


@asynccontextmanager
async def opened(folder, runtime, use=USE, **options) -> AsyncIterator[Page]:
    """Open a folder with a module and a file that uses it; the model writes "withdraw(1)"."""
    (folder / "models.py").write_text(MODELS)
    (folder / "use.py").write_text(use)
    who, uri = vscode(), (folder / "use.py").as_uri()
    who.workspace_folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    async with page(
        runtime, use, who=who, name=uri, options=options, likely=(), text="withdraw(1)"
    ) as user:
        yield user


async def seen(user: Page, uri: str | None = None) -> str:
    """Return what the model sees after ``account.``."""
    place = {"textDocument": {"uri": uri or user.uri}, "position": {"line": 4, "character": 12}}
    params = types.ExecuteCommandParams("intarsia.context", [place])
    answer = await user.client.workspace_execute_command_async(params)
    text = answer["text"]
    assert isinstance(text, str)
    return text


async def seen_with(user: Page, words: str) -> str:
    """Return what the model sees once these words are in it."""
    async with asyncio.timeout(60):
        while words not in (text := await seen(user)):
            await user.items(4, 12)
            await asyncio.sleep(2 * PAUSE_S)
    return text


def change_folders(user: Page, *, added: Sequence[Path] = (), removed: Sequence[Path] = ()) -> None:
    opened, closed = (
        [types.WorkspaceFolder(it.as_uri(), it.name) for it in each] for each in (added, removed)
    )
    event = types.WorkspaceFoldersChangeEvent(added=opened, removed=closed)
    user.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody minds how long the index's process takes to start on a busy machine."""
    monkeypatch.setattr(project_contexts, "MAX_INDEX_S", 60)


@pytest.mark.usefixtures("patience")
async def test_the_command_shows_what_is_chosen_where_nothing_was_typed(runtime, tmp_path) -> None:
    async with opened(tmp_path, runtime) as user:
        text = await seen(user)
    assert "── models.py" in text and "def withdraw(self, amount: int) -> int" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("kind", "where"),
    [("fillAll", None), ("fill", lines(8, 9)), ("rewrite", lines(8, 9)), ("repair", lines(11, 12))],
)
async def test_each_edit_reads_code_of_other_files_where_nothing_was_typed(
    runtime, tmp_path, monkeypatch, kind, where
) -> None:
    asked: list[Fill] = []
    fill = EngineConnection.fill

    async def recording(engine: EngineConnection, request: Fill, *others: Any) -> Any:
        asked.append(request)
        return await fill(engine, request, *others)

    monkeypatch.setattr(EngineConnection, "fill", recording)
    use = USE.replace("account.\n", "...\n\n\ndef save(account: Account):\n    ...\n\n\n")
    async with opened(tmp_path, runtime, use=use + "x = = 1\n") as user:
        await run_edit(user.client, kind, user.uri, where, apply=False)
    assert asked
    for request in asked:
        assert request.project is not None and request.project_use == "always"
        (chunk,) = request.project.chunks
        assert (chunk.path, request.project.path) == ("models.py", "use.py")
        assert "def withdraw" in chunk.text
    if kind == "fillAll":  # and the fills before it
        assert "withdraw(1)" in asked[1].prefix


async def test_code_of_the_folder_is_shown_less_what_must_not_be(runtime, tmp_path):
    """Also as it is edited; not secrets, ignored and excluded files, and other folders."""
    own, foreign = tmp_path / "own", tmp_path / "foreign"
    for folder in (own / "secrets", own / "inner", foreign):
        folder.mkdir(parents=True)
    (own / ".intarsiaignore").write_text("inner/\n")
    (own / "secrets" / "vault.py").write_text(MODELS.replace("Account", "Vault"))
    (own / "legacy.py").write_text(MODELS.replace("withdraw", "withdraw_old"))
    (own / "inner" / "own.py").write_text(MODELS)
    async with opened(own, runtime, exclude=["legacy.py"]) as user:
        text = await seen_with(user, "── models.py")
        assert "def withdraw(self, amount: int) -> int" in text
        assert "return amount" not in text
        assert text.index("── models.py") < text.index("── use.py: before the hole")
        assert re.search(
            r"── models\.py \(members, about \d+ tokens\)\n   members of: Account\n", text
        )
        change_folders(user, added=[foreign])
        for file, name in (
            (own / "inner" / "own.py", "inner"),
            (foreign / "edited.py", "foreign"),
            (own / "models.py", "deposit"),
        ):
            other = Page(user.client, open_document(user.client, file.as_uri(), MODELS))
            other.insert(8, 0, f"\n    def {name}_now(self, amount: int) -> int:\n        pass\n")
        text = await seen_with(user, "deposit_now")
        assert "── models.py" in text
        for hidden in ("Vault", "withdraw_old", "inner_now", "foreign_now"):
            assert hidden not in text


async def test_the_command_says_why_nothing_is_seen(runtime: Address, tmp_path: Path) -> None:
    async with opened(tmp_path, runtime) as user:
        text = await seen(user, (tmp_path / "closed.py").as_uri())
    assert text == "the model sees nothing: the document is not open\n"


@pytest.mark.parametrize("changed", [{"projectContext": False}, {"exclude": ["models.py"]}, None])
async def test_what_the_settings_forbid_or_was_closed_is_gone_at_once(runtime, tmp_path, changed):
    async with opened(tmp_path, runtime) as user:
        await seen_with(user, "── models.py")
        if changed is None:
            change_folders(user, removed=[tmp_path])
        else:
            user.client.set_configuration(changed, section="intarsia")
            params = types.DidChangeConfigurationParams(None)
            user.client.workspace_did_change_configuration(params)

        async def is_gone() -> bool:
            return "models.py" not in await seen(user)

        await until(is_gone)
        await user.items(4, 12)
        await asyncio.sleep(10 * PAUSE_S)
        assert "models.py" not in await seen(user)


class OneFolder(IndexConnection):
    """An index of /work that gives the same chunks for every hole; ``asked`` is set then."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        super().__init__()
        self._chunks = chunks
        self.asked = asyncio.Event()

    @property
    def has_folders(self) -> bool:
        return True

    def root_of(self, path: str) -> str | None:
        return "/work"

    async def choose(self, place: Place, budget_tokens: int) -> Sequence[Chunk] | None:
        self.asked.set()
        await asyncio.sleep(0)
        return self._chunks

    async def is_complete(self) -> bool:
        return True


CHUNKS = tuple(
    Chunk(path=path, text="def f(): ...", kind="signatures", reason="imported: f")
    for path in ("b.py", "c.py")
)


def opened_hole() -> tuple[Session, Snapshot]:
    """Return a session without an engine, and a hole in its open document /work/a.py."""
    session = build_server().session
    session.documents.open(types.TextDocumentItem("file:///work/a.py", "python", 1, "x = "))
    return session, taken(session, "file:///work/a.py", types.Position(0, 4))


async def test_nothing_is_kept_of_a_document_that_was_closed_during_the_choice() -> None:
    (session, snapshot), index = opened_hole(), OneFolder(CHUNKS)
    contexts = ProjectContexts(session.documents, session.engine, index, lambda _: Settings())
    contexts.refresh(snapshot.document, lambda: _hole_of(session, snapshot))
    await index.asked.wait()
    contexts.closed(snapshot.document.uri)
    await asyncio.sleep(2 * PAUSE_S)
    assert contexts.of(snapshot.document.uri) is None


async def test_who_types_without_a_pause_gets_a_first_choice(monkeypatch):
    monkeypatch.setattr(project_contexts, "PAUSE_S", 60.0)
    (session, snapshot), index = opened_hole(), OneFolder(CHUNKS)
    contexts = ProjectContexts(session.documents, session.engine, index, lambda _: Settings())
    uri = snapshot.document.uri
    for _ in range(3):
        contexts.refresh(snapshot.document, lambda: _hole_of(session, snapshot))
        await asyncio.sleep(0)
    await contexts.refreshed(uri)
    assert contexts.of(uri) is not None
    index.asked.clear()
    contexts.refresh(snapshot.document, lambda: _hole_of(session, snapshot))
    await asyncio.sleep(2 * PAUSE_S)
    assert not index.asked.is_set()


async def test_all_that_is_chosen_is_read_as_soon_as_it_is_chosen(monkeypatch):
    (session, snapshot), index = opened_hole(), OneFolder(CHUNKS)
    read: list[ProjectContext] = []
    monkeypatch.setattr(session.engine, "prefetch_hole", lambda _, project: read.append(project))
    contexts = ProjectContexts(session.documents, session.engine, index, lambda _: Settings())
    uri = snapshot.document.uri
    for number in (1, 2):
        contexts.refresh(snapshot.document, lambda: _hole_of(session, snapshot))
        assert len(read) == number - 1
        await contexts.refreshed(uri)
        assert len(read) == number
    first, again = read
    assert [chunk.path for chunk in first.chunks] == ["b.py", "c.py"]
    assert (first.repository, first.path) == ("work", "a.py")
    assert first == again == contexts.of(uri)


async def test_a_chunk_whose_file_has_changed_is_neither_sent_nor_told(monkeypatch, tmp_path):
    files = [tmp_path / name for name in ("a.py", "b.py")]
    for file in files:
        file.write_text("def f(): ...")
    seen = [*(Seen.now(it.as_posix()) for it in files), Seen(path="/c", num_bytes=1, mtime_ns=-1)]
    chunks = [
        Chunk(path=it.path, text="def f(): ...", kind="signatures", reason="", seen=(it,))
        for it in seen
    ]
    (session, snapshot), index = opened_hole(), OneFolder(chunks)
    monkeypatch.setattr(index, "_sent", {"/c": snapshot.document})
    monkeypatch.setattr(session.engine, "prefetch_hole", lambda *_: None)
    contexts = ProjectContexts(session.documents, session.engine, index, lambda _: Settings())
    uri = snapshot.document.uri
    contexts.refresh(snapshot.document, lambda: _hole_of(session, snapshot))
    await contexts.refreshed(uri)

    def shown() -> list[str]:
        project, chosen = contexts.of(uri), contexts.chosen(uri)
        sent = [] if project is None else [it.path for it in project.chunks]
        assert sent == [it.path for it in chosen.chunks]
        return sent

    assert shown() == [it.path for it in seen]
    files[0].rename(tmp_path / ".env")
    assert shown() == [files[1].as_posix(), "/c"]
    monkeypatch.setattr(index, "_sent", {})  # it was closed
    assert shown() == [files[1].as_posix()]
    files[1].write_text("changed")
    assert shown() == []


@pytest.mark.parametrize("off", [Settings(project_context=False), Settings(enabled=False)])
def test_a_folder_that_is_off_is_not_indexed_as_a_part_of_another(off, monkeypatch):
    told: list[Sequence[RootSettings]] = []

    def open_roots(_: IndexClient, roots: Sequence[RootSettings], **__: Any) -> None:
        told.append(roots)

    monkeypatch.setattr(IndexClient, "open_roots", open_roots)
    outer, inner, apart = Path("/work"), Path("/work/inner"), Path("/works")
    IndexConnection().open({outer: Settings(), inner: off, apart: Settings()})
    ((one, two),) = told
    assert (one.path, one.excluded_paths) == ("/work", ("/work/inner",))
    assert (two.path, two.excluded_paths) == ("/works", ())


A, B = "file:///a.py", "file:///b.py"


def edits(*all_edits: EditedLines) -> RecentEdits:
    recent = RecentEdits()
    for edit in all_edits:
        recent.note(edit)
    return recent


def edit(uri: str, start_line: int, num_old: int = 1, num_new: int = 1) -> EditedLines:
    return EditedLines(uri=uri, start_line=start_line, num_old=num_old, num_new=num_new)


def region(uri: str, start_line: int, end_line: int) -> Region:
    return Region(uri=uri, start_line=start_line, end_line=end_line)


def test_the_region_edited_last_is_first() -> None:
    recent = edits(edit(A, 5), edit(B, 1), edit(A, 100))
    expected = [region(A, 100, 101), region(B, 1, 2), region(A, 5, 6)]
    assert list(recent.newest_first()) == expected


def test_edits_near_each_other_are_one_region() -> None:
    recent = edits(edit(A, 5), edit(A, 9), edit(B, 9), edit(A, 2))
    assert list(recent.newest_first()) == [region(A, 2, 10), region(B, 9, 10)]


def test_a_region_moves_with_the_lines_above_it() -> None:
    recent = edits(edit(A, 50), edit(A, 3, num_old=1, num_new=11))
    assert list(recent.newest_first()) == [region(A, 3, 14), region(A, 60, 61)]
    recent.note(edit(A, 0, num_old=2, num_new=0))
    assert region(A, 58, 59) in recent.newest_first()


def test_a_closed_document_has_no_regions() -> None:
    recent = edits(edit(A, 5), edit(B, 1))
    recent.forget(A)
    assert list(recent.newest_first()) == [region(B, 1, 2)]


@given(
    st.lists(
        st.tuples(st.sampled_from([A, B]), *[st.integers(0, 300)] * 3).map(
            lambda values: edit(values[0], *values[1:])
        ),
        min_size=1,
        max_size=60,
    )
)
def test_regions_stay_few_apart_and_contain_the_last_edit(all_edits: list[EditedLines]) -> None:
    regions = list(edits(*all_edits).newest_first())
    assert len(regions) <= MAX_REGIONS
    assert all(0 <= each.start_line <= each.end_line for each in regions)
    last = all_edits[-1]
    assert regions[0].uri == last.uri
    assert regions[0].start_line <= last.start_line
    assert regions[0].end_line >= last.start_line + last.num_new
