"""For which engine kept keys and values are valid: model, tunings, number format and arithmetic.

Arithmetic is what the kernels compute, what compiles them, and for which processor: another
compiler or other instructions may round differently. The adapter is not part of it, as it changes
no row of a context. Nor is the tokenizer: contexts are kept as token ids.
"""

import hashlib
import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import torch
from llvmlite import binding

from intarsia.engine.cache.digest import sha256_of
from intarsia.engine.model_store.locate import ModelFolder

_LAYOUT = 1
"""Of the kept files; raised whenever their meaning changes."""

_SAMPLE_BYTES = 4096
_NUM_SAMPLES = 64


def context_identity(folder: ModelFolder, format_name: str) -> str:
    """Return a name for all engines that would compute the same keys and values.

    Weights take too long to be read in full: each file counts with its size, its time and samples
    of its content.
    """
    digest = hashlib.sha256(f"{_LAYOUT}\n{format_name}\n".encode())
    for line in (*_compilers(), *_processor()):
        digest.update(f"{line}\n".encode())
    for path in folder.weights:
        _add_weights(digest, path)
    for part in (folder.path / "config.json", *folder.tunings):
        digest.update(sha256_of(part).encode())
    for source in _sources_of_passes():
        digest.update(f"{source.name}\n".encode() + source.read_bytes())
    return digest.hexdigest()[:32]


def _compilers() -> Iterable[str]:
    """Return the versions of the libraries that compute a pass, or compile what does."""
    yield f"torch {torch.__version__}"
    for name in ("numba", "llvmlite"):
        yield f"{name} {metadata.version(name)}"


def _processor() -> Iterable[str]:
    """Return what the compilers know of this processor, and choose instructions by."""
    yield f"{platform.machine()} {binding.get_host_cpu_name()}"
    yield torch.backends.cpu.get_cpu_capability()
    features = binding.get_host_cpu_features()
    yield " ".join(sorted(name for name, is_there in features.items() if is_there))


def _add_weights(digest: "hashlib._Hash", path: Path) -> None:
    status = path.stat()
    digest.update(f"{status.st_size}\n{status.st_mtime_ns}\n".encode())
    step = max(_SAMPLE_BYTES, status.st_size // _NUM_SAMPLES)
    with path.open("rb") as file:
        for offset in range(0, status.st_size, step):
            file.seek(offset)
            digest.update(file.read(_SAMPLE_BYTES))
        file.seek(-min(_SAMPLE_BYTES, status.st_size), os.SEEK_END)
        digest.update(file.read())


def _sources_of_passes() -> Iterable[Path]:
    """Return the files that define a forward pass: the backbone's and the kernels'."""
    family = Path(__file__).parents[1]
    kernels = family.parents[1] / "kernels"
    return sorted([*(family / "backbone").glob("*.py"), *kernels.glob("*.py")])
