"""What this processor multiplies bytes with, and the sizes that follow from it."""

from dataclasses import dataclass
from functools import cache

from llvmlite import binding


@dataclass(frozen=True, slots=True)
class DotProduct:
    """How a processor adds four products of bytes to a 32-bit sum, in each lane of a vector."""

    name: str  # for users
    intrinsic: str | None  # LLVM's name of the instruction, None where it takes several
    lanes: int
    registers: int
    zero: int  # the weight byte that means 0: weight bytes are unsigned where it is not 0


_KNOWN = (  # the fastest first
    (
        ("avx512vnni", "avx512vl"),
        DotProduct("AVX512-VNNI", "llvm.x86.avx512.vpdpbusd.512", 16, 32, 128),
    ),
    (("avxvnni",), DotProduct("AVX-VNNI", "llvm.x86.avx512.vpdpbusd.256", 8, 16, 128)),
    (("dotprod",), DotProduct("dotprod", "llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 32, 0)),
    (("avx2", "fma"), DotProduct("AVX2", None, 8, 16, 0)),
)


_chosen: DotProduct | None = None


def choose(name: str) -> None:
    """Take a dot product by its name: a compiler compiles for the process that asks it."""
    global _chosen  # noqa: PLW0603
    _chosen = next(product for _, product in _KNOWN if product.name == name)


def find_dot_product() -> DotProduct | None:
    """Return the fastest way of this processor, None where it has none."""
    if _chosen is not None:
        return _chosen
    features = binding.get_host_cpu_features()
    for needed, instruction in _KNOWN:
        if all(features.get(name) for name in needed):
            return instruction
    return None


def num_lanes() -> int:
    """Return the lanes of this processor's dot product; compiled code may call it too."""
    return dot_product().lanes


def zero_point() -> int:
    """Return the weight byte that means 0; compiled code may call it too."""
    return dot_product().zero


@cache
def dot_product() -> DotProduct:
    """Return this processor's dot product of bytes."""
    # Without one no kernel is compiled, but sizes are still asked for.
    return find_dot_product() or DotProduct("none", "none", 4, 32, 0)
