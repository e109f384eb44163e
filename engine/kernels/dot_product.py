"""Find the processor's instruction that multiplies bytes and adds the products up in 32 bits.

Products with int8 weights consist of it. Knows neither matrices nor numba.
"""

from dataclasses import dataclass

from llvmlite import binding


@dataclass(frozen=True, slots=True)
class DotProduct:
    """An instruction: for each of its lanes, a 32-bit sum plus four products of bytes."""

    intrinsic: str  # LLVM's name
    lanes: int
    registers: int
    zero: int  # the weight byte that means 0: weight bytes are unsigned where it is not 0


_KNOWN = (  # the fastest first
    (("avx512vnni", "avx512vl"), DotProduct("llvm.x86.avx512.vpdpbusd.512", 16, 32, 128)),
    (("avxvnni",), DotProduct("llvm.x86.avx512.vpdpbusd.256", 8, 16, 128)),
    (("dotprod",), DotProduct("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 32, 0)),
)


def find_dot_product() -> DotProduct | None:
    """Return the fastest one of this processor, None where it has none."""
    features = binding.get_host_cpu_features()
    for needed, instruction in _KNOWN:
        if all(features.get(name) for name in needed):
            return instruction
    return None
