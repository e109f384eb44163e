"""What numba lacks between threads and between formats: counters that several threads share, and
bits read as numbers."""

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WIDE, _INT, _FLOAT = ir.IntType(64), ir.IntType(32), ir.FloatType()


@intrinsic
def take_number(context: Any, address: Any) -> Any:
    """Return the counter's number and add one to it."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        counter = builder.inttoptr(given[0], _WIDE.as_pointer())
        return builder.atomic_rmw("add", counter, ir.Constant(_WIDE, 1), "acq_rel")

    return types.int64(types.intp), generate


@intrinsic
def read_number(context: Any, address: Any) -> Any:
    """Return the counter's number, and with it what other threads wrote before they counted."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        counter = builder.inttoptr(given[0], _WIDE.as_pointer())
        return builder.load_atomic(counter, "acquire", 8)

    return types.int64(types.intp), generate


@intrinsic
def float_of_bits(context: Any, bits: Any) -> Any:
    """Return the float32 that these 32 bits are."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], _FLOAT)

    return types.float32(types.int32), generate


@intrinsic
def bits_of_float(context: Any, number: Any) -> Any:
    """Return the 32 bits of a float32."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], _INT)

    return types.int32(types.float32), generate


@intrinsic
def nearest(context: Any, number: Any) -> Any:
    """Return the nearest whole number of a float32, as one instruction: a call would not become
    vectors."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(_FLOAT, [_FLOAT])
        return builder.call(builder.module.declare_intrinsic("llvm.rint.f32", (), kind), given)

    return types.float32(types.float32), generate


@intrinsic
def rest(context: Any) -> Any:
    """Leave a core's shared parts to its other thread for a moment, within a loop that waits."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [])
        if platform.machine().lower() in ("x86_64", "amd64"):
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), generate
