"""SHA-256 digests of files."""

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_digest(path: Path, sha256: str) -> bool:
    """Tell whether the file exists and has this digest."""
    return path.is_file() and sha256_of(path) == sha256
