"""``python -m intarsia.engine.kernels.compiled NAME PRODUCT``: write a kernel's machine code.

Numba takes half a second to import and a lot of memory, so it compiles in a process of its own; in
several at once, while another converts a model. PRODUCT names the processor's dot product.
"""

import sys

from numba import typeof

from intarsia.engine.kernels import native_kernel, processor
from intarsia.engine.kernels.compiled.forward import run_layers, run_output
from intarsia.engine.kernels.compiled.quantize import quantize_columns


def compiled(name: str) -> bytes:
    """Return a kernel's symbol, a line break, and the object file that has it."""
    kernels = {it.__name__: it for it in (run_layers, run_output, quantize_columns)}
    example = getattr(native_kernel, name).example
    entry = kernels[name]
    # Python does not call it by numba's own ways.
    entry.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    made = entry._compiler.compile(tuple(map(typeof, example)), None)
    symbol: str = made.fndesc.llvm_func_name
    code: bytes = made.library._get_compiled_object()
    return symbol.encode() + b"\n" + code


if __name__ == "__main__":
    processor.choose(sys.argv[2])
    sys.stdout.buffer.write(compiled(sys.argv[1]))
