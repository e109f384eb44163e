"""Int8 products are near the exact ones, and do not depend on the other rows."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from gguf import GGMLQuantizationType, dequantize
from llvmlite import binding

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.kernels import int8_support
from intarsia.engine.kernels.compile_cache import keep_compiled
from intarsia.engine.kernels.compiled.block_tile import BLOCK_ROWS, block_panels
from intarsia.engine.kernels.int8_matrix import (
    empty_matrices,
    picked_rows,
    unpacked_rows,
    write_rows,
)
from intarsia.engine.kernels.int8_support import can_multiply_int8, multiply_rows, quantize_matrix
from intarsia.engine.kernels.native_kernel import run_output
from intarsia.engine.kernels.operands import BLOCK_BYTES, FEW_ROWS, GROUP, Floats, Int8Matrices
from intarsia.engine.kernels.processor import num_lanes
from intarsia.engine.kernels.thread_team import ThreadTeam

keep_compiled(cache_folder() / "kernels")
pytestmark = pytest.mark.skipif(
    not can_multiply_int8(), reason="this processor has no int8 dot product"
)

_OUT, _IN = 45, 2 * GROUP + 30
_TEAM = ThreadTeam(2)


def numbers(*size: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def error(found: Floats, exact: Floats) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("num_out", [_OUT, 63, 64, 65, 130, 200])
@pytest.mark.parametrize("num_rows", [0, 1, 5, 8, 9, 12, 13, 17, 18, 65, 126, 127])
def test_a_product_is_near_the_exact_one_and_that_of_each_row_alone(num_rows: int, num_out: int):
    """Whole blocks of panels and rows, and what is left of both."""
    weight, bias = numbers(num_out, _IN), numbers(num_out, seed=2)
    x = numbers(num_rows, _IN, seed=1)
    matrix = quantize_matrix(weight)
    bare = multiply_rows(matrix, x, _TEAM)
    assert bare.shape == (num_rows, num_out)
    assert num_rows == 0 or 0 < error(bare, x @ weight.T) < 0.015
    write_rows(matrix, 0, 0, weight, bias=bias)
    together = multiply_rows(matrix, x, _TEAM)
    np.testing.assert_allclose(together, bare + bias, rtol=1e-5, atol=1e-5)
    for i in range(num_rows):
        assert np.array_equal(together[i : i + 1], multiply_rows(matrix, x[i : i + 1], _TEAM))


@pytest.mark.parametrize("count", [1, 7, 16, 50])
def test_picked_rows_are_those_that_would_be_quantized(count: int) -> None:
    weight = numbers(_OUT, _IN)
    rows = np.random.default_rng(count).integers(0, _OUT, count)
    picked = picked_rows(quantize_matrix(weight), rows)
    x = numbers(3, _IN, seed=1)
    own = quantize_matrix(weight[rows])
    assert np.array_equal(multiply_rows(picked, x, _TEAM)[:, :count], multiply_rows(own, x, _TEAM))
    assert np.array_equal(picked.column_scales, own.column_scales)


@pytest.mark.parametrize("format_name", BLOCK_BYTES)
def test_unpacked_rows_are_what_the_gguf_library_reads(format_name: str) -> None:
    """Of all bytes that a block may have, and scales of every size, but what is no number."""
    width = BLOCK_BYTES[format_name]
    blocks = np.random.default_rng(0).integers(0, 256, (40, 3, width), np.uint8)
    blocks[..., 1] &= 0b10111111
    stored = blocks.reshape(40, -1)
    exact = dequantize(stored, GGMLQuantizationType[format_name])
    assert np.array_equal(unpacked_rows(stored, format_name), exact)


def test_the_check_of_this_processor_multiplies_blocks_too(monkeypatch):
    """In tiles of every height."""
    checked: list[int] = []

    def noted(matrix: Int8Matrices, x: Floats, team: ThreadTeam) -> Floats:
        checked.append(len(x))
        return multiply_rows(matrix, x, team)

    monkeypatch.setattr(int8_support, "multiply_rows", noted)
    can_multiply_int8.__wrapped__()
    assert block_panels() * num_lanes() < int8_support._NUM_OUT
    remaining = {num_rows % BLOCK_ROWS for num_rows in checked if num_rows > FEW_ROWS}
    assert {2, 4} <= remaining


def test_a_far_larger_number_costs_precision_only_in_its_group() -> None:
    weight, x = numbers(_OUT, _IN), numbers(4, _IN, seed=1)
    x[:, 3] = 4000.0
    weight[:, :GROUP] = 0.0  # the others alone make the product
    assert error(multiply_rows(quantize_matrix(weight), x, _TEAM), x @ weight.T) < 0.015


def test_zero_rows_and_zero_weights_give_zeros() -> None:
    weight, x = numbers(_OUT, _IN), numbers(3, _IN, seed=1)
    weight[7] = x[1] = 0.0
    y = multiply_rows(quantize_matrix(weight), x, _TEAM)
    assert np.isfinite(y).all()
    assert not y[1].any() and not y[:, 7].any()
    assert y[0, 6] != 0


def test_rows_of_a_matrix_may_be_written_one_block_after_the_other() -> None:
    weight, x = numbers(200, _IN), numbers(2, _IN, seed=1)
    matrix = empty_matrices(1, 200, _IN)
    for first in (0, 64, 128):
        write_rows(matrix, 0, first, weight[first : first + 64])
    write_rows(matrix, 0, 192, weight[192:])
    whole = multiply_rows(quantize_matrix(weight), x, _TEAM)
    assert np.array_equal(multiply_rows(matrix, x, _TEAM), whole)


def test_rows_that_do_not_fit_are_refused() -> None:
    room = empty_matrices(1, 32, _IN)
    with pytest.raises(ValueError, match="no room"):
        write_rows(room, 0, 0, numbers(64, _IN))
    with pytest.raises(ValueError, match="no room"):
        write_rows(room, 0, 0, numbers(32, _IN + GROUP))


def test_a_kernel_takes_only_what_it_is_compiled_for() -> None:
    """Or it would read other memory."""
    example = run_output.example
    run_output.bind(*example)
    with pytest.raises(TypeError, match="run_output is not compiled for"):
        run_output.bind(*example[:-1], example[-1].astype(np.float64))
    with pytest.raises(TypeError, match="contiguous"):
        run_output.bind(*example[:-1], np.zeros((2, 4), np.float32)[:, ::2])


@pytest.mark.parametrize(("needed", "way"), [("avx512vl", "AVX-VNNI"), ("avx2", "AVX2")])
def test_older_processors_give_the_same_numbers(needed: str, way: str) -> None:
    """Laptops have AVX-VNNI or AVX2 alone, with vectors half as wide as those of AVX-512."""
    if not binding.get_host_cpu_features().get(needed):
        pytest.skip(f"this processor has no {needed}")
    program = f"""
import hashlib
from intarsia.engine.kernels import processor

processor.choose({way!r})
import numpy as np
from intarsia.engine.kernels.int8_support import can_multiply_int8, multiply_rows, quantize_matrix
from intarsia.engine.kernels.thread_team import ThreadTeam

assert can_multiply_int8()
random = np.random.default_rng(0)
weight = random.standard_normal(({_OUT}, {_IN})).astype(np.float32)
x = random.standard_normal((20, {_IN})).astype(np.float32)
products = multiply_rows(quantize_matrix(weight), x, ThreadTeam(1))
print(processor.num_lanes(), hashlib.sha256(products.tobytes()).hexdigest())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    random = np.random.default_rng(0)
    weight = random.standard_normal((_OUT, _IN)).astype(np.float32)
    x = random.standard_normal((20, _IN)).astype(np.float32)
    same = hashlib.sha256(multiply_rows(quantize_matrix(weight), x, _TEAM).tobytes()).hexdigest()
    assert done.stdout.split() == ["8", same], done.stderr
