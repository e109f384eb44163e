"""Time int8 products of the default model's shapes: ours and those of other libraries, in turn.

Run it with ``python -m intarsia_research.model_cost.product_cost``. The last number of a line is
our time divided by that of the fastest library. The libraries multiply bare bytes. Ours also
quantizes the rows and scales the products, so it has more to do.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from intarsia.engine.service.native_libraries import spin_briefly

SHAPES = {"qkv": (1152, 896), "o": (896, 896), "gate_up": (9728, 896), "down": (896, 4864)}
"""(out, in) of a layer's matrices in Qwen2.5-Coder-0.5B."""

OURS = "ours"

_ROUNDS = 40
_BYTES_IN_TURN = 2**25  # of matrices: about what caches hold


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.model_cost.product_cost", description=__doc__
    )
    parser.add_argument("--rows", type=_numbers, default=(32, 64, 128, 256), metavar="32,64,…")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parsed = parser.parse_args(arguments)
    spin_briefly()  # as the engine does
    from intarsia.engine.families.masked_causal.backbone.int8_weights import is_int8_supported

    if not is_int8_supported():
        sys.stderr.write("this processor has no dot products of bytes: nothing to measure\n")
        return 1
    for num_rows in parsed.rows:
        _measure_layer(num_rows, max(1, parsed.rounds))
    return 0


def _measure_layer(num_rows: int, rounds: int) -> None:
    """Print the time of each product of a layer, and of all four."""
    total: dict[str, float] = {}
    operations = 0.0
    for name, (num_out, num_in) in SHAPES.items():
        times = time_products(num_rows, num_out, num_in, rounds)
        work = 2.0 * num_rows * num_out * num_in
        _print(num_rows, name, times, work)
        total = {library: total.get(library, 0.0) + ms for library, ms in times.items()}
        operations += work
    _print(num_rows, "layer", total, operations)


def time_products(num_rows: int, num_out: int, num_in: int, rounds: int) -> dict[str, float]:
    """Return the least milliseconds of our product, ``OURS``, and of each library's.

    They take turns, so that all meet the machine in the same state.
    """
    import numpy as np
    import torch

    from intarsia.engine.kernels.int8_support import multiply_rows, quantize_matrix
    from intarsia.engine.kernels.threads import ThreadTeam
    from intarsia_research.model_cost.rival_products import rival_products

    random, team = np.random.default_rng(0), ThreadTeam(torch.get_num_threads())
    x = random.standard_normal((num_rows, num_in), dtype=np.float32)
    count = max(2, min(16, _BYTES_IN_TURN // (num_out * num_in)))
    weights = [random.standard_normal((num_out, num_in), dtype=np.float32) for _ in range(count)]
    ours = [partial(multiply_rows, quantize_matrix(weight), x, team) for weight in weights]
    products: dict[str, Sequence[Callable[[], object]]] = {OURS: ours, **rival_products(x, weights)}
    times = dict.fromkeys(products, float("inf"))
    for k in range(rounds + 1):
        for library, own in products.items():
            times[library] = min(times[library], _milliseconds(own[k % count]))
    return times


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _print(num_rows: int, name: str, times: dict[str, float], operations: float) -> None:
    figures = "   ".join(
        f"{library} {ms:.2f} ms, {operations / ms / 1e9:.3f} TOPS" for library, ms in times.items()
    )
    ratio = times[OURS] / min(ms for library, ms in times.items() if library != OURS)
    sys.stdout.write(f"{num_rows:4d} rows  {name:8s} {figures}   {ratio:.2f}\n")
    sys.stdout.flush()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


if __name__ == "__main__":
    sys.exit(main())
