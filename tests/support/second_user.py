"""Act as a second local user, really: in a child process with another user id. Only root may."""

import os
import pwd
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT, reason="only root may act as another user")

DENIED, FAILED = 13, 70


def _unused_id() -> int:
    taken = {user.pw_uid for user in pwd.getpwall()} | {user.pw_gid for user in pwd.getpwall()}
    return next(number for number in range(54_321, 60_000) if number not in taken)


def as_second_user(act: Callable[[], object]) -> bool:
    """Run a function as the second user; return whether the system let it. Raises on other errors.

    The child only makes system calls: it is a copy of a process with threads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(_act(act))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DENIED), f"the second user's act failed in another way ({code})"
    return code == 0


def _act(act: Callable[[], object]) -> int:
    try:
        number = _unused_id()
        os.setgroups([])
        os.setgid(number)
        os.setuid(number)
        os.umask(0)
        act()
    except PermissionError:
        return DENIED
    except BaseException:  # noqa: BLE001 - a copy of pytest must not go on
        traceback.print_exc()
        return FAILED
    return 0


@contextmanager
def shared_folder(mode: int = 0o1777) -> Iterator[Path]:
    """Yield a folder that all users may write in: sticky as /tmp, or not."""
    folder = Path(tempfile.mkdtemp(prefix="int-shared-"))
    folder.chmod(mode)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
