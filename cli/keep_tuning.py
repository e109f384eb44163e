"""Puts a repository's tuning into the user's data folder, and takes it away again."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from intarsia.lsp.kept_tuning import ABOUT_NAME, KeptTuning, tuning_folder

_DIGITS = 12


def keep_tuning(weights: Path, root: Path, about: Callable[[str], KeptTuning]) -> Path:
    """Copy the weights and say what they are; an earlier tuning is deleted last.

    ``about`` gets the file's name, which is new for new weights: a running engine that holds the
    former ones would take a file of the same name for the same model.
    """
    folder = tuning_folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = about(f"tuning-{digest[:_DIGITS]}.safetensors")
    path = folder / kept.tuning
    partial = folder / "tuning.partial"
    shutil.copyfile(weights, partial)
    partial.replace(path)
    partial = folder / f"{ABOUT_NAME}.partial"
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
    partial.replace(folder / ABOUT_NAME)
    for other in folder.glob("tuning-*.safetensors"):
        if other != path:
            other.unlink()
    return path


def remove_tuning(root: Path) -> bool:
    """Delete a repository's tuning; return whether there was one."""
    folder = tuning_folder(root)
    if not folder.is_dir():
        return False
    (folder / ABOUT_NAME).unlink(missing_ok=True)  # first: without it nothing is in use
    shutil.rmtree(folder)
    return True
