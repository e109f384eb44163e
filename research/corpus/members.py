"""An archive → its files, read one by one; nothing is written, so a member's name is only a name.

Links, devices and folders are left out, and what is too large is told without its bytes.
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
"""What all members may hold, read or not: a small archive may hide a huge one."""


class BadArchive(Exception):
    """The message is one line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A file of an archive; ``data`` is None where it is larger than the limit."""

    path: str
    num_bytes: int
    data: bytes | None


def read_members(archive: Path, *, is_wanted: Callable[[str], bool]) -> list[Member]:
    """Return the files whose paths are wanted, without the folder that all lie in.

    Raises BadArchive where the file is damaged, of no known format, or beyond the limits.
    """
    read = _read_zip if _is_zip(archive) else _read_tar
    seen = _Seen(archive)
    try:
        members = list(read(archive, seen, is_wanted))
    except (zipfile.BadZipFile, tarfile.TarError, LZMAError, EOFError, OSError) as error:
        raise BadArchive(f"{archive.name} cannot be read: {error}") from error
    except (zlib.error, ValueError, NotImplementedError, RuntimeError) as error:
        raise BadArchive(f"{archive.name} is damaged: {error}") from error
    return sorted(map(seen.without_common_folder, members), key=lambda member: member.path)


def _read_zip(archive: Path, seen: "_Seen", is_wanted: Callable[[str], bool]) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            seen.note(entry.filename, entry.file_size, is_file=not entry.is_dir())
            path = _safe_path(entry.filename)
            if entry.is_dir() or path is None or not is_wanted(path):
                continue
            if entry.file_size > MAX_MEMBER_BYTES:
                yield Member(path=path, num_bytes=entry.file_size, data=None)
                continue
            with opened.open(entry) as file:
                data = file.read(MAX_MEMBER_BYTES + 1)
            yield Member(path=path, num_bytes=len(data), data=_within_limit(data))


def _read_tar(archive: Path, seen: "_Seen", is_wanted: Callable[[str], bool]) -> Iterator[Member]:
    with tarfile.open(archive, "r|*") as opened:
        for entry in opened:
            seen.note(entry.name, entry.size, is_file=entry.isfile())
            path = _safe_path(entry.name)
            if not entry.isfile() or path is None or not is_wanted(path):
                continue
            file = opened.extractfile(entry) if entry.size <= MAX_MEMBER_BYTES else None
            data = file.read(MAX_MEMBER_BYTES + 1) if file else None
            yield Member(path=path, num_bytes=entry.size, data=data)


def _is_zip(archive: Path) -> bool:
    with archive.open("rb") as file:
        return file.read(2) == b"PK"


class _Seen:
    """What an archive says it holds: how much, and in what folder."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._num_members = 0
        self._num_bytes = 0
        self._top_folders: set[str] = set()

    def note(self, name: str, num_bytes: int, *, is_file: bool) -> None:
        self._num_members += 1
        self._num_bytes += num_bytes
        if self._num_members > MAX_MEMBERS or self._num_bytes > MAX_TOTAL_BYTES:
            raise BadArchive(f"{self._archive.name} holds more than a source package would")
        if is_file:
            folder, slash, _ = name.removeprefix("./").partition("/")
            self._top_folders.add(folder if slash else "")

    def without_common_folder(self, member: Member) -> Member:
        if len(self._top_folders) != 1 or "" in self._top_folders:
            return member
        return replace(member, path=member.path.partition("/")[2])


def _within_limit(data: bytes) -> bytes | None:
    """A member may be larger than its entry says."""
    return data if len(data) <= MAX_MEMBER_BYTES else None


def _safe_path(name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        return None
    return str(path)
