"""Call compiled kernels by their address, without the compiler that made them.

A kernel takes named tuples of arrays and numbers (``operands.py``). Compiled code takes their parts
one by one: that is numba's own convention for native code. Importing numba takes as long as all
else that a start does, so it is only done where there is no compiled code yet.
"""

import ctypes
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from llvmlite import binding

from intarsia.engine.kernels.compile_cache import code_of
from intarsia.engine.kernels.operands import (
    COUNTERS_PER_PHASE,
    Buffers,
    Int8Matrices,
    Int8Rows,
    KeysValues,
    LayerStack,
    Model,
    PassRows,
    RowsAndBuffers,
    Shape,
    Work,
)


class NativeKernel:
    """One kernel; ``example`` are arguments of the types that it is compiled for."""

    def __init__(self, name: str, *example: object) -> None:
        self.name = name
        self.example = example
        self._kinds, self._numbers = flat(example)

    def bind(self, *arguments: object) -> Callable[[], None]:
        """Return the call with these arguments, for any number of threads.

        Raises TypeError for arguments of another type than the example's.
        """
        kinds, numbers = flat(arguments)
        if kinds != self._kinds:
            raise TypeError(f"{self.name} is not compiled for {kinds}")
        return partial(self._run, arguments, numbers)

    def load(self) -> None:
        """Compile the kernel, or load what was compiled before. Raises RuntimeError."""
        self._function  # noqa: B018

    def _run(self, arguments: object, numbers: list[Any]) -> None:
        """Call the kernel; ``arguments`` own the memory that the numbers refer to."""
        result, error = ctypes.c_void_p(), ctypes.c_void_p()
        if self._function(ctypes.byref(result), ctypes.byref(error), *numbers):
            raise RuntimeError(f"the kernel {self.name} failed")

    @cached_property
    def _function(self) -> Callable[..., int]:
        symbol, _, code = code_of(self.name).partition(b"\n")
        self._code = _linked(code)
        address = self._code.get_function_address(symbol.decode())
        if not address:
            raise ImportError(f"the code of {self.name} lacks its symbol")
        kinds: dict[type, Any] = {float: ctypes.c_float, int: ctypes.c_int64}
        types = [kinds[type(number)] for number in self._numbers]
        return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)(address)


def flat(arguments: object) -> tuple[list[Any], list[Any]]:
    """Return the types of arguments, and their parts as compiled code takes them."""
    kinds: list[Any] = []
    numbers: list[Any] = []
    _flatten(arguments, kinds, numbers)
    return kinds, numbers


def _flatten(value: Any, kinds: list[Any], numbers: list[Any]) -> None:
    if isinstance(value, tuple):
        for part in value:
            _flatten(part, kinds, numbers)
    elif isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("a kernel's arrays must be contiguous")
        kinds.append((value.dtype, value.ndim))
        address = value.__array_interface__["data"][0]
        # without an owner that counts references
        numbers += (0, 0, value.size, value.itemsize, address, *value.shape, *value.strides)
    else:
        kind = float if isinstance(value, np.floating) else int
        kinds.append(kind)
        numbers.append(kind(value))


_LINKED = {
    "PyMem_RawMalloc": "PyMem_RawMalloc",
    "PyMem_RawFree": "PyMem_RawFree",
    "NRT_MemInfo_call_dtor": "PyMem_RawFree",  # never called: no array has an owner to be freed
}
"""What compiled code refers to, and what stands for it."""


def _linked(code: bytes) -> Any:
    """Return the engine that holds machine code, linked with Python's allocator."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name, of_python in _LINKED.items():
        if not binding.address_of_symbol(name):
            address = ctypes.cast(getattr(ctypes.pythonapi, of_python), ctypes.c_void_p).value
            binding.add_symbol(name, address)
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _array(dtype: type, num_dimensions: int) -> Any:
    return np.zeros((1,) * num_dimensions, dtype)


_FLOATS = tuple(_array(np.float32, n) for n in range(4))
_INT8_ROWS = Int8Rows(_array(np.int8, 2), _FLOATS[1], _array(np.int32, 1), 1, 1)
_MATRICES = Int8Matrices(_array(np.uint8, 3), _FLOATS[2], _FLOATS[2], 1, 1)
_WORK = Work(np.zeros((1, COUNTERS_PER_PHASE), np.int64), 1)
_BUFFERS = Buffers(
    *(_FLOATS[2], _FLOATS[2], _INT8_ROWS, *(_FLOATS[2],) * 4, _FLOATS[3]),
)
_ROWS = RowsAndBuffers(PassRows(1, _array(np.bool_, 2), _FLOATS[2], _FLOATS[2]), _BUFFERS)
_MODEL = Model(
    LayerStack(*(_FLOATS[2],) * 4, _FLOATS[1], *(_MATRICES,) * 4),
    Shape(1, 1, 1, 1, np.float32(1)),
    _array(np.int64, 1),
)

run_layers = NativeKernel(
    "run_layers",
    *(_WORK, _MODEL, KeysValues(_array(np.uint16, 5), _array(np.uint16, 4)), _ROWS, _ROWS),
)
run_output = NativeKernel("run_output", _WORK, _MATRICES, _FLOATS[2], _INT8_ROWS, _FLOATS[2])
quantize_columns = NativeKernel("quantize_columns", _FLOATS[2], _array(np.uint8, 2), _FLOATS[1])
unpack_blocks = NativeKernel("unpack_blocks", _array(np.uint8, 2), _FLOATS[2], _FLOATS[2])
