"""Several opened folders: which one a document is in, its settings, and what a change reaches."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from editor_clients import neovim
from lsprotocol import types
from open_documents import taken
from pygls.lsp.server import LanguageServer
from scripted_engine import ScriptedEngine

from intarsia.lsp.documents import Document, Folder, disk_path, folder_of, opened_folders
from intarsia.lsp.method_table import build_server
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.requests.inline_completion import inline_completion
from intarsia.lsp.requests.suggest import Suggester, SuggestOptions
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import refusal_of

ONE, TWO, VIRTUAL = "file:///work/one", "file:///work/two", "memfs:/three"
OPTIONS = SuggestOptions(num_candidates=1, is_debounced=False, deadline_ms=1000)
START = types.Position(0, 6)


def opened(options: object, of_folders: Mapping[str, object]) -> Session:
    """Return a session with three folders and these options."""
    session = Session(LanguageServer("test", "1"), None)
    session.start_with(None, [Folder(uri=uri) for uri in (ONE, TWO, VIRTUAL)])
    session.configure(options, of_folders)
    return session


def document(session: Session, uri: str) -> Document:
    session.documents.open(types.TextDocumentItem(uri, "python", 1, "one = \n"))
    found = session.documents.current(uri)
    assert found is not None
    return found


async def answers(session: Session, uri: str) -> bool:
    """Request a suggestion; return whether the engine was asked for it."""
    engine = ScriptedEngine(lambda _: "1")
    session.engine = engine
    if session.documents.current(uri) is None:
        document(session, uri)
    outcome = await session.feature(Suggester).suggest(taken(session, uri, START), OPTIONS)
    assert outcome.ghosts
    return bool(engine.requests)


def invoked(session: Session, uri: str) -> types.InlineCompletionParams:
    """Return a request in a new document that the user invoked."""
    document(session, uri)
    context = types.InlineCompletionContext(types.InlineCompletionTriggerKind.Invoked)
    return types.InlineCompletionParams(context, types.TextDocumentIdentifier(uri), START)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file://"])
async def test_a_new_document_follows_the_only_opened_folder(uri: str) -> None:
    session = Session(LanguageServer("test", "1"), None)
    session.start_with({"holeMarks": ["W"]}, [Folder(uri=ONE)])
    session.configure({}, {ONE: {"holeMarks": ["1"], "disabledLanguages": ["go"]}})
    new = document(session, uri)
    assert session.settings_of(new).hole_marks == ("1",)
    session.change_folders(added=[Folder(uri=TWO)], removed=[])
    assert session.settings_of(new).hole_marks == ("W",), "no folder is more likely than the other"
    session.change_folders(added=[], removed=[Folder(uri=TWO)])
    assert session.settings_of(new).hole_marks == ("1",)
    assert await answers(session, uri)
    session.configure({}, {ONE: {"holeMarks": ["2"]}})
    assert await answers(session, uri), "the old settings' suggestion is not shown"


def test_a_new_document_with_a_path_follows_the_folder_that_it_will_be_in() -> None:
    session = opened({"holeMarks": ["W"]}, {ONE: {"holeMarks": ["1"]}, TWO: {"enabled": False}})
    for uri, marks in (("untitled:/work/one/a.py", "1"), ("untitled:/work/a.py", "W")):
        assert session.settings_of(document(session, uri)).hole_marks == (marks,)
    refusal = refusal_of(session, document(session, "untitled:/work/two/a.py"))
    assert refusal is not None and "switched off" in refusal.reason
    session.change_folders(added=[], removed=[Folder(uri=TWO), Folder(uri=VIRTUAL)])
    assert session.settings_of(document(session, "untitled:/work/b.py")).hole_marks == ("W",)


@pytest.mark.parametrize(("model", "excludes"), [("remote:far", True), ("near", False)])
def test_no_folder_chooses_the_model_or_sends_its_secrets_to_a_server(model, excludes):
    own = {"model": "evil", "maxCandidates": 9, "decoding": "autoregressive"}
    session = opened({"model": model}, {ONE: own, TWO: {"excludeSecrets": False}})
    assert session.settings_of(document(session, f"{ONE}/a.py")) == session.settings
    assert session.settings.model == model
    assert session.settings_of(document(session, f"{TWO}/a.py")).exclude_secrets == excludes


def test_an_unusable_option_of_a_folder_keeps_the_windows_value(caplog):
    session = opened({"exclude": ["*.sql"]}, {ONE: {"exclude": 3}})
    assert session.settings_of(document(session, f"{ONE}/a.py")).exclude == ("*.sql",)
    assert f"{ONE}: option 'exclude' keeps the window's value" in caplog.text


def test_a_cell_has_the_settings_of_its_notebooks_folder() -> None:
    session = opened({}, {ONE: {"disabledLanguages": ["python"]}})
    cell = types.TextDocumentItem("vscode-notebook-cell:/work/one/a.ipynb#W0", "python", 1, "a = ")
    cells = [types.NotebookCell(types.NotebookCellKind.Code, cell.uri)]
    notebook = types.NotebookDocument(f"{ONE}/a.ipynb", "jupyter-notebook", 1, cells)
    session.documents.open_notebook(types.DidOpenNotebookDocumentParams(notebook, [cell]))
    opened_cell = session.documents.current(cell.uri)
    assert opened_cell is not None
    refusal = refusal_of(session, opened_cell)
    assert refusal is not None and "disabledLanguages" in refusal.reason


async def test_a_change_of_one_folder_leaves_the_suggestions_of_the_others() -> None:
    session = opened({}, {ONE: {}, TWO: {}})
    one, two, outside = f"{ONE}/a.py", f"{TWO}/a.py", "file:///work/a.py"
    for uri in (one, two, outside):
        assert await answers(session, uri)
        assert not await answers(session, uri)  # it is known
    session.configure({}, {ONE: {"exclude": ["**/*.sql"]}})
    assert await answers(session, one)
    assert not await answers(session, two)
    assert not await answers(session, outside)
    session.configure({}, {ONE: {"exclude": ["**/*.sql"]}, TWO: {}})  # nothing has changed
    assert not await answers(session, one)
    session.configure({"maxHoleTokens": 9}, {})
    for uri in (one, two, outside):
        assert await answers(session, uri)


async def test_what_was_suggested_in_a_closed_document_is_not_shown_under_other_settings() -> None:
    session = opened({}, {ONE: {}})
    uri = f"{ONE}/a.py"
    assert await answers(session, uri)
    session.documents.close(uri)
    session.features.tell(lambda it: it.closed(uri))
    session.configure({}, {ONE: {"exclude": ["**/*.sql"]}})
    assert await answers(session, uri)


@pytest.mark.parametrize(
    ("window", "folder", "expected"),
    [(True, False, True), (False, True, True), (False, False, False)],
)
def test_it_is_on_if_it_is_on_anywhere(window: bool, folder: bool, expected: bool) -> None:
    assert opened({"enabled": window}, {ONE: {"enabled": folder}}).in_force.is_enabled is expected


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        (f"{VIRTUAL}/a.py", None),
        (f"{VIRTUAL}/deep/.env", "excluded by the pattern"),
        (f"{VIRTUAL}/own/a.py", "excluded by the pattern"),
        ("untitled:/work/one/new.py", None),
        ("untitled:/work/one/.env", "excluded by the pattern"),
        ("memfs://[three/a.py", "not a file on disk"),
        ("memfs:/elsewhere/a.py", None),
        ("memfs:/elsewhere/.env", "excluded by the pattern"),
        ("member:///a/b.py", None),
        ("inmemory://model/1", None),
        ("vscode-vfs://github/me/it/a.py", None),
        ("git:/work/one/a.py", "not a file on disk"),
    ],
)
def test_documents_of_a_virtual_folder_get_suggestions(uri: str, reason: str | None) -> None:
    session = opened({}, {VIRTUAL: {"exclude": ["**/own/**"]}})
    refusal = refusal_of(session, document(session, uri))
    assert refusal is None if reason is None else refusal and reason in refusal.reason


async def test_a_request_waits_for_settings_that_are_on_their_way() -> None:
    server, engine = build_server(), ScriptedEngine(lambda _: "1")
    session = server.session
    session.engine = engine
    session.start_with(None, [Folder(uri=ONE)])
    number = session.settings_requests.begin()
    asked = asyncio.create_task(inline_completion(server, invoked(session, f"{ONE}/a.py")))
    await asyncio.sleep(0.02)
    assert not engine.requests
    session.configure({}, {ONE: {"exclude": ["**/a.py"]}})
    session.settings_requests.end(number)
    assert not await asked
    assert not engine.requests


async def test_what_was_written_under_other_settings_is_not_suggested() -> None:
    session = opened({}, {})
    uri = f"{ONE}/a.py"
    document(session, uri)

    def reconfigured(_: object) -> str:
        session.configure({}, {ONE: {"projectContext": False}})
        return "1"

    session.engine = ScriptedEngine(reconfigured)
    outcome = await session.feature(Suggester).suggest(taken(session, uri, START), OPTIONS)
    assert (outcome.ghosts, outcome.reason) == ((), "the settings have changed")
    assert await answers(session, uri)  # nothing was kept


def test_a_folder_that_is_closed_leaves_no_settings() -> None:
    session = opened({"enabled": False}, {ONE: {"enabled": True}})
    one = Folder(uri=ONE)
    session.change_folders(added=[], removed=[one])
    assert not session.in_force.is_enabled
    session.change_folders(added=[one], removed=[])
    assert not session.settings_of(document(session, f"{ONE}/a.py")).enabled


def test_each_folder_on_disk_is_indexed_under_its_own_settings(monkeypatch):
    session = opened({}, {ONE: {"exclude": ["*.sql"]}, TWO: {"projectContext": False}})
    told: list[Mapping[Path, Settings]] = []
    monkeypatch.setattr(
        session.feature(IndexConnection), "open", lambda roots, **_: told.append(roots)
    )
    session.feature(IndexConnection).follow(session, has_file_events=False)
    (roots,) = told
    assert {path.as_posix(): (it.exclude, it.project_context) for path, it in roots.items()} == {
        "/work/one": (("*.sql",), True),
        "/work/two": ((), False),
    }


def test_opened_folders_are_read_from_what_clients_say(tmp_path: Path) -> None:
    who = neovim()
    assert opened_folders(who) == ()
    who.root_uri = tmp_path.as_uri()
    assert opened_folders(who) == (Folder(uri=tmp_path.as_uri()),)
    who.workspace_folders = [types.WorkspaceFolder(tmp_path.parent.as_uri(), "own")]
    (folder,) = opened_folders(who)
    assert folder.path == tmp_path.parent


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///work/one/a.py", "file:///work/one"),
        ("file:///work/one%20more/a.py", None),
        ("file:///work/one/inner/deep/a.py", "file:///work/one/inner"),
        ("file:///work/two%20words/a.py", "file:///work/two words"),
        ("vscode-vfs://github/one/two/a.py", "vscode-vfs://github/one/"),
        ("vscode-vfs://gitlab/one/two/a.py", None),
        ("vscode-vfs://github/onemore/a.py", None),
        ("untitled:Untitled-1", None),
        ("untitled:/work/one/new.py", None),
        ("file://", None),
    ],
)
def test_a_document_is_in_the_innermost_folder_of_its_own_file_system(uri, expected):
    uris = (
        "file:///work/one",
        "file:///work/one/inner",
        "file:///work/two words",
        "vscode-vfs://github/one/",
    )
    found = folder_of(uri, [Folder(uri=it) for it in uris])
    assert (found and found.uri) == expected


def test_only_what_is_on_disk_has_a_path(tmp_path: Path) -> None:
    path = tmp_path / "größe und maß.py"
    assert disk_path(path.as_uri()) == path.as_posix()
    assert Folder(uri="vscode-vfs://github/one").path is None
    for uri in ("untitled:Untitled-1", "vscode-vfs://github/a.py", "file://"):
        assert disk_path(uri) is None
