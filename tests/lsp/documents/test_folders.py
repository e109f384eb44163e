"""The opened folders, on disk and in virtual file systems, and which one a document is in."""

from pathlib import Path

import pytest
from editor_clients import neovim
from lsprotocol import types

from intarsia.lsp.documents.folders import (
    Folder,
    disk_path,
    folder_at,
    folder_of,
    opened_folders,
)


def test_opened_folders_are_read_from_what_clients_say(tmp_path: Path) -> None:
    who = neovim()
    assert opened_folders(who) == ()
    who.root_uri = tmp_path.as_uri()
    assert opened_folders(who) == (folder_at(tmp_path),)
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
def test_a_document_is_in_the_innermost_folder_of_its_own_file_system(
    uri: str, expected: str | None
) -> None:
    uris = (
        "file:///work/one",
        "file:///work/one/inner",
        "file:///work/two words",
        "vscode-vfs://github/one/",
    )
    found = folder_of(uri, [Folder(uri=it) for it in uris])
    assert (found and found.uri) == expected


def test_a_virtual_folder_has_no_path() -> None:
    assert Folder(uri="vscode-vfs://github/one").path is None


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-vfs://github/a.py", "file://"])
def test_only_files_on_disk_have_a_path(uri: str) -> None:
    assert disk_path(uri) is None


def test_a_path_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "größe und maß.py"
    assert disk_path(path.as_uri()) == path.as_posix()
