"""Kernels of a forward pass through int8 weights on the CPU, compiled by numba at the first use.

``forward.run_layers`` is the pass, ``int8_product.multiply`` one product, ``operands`` what they
take, ``threads.ThreadTeam`` what runs them. ``compile_cache.keep_compiled`` keeps the compiled code
for the next start; importing this folder compiles nothing and reads no processor flags.
"""
