"""The bytes of one kept file: named tensors in safetensors, checksummed and compressed losslessly.

The bytes of numbers are split into planes: first bytes, second bytes, and so on. In bfloat16 the
plane of exponents takes about a third after Huffman coding, and the mantissas do not shrink; longer
matches do not occur, so none are searched. No pickle.
"""

import hashlib
import math
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

_FORMAT = "intarsia-context-1"
_WORTHWHILE = 0.9  # of the size: a plane that shrinks less stays as it is
_SAMPLE_BYTES = 16 * 1024
_MOST_SHRUNK = 8  # a Huffman code has at least one bit for each byte


class DamagedFileError(ValueError):
    """A file that was cut off, changed, renamed, or written for something else."""


def to_file(key: str, tensors: Mapping[str, Tensor]) -> bytes:
    """Return the content of a file. ``key`` is what it is asked for by: identity and name."""
    parts: dict[str, Tensor] = {}
    shapes = []
    for name, tensor in sorted(tensors.items()):
        shapes.append(f"{name}:{tensor.dtype}:{','.join(map(str, tensor.shape))}")
        for i, plane in enumerate(_planes(tensor)):
            packed = _packed(plane)
            part = plane if packed is None else np.frombuffer(packed, np.uint8)
            end = "" if packed is None else ".deflated"
            parts[f"{name}.{i}{end}"] = torch.from_numpy(part.copy())
    about = {"format": _FORMAT, "key": key, "tensors": ";".join(shapes)}
    return save(parts, {**about, "sha256": _checksum(about, parts)})


def from_file(key: str, path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file. Raises DamagedFileError, and OSError if there is none."""
    try:
        with safe_open(path, framework="pt") as file:
            about = dict(file.metadata() or {})
            parts = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about.get("format") != _FORMAT or about.get("key") != key:
            raise DamagedFileError(f"{path} is not of this version, model or name")
        if about.pop("sha256", "") != _checksum(about, parts):
            raise DamagedFileError(f"{path} has another checksum")
        return dict(_tensor(entry, parts) for entry in about["tensors"].split(";"))
    except (SafetensorError, zlib.error, LookupError, ValueError, RuntimeError) as error:
        raise DamagedFileError(f"{path} is damaged: {error}") from error


def _tensor(entry: str, parts: Mapping[str, Tensor]) -> tuple[str, Tensor]:
    name, dtype_name, sizes = entry.split(":")
    dtype = getattr(torch, dtype_name.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype):
        raise DamagedFileError(f"{dtype_name} is no number format")
    shape = [int(size) for size in sizes.split(",")]
    num_numbers = math.prod(shape)
    if num_numbers > _MOST_SHRUNK * sum(map(len, parts.values())):
        raise DamagedFileError(f"{num_numbers} numbers are more than there are bytes for")
    numbers = np.empty((num_numbers, dtype.itemsize), np.uint8)
    for i in range(dtype.itemsize):
        if (plain := parts.get(f"{name}.{i}")) is not None:
            numbers[:, i] = plain.numpy()
        else:
            packed = parts[f"{name}.{i}.deflated"].numpy()
            numbers[:, i] = np.frombuffer(_inflate(packed, num_numbers), np.uint8)
    return name, torch.from_numpy(numbers.reshape(-1)).view(dtype).view(shape)


def _planes(tensor: Tensor) -> list[NDArray[np.uint8]]:
    raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
    numbers = raw.reshape(-1, tensor.dtype.itemsize)
    return [np.ascontiguousarray(numbers[:, i]) for i in range(numbers.shape[1])]


def _packed(plane: NDArray[np.uint8]) -> bytes | None:
    """Return a plane's Huffman code, None if it is hardly shorter.

    A sample tells: coding all of a plane of mantissas in vain would take half of the time.
    """
    sample = np.ascontiguousarray(plane[:: len(plane) // _SAMPLE_BYTES | 1])
    for part in (sample, plane):
        packed = _deflate(part)
        if len(packed) >= _WORTHWHILE * len(part):
            return None
    return packed


def _deflate(plane: NDArray[np.uint8]) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(plane.data) + packer.flush()


def _inflate(packed: NDArray[np.uint8], num_bytes: int) -> bytes:
    """Return exactly ``num_bytes``: a damaged length must not fill the memory."""
    unpacker = zlib.decompressobj()
    plane = unpacker.decompress(packed.data, num_bytes)
    if len(plane) != num_bytes:
        raise DamagedFileError("a plane is cut off")
    return plane


def _checksum(about: Mapping[str, str], parts: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(repr(sorted(about.items())).encode())
    for name in sorted(parts):
        digest.update(f"{name}:{len(parts[name])};".encode())
        digest.update(parts[name].numpy().data)
    return digest.hexdigest()
