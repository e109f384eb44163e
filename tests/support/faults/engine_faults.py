"""Faults in the model of a rule engine, each chosen by the text that a rule answers with."""

import hashlib
import os
import re
import threading
from collections.abc import Callable, Mapping

PINNED: list[bytearray] = []
PIECE, MOST_FILLED = 1 << 24, 1 << 32
"""Bytes: how much is filled at once, and at most, should nothing limit it."""


def _crash() -> None:
    os._exit(70)


def _wedge() -> None:
    threading.Event().wait()


def _spin() -> None:
    """Work for ever, and let no other thread of the process work."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def _lose_device() -> None:
    raise RuntimeError("CUDA error: unspecified launch failure")


def _take_all_memory() -> None:
    """Take memory until there is no more, as a limit on the process allows."""
    try:
        while True:
            PINNED.append(bytearray(1 << 28))
    finally:
        PINNED.clear()


def _fill_memory() -> None:
    """Write to more and more memory, until a limit on its pages ends the process."""
    try:
        for _ in range(MOST_FILLED // PIECE):
            PINNED.append(bytearray(b"x") * PIECE)
    finally:
        PINNED.clear()


FAULTS: Mapping[str, Callable[[], None]] = {
    "!crash": _crash,
    "!wedge": _wedge,
    "!spin": _spin,
    "!device": _lose_device,
    "!memory": _take_all_memory,
    "!pages": _fill_memory,
}


def break_engine(text: str) -> None:
    if fault := FAULTS.get(text):
        fault()


def digest_of(text: str) -> str:
    """Return a short digest of a text, as a name in any programming language."""
    return "d" + hashlib.sha256(text.encode()).hexdigest()[:16]
