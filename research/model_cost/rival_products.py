"""Int8 products of other libraries, as functions without arguments, to be timed beside ours.

All multiply rows of bytes that are quantized already, with one scale for all rows. Ours has more to
do: it quantizes each group of a row, and scales each group's sum.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
import torch

from intarsia.engine.kernels.operands import Floats

Product: TypeAlias = Callable[[], object]
_Bytes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int8]]

_STEPS_PER_UNIT = 40  # of random numbers with a deviation of 1: few exceed 127 steps
_ZERO_POINT = 128


def rival_products(x: Floats, weights: Sequence[Floats]) -> dict[str, list[Product]]:
    """Return by library what multiplies x (rows, in) by each of the weights (out, in).

    ONNX Runtime takes part where it and ``onnx`` are installed.
    """
    rows, matrices = _bytes_of(x), [_bytes_of(weight) for weight in weights]
    rivals: dict[str, list[Product]] = {
        "torch _int_mm": [
            partial(torch._int_mm, torch.from_numpy(rows), torch.from_numpy(matrix).t())
            for matrix in matrices
        ]
    }
    if torch._C._has_mkldnn:
        rivals["oneDNN"] = [_onednn_product(rows, matrix) for matrix in matrices]
    if find_spec("onnxruntime") and find_spec("onnx"):
        rivals["onnxruntime"] = [_onnx_product(rows, matrix) for matrix in matrices]
    return rivals


def _bytes_of(numbers: Floats) -> _Bytes:
    return np.clip(numbers * _STEPS_PER_UNIT, -127, 127).astype(np.int8)


def _unsigned(rows: _Bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return (rows.astype(np.int16) + _ZERO_POINT).astype(np.uint8)


def _onednn_product(rows: _Bytes, matrix: _Bytes) -> Product:
    """Return oneDNN's product of unsigned rows and packed weights, scaled to float32."""
    operations = torch.ops.onednn
    packed = operations.qlinear_prepack(torch.from_numpy(matrix), rows.shape)
    scales, zeros = torch.ones(len(matrix)), torch.zeros(len(matrix), dtype=torch.int32)
    x = torch.from_numpy(_unsigned(rows))
    return partial(
        operations.qlinear_pointwise,
        *(x, 1.0, _ZERO_POINT, packed, scales, zeros),
        *(None, 1.0, 0, torch.float32, "none", [], ""),
    )


def _onnx_product(rows: _Bytes, matrix: _Bytes) -> Product:
    """Return ONNX Runtime's ``MatMulInteger``: unsigned rows, signed weights."""
    onnx, runtime = import_module("onnx"), import_module("onnxruntime")
    make, kinds = onnx.helper, onnx.TensorProto
    weights = onnx.numpy_helper.from_array(np.ascontiguousarray(matrix.T), "w")
    zero = onnx.numpy_helper.from_array(np.array(_ZERO_POINT, np.uint8), "z")
    graph = make.make_graph(
        [make.make_node("MatMulInteger", ["x", "w", "z"], ["y"])],
        "product",
        [make.make_tensor_value_info("x", kinds.UINT8, rows.shape)],
        [make.make_tensor_value_info("y", kinds.INT32, (len(rows), len(matrix)))],
        [weights, zero],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return partial(session.run, None, {"x": _unsigned(rows)})
