"""Machine code that comes with the package: on common processors, no start compiles anything.

``make kernels`` writes it, for the system that it runs on.
"""

import hashlib
import lzma
import platform
import sys
from functools import cache
from pathlib import Path

import msgspec
from llvmlite import binding

from intarsia.engine.kernels.processor import find_dot_product

FOLDER = Path(__file__).parent / "objects"

_V3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sse3 sse4.1 sse4.2 ssse3"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"
PROCESSORS = {
    "x86_64": {
        "AVX2": ("x86-64-v3", _V3),
        "AVX-VNNI": ("x86-64-v3", f"{_V3} avxvnni"),
        "AVX512-VNNI": ("x86-64-v4", f"{_V4} avx512vnni"),
    },
    "aarch64": {"dotprod": ("generic", "neon dotprod")},
}
"""By machine and dot product: LLVM's name of the least processor, and the features it must have."""


class Prebuilt(msgspec.Struct, frozen=True):
    """A file's content: the digest of the kernels' source, and for each kernel its code."""

    source: str
    codes: dict[str, bytes]


def machine() -> str:
    """Return this machine's name, the same on each system."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def path_of(product: str) -> Path:
    """Return the file for this system and machine and a dot product."""
    return FOLDER / f"{sys.platform}-{machine()}-{product}.xz"


@cache
def prebuilt_codes() -> dict[str, bytes]:
    """Return the code of all kernels for this processor; {} without one, or of another source."""
    product = find_dot_product()
    known = PROCESSORS.get(machine(), {})
    if product is None or product.name not in known:
        return {}
    has = binding.get_host_cpu_features()
    if not all(has.get(feature) for feature in known[product.name][1].split()):
        return {}
    try:
        raw = lzma.decompress(path_of(product.name).read_bytes())
        found = msgspec.msgpack.decode(raw, type=Prebuilt)
    except (OSError, lzma.LZMAError, msgspec.MsgspecError):
        return {}
    return found.codes if found.source == source_digest() else {}


@cache
def source_digest() -> str:
    """Return a digest of all that compiled code is made of."""
    here, digest = Path(__file__).parent, hashlib.sha256()
    names = ("native_kernel.py", "operands.py", "processor.py")
    for file in (*(here / name for name in names), *sorted((here / "compiled").glob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
