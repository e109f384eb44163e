"""Command lines that isolate a command: few files, no network, no other processes.

For each way there is a probe, a program that succeeds only if the isolation works. Runs nothing.
"""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_SCRATCH_BYTES = 64 * 1024**2
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most systems, folders on some."""

_LINKER_CACHE = "/etc/ld.so.cache"
_NEW_USER = 0x10000000  # of unshare(2): a user namespace
_NOBODY = 65534  # Linux' user and group without rights


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """One way to isolate a command.

    ``words`` takes the command's folder and returns the words before the command. ``proof`` takes a
    folder that must be invisible and returns the probe.
    """

    name: str  # "bubblewrap", "namespaces", "none"
    words: Callable[[Path], tuple[str, ...]]
    proof: Callable[[Path], str]
    is_complete: bool


def isolations() -> tuple[Isolation, ...]:
    """Return the ways that this machine has programs for, strictest first; the last is none."""
    none = Isolation(
        name="none", words=lambda folder: (), proof=lambda folder: "", is_complete=False
    )
    return (*_bubblewrap(), *_namespaces(), none)


def _bubblewrap() -> tuple[Isolation, ...]:
    """Isolate with https://github.com/containers/bubblewrap: a root with only the bound folders."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    words = [program, "--die-with-parent", "--new-session"]
    if _is_root():
        # In a user namespace root would keep rights that escape the limit on processes.
        words += [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try")]
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-all"]
    for folder in _shown_folders():
        words += ["--ro-bind", folder, folder]
    for link, target in _links():
        words += ["--symlink", target, link]
    words += ["--ro-bind-try", _LINKER_CACHE, _LINKER_CACHE]
    words += ["--dev", "/dev", "--remount-ro", "/dev"]
    words += [
        "--perms",
        "1777",
        "--size",
        str(_SCRATCH_BYTES),
        "--tmpfs",
        "/tmp",
        "--chdir",
        "/tmp",
    ]
    words += ["--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--remount-ro", "/", "--"]
    words += _as_nobody()
    return (_complete("bubblewrap", lambda folder: tuple(words)),)


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _as_nobody() -> list[str]:
    """Return the words that drop root's rights; other users need none."""
    nobody = str(_NOBODY)
    drop = ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--no-new-privs"]
    return drop if _is_root() else []


# What bubblewrap does, with util-linux. $1 is the folder that becomes the root, $2 the size
# of the scratch folder; then, up to "--": paths to show, "link=target".
_NEW_ROOT = """
set -e
PATH=/usr/bin:/bin:/usr/sbin:/sbin
root=$1 size=$2; shift 2
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root"
cd "$root"
while [ "$1" != -- ]; do
  case $1 in
    *=*) ln -s "${1#*=}" ".${1%%=*}" ;;
    *)
      if [ -d "$1" ]; then mkdir -p ".$1"; else mkdir -p ".${1%/*}"; : > ".$1"; fi
      mount --rbind "$1" ".$1"
      case $1 in /dev/*) ;; *) mount -o remount,bind,ro ".$1" ;; esac ;;
  esac
  shift
done
shift
mkdir old proc tmp
mount -t tmpfs -o "size=$size" tmpfs tmp
mount --rbind /proc proc  # the following commands need it
pivot_root . old
cd /tmp
umount -l /old
rmdir /old
mount -o remount,bind,ro /
umount -l /proc
export HOME=/tmp TMPDIR=/tmp
exec "$@"
"""


def _namespaces() -> tuple[Isolation, ...]:
    """Isolate without bubblewrap, if util-linux is installed."""
    program = shutil.which("unshare")
    if program is None or sys.platform != "linux":
        return ()
    shown = [*_shown_folders(), *(f"/dev/{name}" for name in ("null", "zero", "urandom"))]
    if Path(_LINKER_CACHE).exists():
        shown.append(_LINKER_CACHE)
    before = (
        *(program, "--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup"),
        *(() if _is_root() else ("--map-root-user",)),
        *("--fork", "--kill-child", "sh", "-c", _NEW_ROOT, "sh"),
    )
    after = (
        *(str(_SCRATCH_BYTES), *shown),
        *(f"{link}={target}" for link, target in _links()),
        "--",
        *(_as_nobody() or ("setpriv", "--no-new-privs")),
        *("--inh-caps=-all", "--bounding-set=-all"),
    )
    return (_complete("namespaces", lambda folder: (*before, str(folder), *after)),)


def _shown_folders() -> list[str]:
    """Return the folders that Python needs: the system's programs and its own prefix."""
    folders = ["/usr"]
    folders += [
        folder
        for folder in _SYSTEM_FOLDERS
        if Path(folder).is_dir() and not Path(folder).is_symlink()
    ]
    prefixes = {os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}
    return folders + [
        prefix for prefix in sorted(prefixes) if not Path(prefix).is_relative_to("/usr")
    ]


def _links() -> list[tuple[str, str]]:
    return [
        (name, str(Path(name).readlink())) for name in _SYSTEM_FOLDERS if Path(name).is_symlink()
    ]


def _complete(name: str, words: Callable[[Path], tuple[str, ...]]) -> Isolation:
    return Isolation(name=name, words=words, proof=_proof, is_complete=True)


def _proof(hidden: Path) -> str:
    """Return a program that succeeds only if it cannot see this folder or anything else."""
    tops = {"usr", "etc", "dev", "proc", "tmp"}
    tops |= {Path(path).parts[1] for path in (*_SYSTEM_FOLDERS, *_shown_folders())}
    return f"""
import os, socket
assert not os.path.exists({str(hidden)!r})
assert set(os.listdir("/")) <= {tops!r} and not os.path.exists("/proc/self")
assert os.getcwd() == "/tmp" and os.listdir() == []
assert [name for _, name in socket.if_nameindex()] in ([], ["lo"])
for folder in ("/", "/usr", "/dev"):
    try:
        open(folder + "/written", "w")
    except OSError:
        continue
    raise AssertionError(folder)
open("written", "w").write("scratch")
assert os.getpid() < 10
import ctypes
assert ctypes.CDLL(None).unshare({_NEW_USER:#x}) == -1
"""
