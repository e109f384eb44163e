"""Runs inside the sandbox, in a bare Python: limits, no way out, the program, and then the verdict.

The source of this file is handed to that Python, which sees no other file of ours. The verdict is
a secret that is copied from one pipe to another after the program has reached its end, so neither
an exit code nor any output passes for it. The program runs in the same interpreter: one that was
written against this very file could read the pipe itself.
"""

import contextlib
import ctypes
import os
import struct
import sys

MEMORY_BYTES = 1024**3
FILE_BYTES = 16 * 1024**2
SECRET_BYTES = 32

_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2  # of prctl(2)
_JOIN_SESSION_KEYRING = 1  # of keyctl(2)
_NEW_USER = 0x10000000  # of clone(2): a user namespace
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of BPF
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # in seccomp_data
_OTHER_ABI = 0x40000000  # x32's calls begin here; no other has so high a number

# Architecture, clone, clone3, keyctl; then unshare, setns, add_key and request_key.
_CALLS = {
    "x86_64": (0xC000003E, 56, 435, 250, (272, 308, 248, 249)),
    "aarch64": (0xC00000B7, 220, 435, 219, (97, 268, 217, 218)),
}


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def _limit(seconds: int) -> None:
    import resource  # not on Windows, where this module is only read

    limits = {
        "RLIMIT_CPU": seconds,
        "RLIMIT_AS": MEMORY_BYTES,
        "RLIMIT_FSIZE": FILE_BYTES,
        "RLIMIT_CORE": 0,
        "RLIMIT_NPROC": 0,
    }
    for name, most in limits.items():
        # Not every operating system has every limit.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, name), (most, most))


def _confine() -> None:
    """Leave the user's keyring, and refuse it and new user namespaces from now on."""
    if sys.platform != "linux" or os.uname().machine not in _CALLS:
        return
    architecture, clone, clone3, keyctl, refused = _CALLS[os.uname().machine]
    libc = ctypes.CDLL(None)
    libc.syscall(keyctl, _JOIN_SESSION_KEYRING, None)
    lines = [
        (_LOAD, _ARCHITECTURE_AT, "", ""),
        (_EQUAL, architecture, "", "kill"),
        (_LOAD, _NUMBER_AT, "", ""),
        (_AT_LEAST, _OTHER_ABI, "refuse", ""),
        *((_EQUAL, number, "refuse", "") for number in (*refused, keyctl)),
        (_EQUAL, clone3, "unknown", ""),  # its flags are out of sight; libc then takes clone
        (_EQUAL, clone, "", "allow"),
        (_LOAD, _FIRST_ARGUMENT_AT, "", ""),
        (_ANY_BIT, _NEW_USER, "refuse", "allow"),
    ]
    ends = {"allow": 0x7FFF0000, "refuse": 0x00050001, "unknown": 0x00050026, "kill": 0x80000000}
    at = {name: len(lines) + index for index, name in enumerate(ends)}
    packed = b"".join(
        struct.pack("HBBI", code, *(at.get(it, here + 1) - here - 1 for it in (yes, no)), value)
        for here, (code, value, yes, no) in enumerate(lines)
    )
    packed += b"".join(struct.pack("HBBI", _RETURN, 0, 0, value) for value in ends.values())
    whole = _Filter(len(packed) // 8, packed)
    libc.prctl(_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_SECCOMP, _FILTER, ctypes.byref(whole))


def run() -> None:
    """Run the program of standard input as the main module, which holds no name of ours."""
    seconds, secret, verdict = map(int, sys.argv[1:])
    del sys.argv[1:]
    _limit(seconds)
    _confine()
    exec(compile(sys.stdin.buffer.read(), "program.py", "exec"), vars(sys.modules["__main__"]))
    os.write(verdict, os.read(secret, SECRET_BYTES))
