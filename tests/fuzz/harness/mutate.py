"""Makes inputs from others by small random changes. The same seed makes the same inputs."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

_ODD_BYTES = (0x00, 0x01, 0x0A, 0x0D, 0x20, 0x7F, 0x80, 0xC0, 0xED, 0xF0, 0xFE, 0xFF)
_MAX_CHANGES = 6
_SHARE_FROM_NOTHING = 0.15

_Change: TypeAlias = Callable[[Random, bytearray, Sequence[bytes]], None]


def mutated(random: Random, seeds: Sequence[bytes], max_bytes: int) -> bytes:
    """Return an input of at most ``max_bytes``: a changed seed, or random bytes."""
    if not seeds or random.random() < _SHARE_FROM_NOTHING:
        return random.randbytes(random.randrange(min(max_bytes, 64) + 1))
    data = bytearray(random.choice(seeds))
    for _ in range(random.randint(1, _MAX_CHANGES)):
        random.choice(_CHANGES)(random, data, seeds)
    return bytes(data[:max_bytes])


def _flip(random: Random, data: bytearray, _seeds: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _overwrite(random: Random, data: bytearray, _seeds: Sequence[bytes]) -> None:
    if data:
        byte = random.choice(_ODD_BYTES) if random.random() < 0.5 else random.randrange(256)
        data[random.randrange(len(data))] = byte


def _insert(random: Random, data: bytearray, _seeds: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.randint(1, 8))


def _delete(random: Random, data: bytearray, _seeds: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    del data[at : at + random.randint(1, 16)]


def _repeat(random: Random, data: bytearray, _seeds: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    part = data[at : at + random.randint(1, 16)]
    data[at:at] = part * random.randint(1, 8)


def _splice(random: Random, data: bytearray, seeds: Sequence[bytes]) -> None:
    other = random.choice(seeds)
    start = random.randrange(len(other) + 1)
    at = random.randrange(len(data) + 1)
    data[at:at] = other[start : start + random.randint(1, 64)]


_CHANGES: Sequence[_Change] = (_flip, _overwrite, _insert, _delete, _repeat, _splice)
