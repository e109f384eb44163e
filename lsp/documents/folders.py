"""The folders that the client has opened, and which of these a document is in.

A folder may be in a virtual file system, such as a repository that an editor shows without a clone:
its documents have text, but no file on this machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import SplitResult, unquote, urlsplit

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

_remembered = lru_cache(maxsize=512)  # each key asks for the same few URIs, several times


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """An opened folder, by the URI that the client has for it."""

    uri: str

    @property
    def path(self) -> Path | None:
        """The folder on this machine, None where it is in a virtual file system."""
        path = disk_path(self.uri)
        return Path(path) if path else None

    def holds(self, uri: str) -> bool:
        """Whether a document is in the folder, at any depth."""
        return _place(uri) == _place(self.uri) and uri_path(uri).is_relative_to(uri_path(self.uri))


def opened_folders(params: types.InitializeParams) -> tuple[Folder, ...]:
    """Return the folders that the client has opened, in its order."""
    uris = [folder.uri for folder in params.workspace_folders or ()]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    return tuple(Folder(uri=uri) for uri in uris)


def folder_of(uri: str, folders: Iterable[Folder]) -> Folder | None:
    """Return the innermost folder that a document is in, None if it is in none."""
    holding = [folder for folder in folders if folder.holds(uri)]
    return max(holding, key=lambda folder: len(uri_path(folder.uri).parts), default=None)


def settings_folder_of(uri: str, folders: Sequence[Folder]) -> Folder | None:
    """Return the folder that gives a document its settings; None: the window does.

    A new document is in no folder yet. It follows the one that it will be saved in, if it has a
    path already. Otherwise it follows the only opened folder: there the user takes the folder's
    settings for the window's, and VS Code makes no difference between them.
    """
    is_nameless = scheme_of(uri) == "file" and disk_path(uri) is None
    if scheme_of(uri) != "untitled" and not is_nameless:
        return folder_of(uri, folders)
    if (path := uri_path(uri)).is_absolute():
        return folder_of(from_fs_path(str(path)) or uri, folders)
    return folders[0] if len(folders) == 1 else None


@_remembered
def disk_path(uri: str) -> str | None:
    """Return the path of a file on disk, with forward slashes; None for any other document."""
    path = _fs_path(uri)
    return PurePath(path).as_posix() if path else None


@_remembered
def uri_path(uri: str) -> PurePath:
    """Return the path in a URI, of a file on disk or in another file system."""
    return PurePath(_fs_path(uri) or unquote(_split(uri).path))


@_remembered
def _place(uri: str) -> tuple[str, str]:
    parts = _split(uri)
    return parts.scheme, parts.netloc


def scheme_of(uri: str) -> str:
    """Return what a URI begins with, such as "file"; "" where the URI is malformed."""
    return _split(uri).scheme


def _fs_path(uri: str) -> str | None:
    return to_fs_path(uri) if scheme_of(uri) == "file" else None


def _split(uri: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:  # brackets that hold no address
        return SplitResult("", "", uri, "", "")
