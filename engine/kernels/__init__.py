"""Kernels of a forward pass through int8 weights on the CPU, called as native code.

``native_kernel`` calls them, ``operands`` is what they take, ``thread_team.ThreadTeam`` what runs
them. ``compiled`` is their source, which numba compiles: it is imported only by the process that
``compile_cache`` starts to compile, and what that writes is kept for the next start.
"""
