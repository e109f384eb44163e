"""Read the files of an archive one by one, in memory; nothing is written to disk.

Links, devices and folders are left out. A file over the size limit is returned without its bytes.
"""

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from lzma import LZMAError
from pathlib import Path, PurePosixPath

MAX_MEMBER_BYTES = 400_000
MAX_MEMBERS = 100_000
MAX_TOTAL_BYTES = 2_000_000_000
"""The limit for all members together, read or not: a small archive can expand to a huge one."""


class BadArchive(Exception):
    """An archive cannot be read. The message is one line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A file of an archive; ``data`` is None if it is larger than MAX_MEMBER_BYTES."""

    path: str
    num_bytes: int
    data: bytes | None


def read_members(archive: Path, *, is_wanted: Callable[[str], bool]) -> list[Member]:
    """Return the files with wanted paths; a folder that contains all files is removed from them.

    Raises BadArchive if the archive is damaged, of an unknown format, or beyond the limits.
    """
    read = _read_zip if _is_zip(archive) else _read_tar
    contents = _Contents(archive)
    try:
        members = list(read(archive, contents, is_wanted))
    except (zipfile.BadZipFile, tarfile.TarError, LZMAError, EOFError, OSError) as error:
        raise BadArchive(f"{archive.name} cannot be read: {error}") from error
    except (zlib.error, ValueError, NotImplementedError, RuntimeError) as error:
        raise BadArchive(f"{archive.name} is damaged: {error}") from error
    return sorted(map(contents.without_common_folder, members), key=lambda member: member.path)


def _read_zip(
    archive: Path, contents: "_Contents", is_wanted: Callable[[str], bool]
) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            contents.add(entry.filename, entry.file_size, is_file=not entry.is_dir())
            path = _safe_path(entry.filename)
            if entry.is_dir() or path is None or not is_wanted(path):
                continue
            if entry.file_size > MAX_MEMBER_BYTES:
                yield Member(path=path, num_bytes=entry.file_size, data=None)
                continue
            with opened.open(entry) as file:
                data = file.read(MAX_MEMBER_BYTES + 1)
            yield Member(path=path, num_bytes=len(data), data=_within_limit(data))


def _read_tar(
    archive: Path, contents: "_Contents", is_wanted: Callable[[str], bool]
) -> Iterator[Member]:
    with tarfile.open(archive, "r|*") as opened:
        for entry in opened:
            contents.add(entry.name, entry.size, is_file=entry.isfile())
            path = _safe_path(entry.name)
            if not entry.isfile() or path is None or not is_wanted(path):
                continue
            file = opened.extractfile(entry) if entry.size <= MAX_MEMBER_BYTES else None
            data = file.read(MAX_MEMBER_BYTES + 1) if file else None
            yield Member(path=path, num_bytes=entry.size, data=data)


def _is_zip(archive: Path) -> bool:
    with archive.open("rb") as file:
        return file.read(2) == b"PK"


class _Contents:
    """Counts the members that an archive lists, and collects their top folders."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._num_members = 0
        self._num_bytes = 0
        self._top_folders: set[str] = set()

    def add(self, name: str, num_bytes: int, *, is_file: bool) -> None:
        self._num_members += 1
        self._num_bytes += num_bytes
        if self._num_members > MAX_MEMBERS or self._num_bytes > MAX_TOTAL_BYTES:
            raise BadArchive(f"{self._archive.name} has more files or bytes than a source package")
        if is_file:
            folder, slash, _ = name.removeprefix("./").partition("/")
            self._top_folders.add(folder if slash else "")

    def without_common_folder(self, member: Member) -> Member:
        if len(self._top_folders) != 1 or "" in self._top_folders:
            return member
        return replace(member, path=member.path.partition("/")[2])


def _within_limit(data: bytes) -> bytes | None:
    """Return None for data over the limit: a member may be larger than its entry claims."""
    return data if len(data) <= MAX_MEMBER_BYTES else None


def _safe_path(name: str) -> str | None:
    """Return the path, None if it is absolute or leaves the archive."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        return None
    return str(path)
