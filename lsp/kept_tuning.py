"""The tunings that the user keeps for repositories: where they lie, and what is said of each.

They lie in the user's own data folder, never in a repository. Knows nothing of models or weights.
"""

import hashlib
import os
import re
from pathlib import Path

import msgspec

ABOUT_NAME = "about.json"


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """What a tuning changes on held-out files. Shares, 0 to 1."""

    holes: int
    exact_without: float
    exact_with: float
    exact_difference_low: float  # between these, with 95 % confidence
    exact_difference_high: float
    mcnemar_p: float
    similarity_without: float
    similarity_with: float


class KeptTuning(msgspec.Struct, frozen=True, kw_only=True):
    """What ``about.json`` says beside a tuning."""

    root: str  # the repository, resolved
    model: str  # that the tuning is for
    is_default_model: bool
    tuning: str  # the file's name; another tuning has another, as engines know models by name
    made: str  # ISO 8601, UTC
    intarsia: str  # version
    training_files: int
    held_out_files: int
    training_holes: int
    training_holes_sha256: str  # of the packed holes
    rank: int
    seed: int
    steps: int
    seconds: float
    effect: Effect


def data_folder() -> Path:
    """Return the folder for what the user keeps; INTARSIA_DATA_DIR overrides it."""
    override = os.environ.get("INTARSIA_DATA_DIR")
    if override:
        return Path(override).expanduser()
    import platformdirs

    return platformdirs.user_data_path("intarsia", appauthor=False)


def key_of(root: Path) -> str:
    """Return a repository's name in the user's folders: short, of plain signs, its own."""
    resolved = root.resolve()
    place = os.path.normcase(resolved).encode("utf-8", "surrogateescape")
    name = re.sub(r"[^A-Za-z0-9._-]", "_", resolved.name) or "root"
    return f"{name}-{hashlib.sha256(place).hexdigest()[:12]}"


def tuning_folder(root: Path) -> Path:
    """Return where a repository's tuning lies, or would."""
    return data_folder() / "repositories" / key_of(root)


def read_kept(root: Path) -> KeptTuning | None:
    """Return what is said of a repository's tuning, None where none is kept.

    Raises OSError or msgspec.DecodeError where that cannot be read.
    """
    try:
        data = (tuning_folder(root) / ABOUT_NAME).read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=KeptTuning)


def tuning_path(root: Path, kept: KeptTuning) -> Path:
    """Return the tuning's file."""
    return tuning_folder(root) / Path(kept.tuning).name
