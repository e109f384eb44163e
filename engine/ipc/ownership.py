"""Return whether a path belongs to the user alone, up to the root.

What we run, or what decides code, is read only from paths where no other user can change it or put
something else in its place. Every folder and link on the way must therefore belong to root or to
this user, and other users may not write there.

- In a sticky folder such as /tmp each user may rename only their own files. So it may be on the
  way, as long as the next step belongs to root or to this user.
- Many systems give each user a group of their own: its write permission is harmless.
- In a user namespace (rootless containers) the owners outside it look like one unknown user. On
  the way they are taken for root: a process in there can ask no more about them.
- On Windows the access list of the profile folder protects it, and modes say nothing.
"""

import errno
import functools
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

if sys.platform != "win32":
    import grp
    import pwd

_MAX_LINKS = 40  # as the kernel's own limit
_WHOLE_UID_MAP = ["0", "0", "4294967295"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weakness:
    """Why a path is not the user's alone: ``what`` is wrong with ``path``, and the ``remedy``."""

    path: Path
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


def weakness_of(path: Path, *, is_private: bool = False) -> Weakness | None:
    """Return why other users could change what is at this path, None if they cannot.

    Where it ``is_private``, they may not read or enter it either. Links are followed. Raises
    OSError for a path that does not exist or cannot be looked at.
    """
    if sys.platform == "win32":
        path.lstat()
        return None
    steps = list(_steps(path))
    *on_the_way, (last, status) = steps
    for step, step_status in on_the_way:
        if (weakness := _weakness_on_the_way(step, step_status)) is not None:
            return weakness
    return _weakness_at_the_end(last, status, is_private=is_private)


def make_own_folder(folder: Path, *, is_private: bool = True) -> Weakness | None:
    """Make a folder and its missing parents for this user alone; return what is weak about it.

    Where it ``is_private`` it is closed to others (mode 0700), else others may read it (0755).
    Raises OSError where it cannot be made.
    """
    _make_folders(folder, 0o700 if is_private else 0o755)
    return weakness_of(folder, is_private=is_private)


def _make_folders(folder: Path, mode: int) -> None:
    try:
        folder.mkdir(mode=mode)
    except FileNotFoundError:
        _make_folders(folder.parent, mode)
        folder.mkdir(mode=mode, exist_ok=True)
    except FileExistsError:
        if not folder.is_dir():
            raise


def _steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield each folder and link on the way, from the root to what the path leads to."""
    whole = path.absolute()
    at, num_links = Path(whole.anchor), 0
    yield at, at.lstat()
    rest = list(reversed(whole.parts[1:]))
    while rest:
        part = rest.pop()
        if part == "..":
            at = at.parent  # links are resolved already
            yield at, at.lstat()
            continue
        step = at / part
        status = step.lstat()
        yield step, status
        if not stat.S_ISLNK(status.st_mode):
            at = step
            continue
        num_links += 1
        if num_links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = step.readlink()
        if target.is_absolute():
            at = Path(target.anchor)
        rest.extend(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        if not rest:  # a link to "." or "/" ends at a folder that was looked at before
            yield at, at.lstat()


def _weakness_on_the_way(step: Path, status: os.stat_result) -> Weakness | None:
    if not (_is_trusted(status.st_uid) or status.st_uid == _unknown_uid()):
        return _foreign(step)
    is_sticky_folder = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if stat.S_ISLNK(status.st_mode) or is_sticky_folder or not _others_may_write(step, status):
        return None
    return _writable(step)


def _weakness_at_the_end(
    last: Path, status: os.stat_result, *, is_private: bool
) -> Weakness | None:
    if not _is_trusted(status.st_uid):
        return _foreign(last)
    if is_private and status.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        return Weakness(path=last, what="is open to other users", remedy=f"run chmod {mode} {last}")
    return _writable(last) if _others_may_write(last, status) else None


def _foreign(step: Path) -> Weakness:
    return Weakness(path=step, what="belongs to another user", remedy="make it yours")


def _writable(step: Path) -> Weakness:
    return Weakness(
        path=step, what="can be written by other users", remedy=f"run chmod go-w {step}"
    )


def _is_trusted(uid: int) -> bool:
    return uid in (0, os.geteuid())


def _others_may_write(step: Path, status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    if not status.st_mode & stat.S_IWGRP:
        return False
    return not _is_own_group(status.st_gid, os.geteuid()) or _has_access_list(step)


@functools.cache
def _is_own_group(gid: int, uid: int) -> bool:
    """Return whether all members of a group that the system lists are this user or root."""
    try:
        members = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(gid).gr_mem}
    except KeyError:  # a group or a member that the system does not know
        return False
    members |= {user.pw_uid for user in pwd.getpwall() if user.pw_gid == gid}
    return members <= {0, uid}


def _has_access_list(step: Path) -> bool:
    """Return whether a POSIX access list is there: the group's bits then stand for others too."""
    if sys.platform != "linux":
        return False
    try:
        return "system.posix_acl_access" in os.listxattr(step)
    except OSError:  # a file system without attributes
        return False


@functools.cache
def _unknown_uid() -> int | None:
    """Return the user id that all owners outside this user namespace have; None outside of any."""
    try:
        if Path("/proc/self/uid_map").read_text().split() == _WHOLE_UID_MAP:
            return None
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):  # not Linux
        return None


def data_folder() -> Path:
    """Return the folder for the user's data; INTARSIA_DATA_DIR overrides it."""
    override = os.environ.get("INTARSIA_DATA_DIR")
    if override:
        return Path(override).expanduser()
    return platformdirs.user_data_path("intarsia", appauthor=False)


def write_own_file(path: Path, content: bytes) -> None:
    """Write a whole file to the disk, for this user alone, or raise OSError and leave none."""
    number, draft = tempfile.mkstemp(prefix=".unfinished-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink()
        raise
