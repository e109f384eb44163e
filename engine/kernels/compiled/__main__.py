"""``python -m intarsia.engine.kernels.compiled NAME PRODUCT``: write a kernel's machine code.

Numba takes half a second to import and a lot of memory, so it compiles in a process of its own; in
several at once, while another converts a model. PRODUCT names the processor's dot product.

Without arguments: write what the package has for this system, a file for each of ``PROCESSORS``.
The code depends on the versions of numba and llvmlite alone: the locked ones give the same bytes.
"""

import lzma
import sys
from concurrent.futures import ThreadPoolExecutor

import msgspec
from numba import typeof

from intarsia.engine.kernels import native_kernel, processor
from intarsia.engine.kernels.compile_cache import KERNELS, compile_kernel
from intarsia.engine.kernels.compiled.forward import run_layers, run_output
from intarsia.engine.kernels.compiled.quantize import quantize_columns, unpack_blocks
from intarsia.engine.kernels.prebuilt import (
    FOLDER,
    PROCESSORS,
    Prebuilt,
    machine,
    path_of,
    source_digest,
)


def compiled(name: str) -> bytes:
    """Return a kernel's symbol, a line break, and the object file that has it."""
    kernels = {it.__name__: it for it in (run_layers, run_output, quantize_columns, unpack_blocks)}
    example = getattr(native_kernel, name).example
    entry = kernels[name]
    # Python does not call it by numba's own ways.
    entry.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    made = entry._compiler.compile(tuple(map(typeof, example)), None)
    symbol: str = made.fndesc.llvm_func_name
    code: bytes = made.library._get_compiled_object()
    return symbol.encode() + b"\n" + code


def code_for(name: str, product: str) -> bytes:
    """Return a kernel's code for any processor of this system that has what is needed."""
    processor, features = PROCESSORS[machine()][product]
    wanted = ",".join(f"+{feature}" for feature in features.split())
    return compile_kernel(
        name, product, {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": wanted}
    )


def write_prebuilt() -> None:
    FOLDER.mkdir(exist_ok=True)
    with ThreadPoolExecutor() as pool:
        for product in PROCESSORS[machine()]:
            codes = pool.map(lambda name, product=product: code_for(name, product), KERNELS)
            made = Prebuilt(source_digest(), dict(zip(KERNELS, codes, strict=True)))
            path_of(product).write_bytes(lzma.compress(msgspec.msgpack.encode(made)))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write_prebuilt()
    else:
        processor.choose(sys.argv[2])
        sys.stdout.buffer.write(compiled(sys.argv[1]))
