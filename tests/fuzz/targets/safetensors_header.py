"""The header of a safetensors file: any bytes and any JSON. What it is read as is consistent."""

import json
import struct
from pathlib import Path

from harness.byte_reader import ByteReader
from harness.scratch import scratch
from harness.target import Target

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.safetensors_header import read_safetensors_header


def check(data: bytes) -> None:
    """Read a file of any bytes, or with a header of any text and its right length."""
    reader = ByteReader(data)
    has_length, num_data_bytes = reader.byte() & 1, reader.byte()
    header = reader.rest()
    content = struct.pack("<Q", len(header)) + header if has_length else header
    path = scratch() / "model.safetensors"
    path.write_bytes(content + bytes(num_data_bytes))
    _read(path)


def _read(path: Path) -> None:
    try:
        header = read_safetensors_header(path)
    except ModelError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1_000
        return
    ends = [tensor["data_offsets"][1] for tensor in header.tensors.values()]
    (length,) = struct.unpack("<Q", path.read_bytes()[:8])
    assert path.stat().st_size == 8 + length + max(ends)


def _seed(header: object, num_data_bytes: int) -> bytes:
    return bytes([1, num_data_bytes]) + json.dumps(header).encode()


_TENSOR = {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}

TARGET = Target(
    about="safetensors headers",
    check=check,
    seeds=[
        _seed({"__metadata__": {"format": "pt"}, "a": _TENSOR}, 8),
        _seed({"a": _TENSOR, "b": {**_TENSOR, "data_offsets": [8, 16]}}, 16),
        _seed({"a": {**_TENSOR, "data_offsets": [0, -1]}}, 0),
        bytes([0, 8]) + struct.pack("<Q", 2**62) + b"{}",
        bytes([1, 0]) + b"[" * 200,
    ],
    watched=["intarsia.engine.model_store.safetensors_header"],
    weight=20,
)
