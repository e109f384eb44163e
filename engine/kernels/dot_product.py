"""Which instruction of this processor multiplies bytes and adds them up in 32 bits.

It is what a pass over int8 weights is made of. Knows neither matrices nor numba.
"""

from dataclasses import dataclass

from llvmlite import binding


@dataclass(frozen=True, slots=True)
class DotProduct:
    """``intrinsic`` is LLVM's name: for each lane, a sum of 32 bits and four products of bytes."""

    intrinsic: str
    lanes: int
    zero: int  # what stands for 0 in weights: their bytes have no sign where it is not 0


_KNOWN = (  # the fastest first
    (("avx512vnni", "avx512vl"), DotProduct("llvm.x86.avx512.vpdpbusd.512", 16, 128)),
    (("avxvnni",), DotProduct("llvm.x86.avx512.vpdpbusd.256", 8, 128)),
    (("dotprod",), DotProduct("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 0)),
)


def find_dot_product() -> DotProduct | None:
    """Return the widest one here, None where there is none."""
    features = binding.get_host_cpu_features()
    for wanted, found in _KNOWN:
        if all(features.get(name) for name in wanted):
            return found
    return None
