"""What numba lacks: atomic counters, bit casts, fast rounding and a fast exponential."""

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Compiled kernels run where numba is not: so their arrays are their caller's, or of
# ``allocate_floats``, and they call nothing but Python's own allocator.
kernel = njit(fastmath=True, error_model="numpy")
plain_kernel = njit

_I64, _I32, _FLOAT = ir.IntType(64), ir.IntType(32), ir.FloatType()
_BYTES = ir.IntType(8).as_pointer()


@intrinsic
def fetch_and_add(context: Any, address: Any) -> Any:
    """Return the 64-bit counter at an address and add one to it, atomically."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counter = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.atomic_rmw("add", counter, ir.Constant(_I64, 1), "acq_rel")

    return types.int64(types.intp), generate


@intrinsic
def load_acquire(context: Any, address: Any) -> Any:
    """Return a counter; what threads wrote before they counted is visible after it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counter = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.load_atomic(counter, "acquire", 8)

    return types.int64(types.intp), generate


@intrinsic
def float_of_bits(context: Any, bits: Any) -> Any:
    """Return the float32 with these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _FLOAT)

    return types.float32(types.int32), generate


@intrinsic
def bits_of_float(context: Any, number: Any) -> Any:
    """Return the 32 bits of a float32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _I32)

    return types.int32(types.float32), generate


@intrinsic
def nearest(context: Any, number: Any) -> Any:
    """Return the nearest whole number of a float32, by an instruction that vectorizes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_FLOAT, [_FLOAT])
        return builder.call(builder.module.declare_intrinsic("llvm.rint.f32", (), kind), arguments)

    return types.float32(types.float32), generate


@intrinsic
def larger(context: Any, x: Any, y: Any) -> Any:
    """Return the larger of two float32 numbers, no NaN: unlike ``max``, it vectorizes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_FLOAT, [_FLOAT] * 2)
        maximum = builder.module.declare_intrinsic("llvm.maxnum.f32", (), kind)
        return builder.call(maximum, arguments, fastmath=("fast",))

    return types.float32(types.float32, types.float32), generate


@intrinsic
def pause(context: Any) -> Any:
    """Tell the processor that this loop waits, so that the core's other thread runs faster."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [])
        if platform.machine().lower() in ("x86_64", "amd64"):
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def allocate_floats(context: Any, count: Any) -> Any:
    """Return the address of memory for so many float32 numbers, to be freed by ``free``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_BYTES, [_I64])
        allocate = cgutils.get_or_insert_function(builder.module, kind, "PyMem_RawMalloc")
        size = builder.mul(arguments[0], ir.Constant(_I64, 4))
        return builder.bitcast(builder.call(allocate, [size]), _FLOAT.as_pointer())

    return types.CPointer(types.float32)(types.intp), generate


@intrinsic
def float_at(context: Any, memory: Any, offset: Any) -> Any:
    """Return the address of a float32 number that so many others precede."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return memory(memory, types.intp), generate


@intrinsic
def free(context: Any, memory: Any) -> Any:
    """Free what ``allocate_floats`` returned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_BYTES])
        release = cgutils.get_or_insert_function(builder.module, kind, "PyMem_RawFree")
        builder.call(release, [builder.bitcast(arguments[0], _BYTES)])
        return context.get_dummy_value()

    return types.void(memory), generate


_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.44269504), _f(0.693359375), _f(-2.12194440e-4)
_MIN, _MAX, _HALF, _ONE = _f(-87.0), _f(88.0), _f(0.5), _f(1.0)
_C0, _C1, _C2 = _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3)
_C3, _C4 = _f(4.1665795894e-2), _f(1.6666665459e-1)


@njit(inline="always", fastmath=True, error_model="numpy")
def exp(x):
    """Return e to the power of a float32, by the polynomial of Cephes' ``expf``."""
    x = min(max(x, _MIN), _MAX)
    exponent = nearest(x * _LOG2_E)
    r = x - exponent * _LN2_HIGH - exponent * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _HALF
    power = (np.int32(exponent) + np.int32(127)) << np.int32(23)
    return (p * r * r + r + _ONE) * float_of_bits(np.int32(power))
