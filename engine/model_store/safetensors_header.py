"""Read the header of a safetensors file and check the file's length. Reads no tensor."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intarsia.engine.errors import ModelError

_MAX_HEADER_BYTES = 100_000_000  # safetensors' own limit


@dataclass(frozen=True, kw_only=True, slots=True)
class SafetensorsHeader:
    """``tensors`` maps names to their dtype, shape and data_offsets."""

    metadata: Mapping[str, str]
    tensors: Mapping[str, Mapping[str, Any]]


def read_safetensors_header(path: Path) -> SafetensorsHeader:
    """Return the file's header. Raises ModelError for a file that is missing or damaged."""
    try:
        entries, num_data_bytes = _read(path)
        metadata = dict(entries.pop("__metadata__", {}))
        end = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {fault.strerror}") from fault
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
        raise _damaged(path, f"not a safetensors header: {fault}") from fault
    if not entries:
        raise _damaged(path, "it has no tensor")
    if end != num_data_bytes:
        raise _damaged(path, f"{end:,} bytes of numbers announced, {num_data_bytes:,} there")
    return SafetensorsHeader(metadata=metadata, tensors=entries)


def _read(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header's entries and the number of bytes after it."""
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_MAX_HEADER_BYTES, num_bytes - 8):
            raise ValueError("its length is out of range")
        entries = json.loads(file.read(length))
    return dict(entries), num_bytes - 8 - length


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError(f"{path} is damaged ({reason}): remove it and download it again")
