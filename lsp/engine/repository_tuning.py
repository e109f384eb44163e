"""Chooses the model to ask: with the opened repository's tuning where the user wants that.

Reads only the user's data folder, never the workspace, and loads no model.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from intarsia.engine.ipc.ownership import data_folder, weakness_of
from intarsia.lsp.settings import Settings

ABOUT_NAME = "about.json"


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a tuning on held-out files, as shares from 0 to 1."""

    holes: int
    exact_without: float
    exact_with: float
    mcnemar_p: float
    similarity_without: float
    similarity_with: float


class KeptTuning(msgspec.Struct, frozen=True, kw_only=True):
    """A tuning's description: ``about.json`` in the tuning's folder."""

    root: str  # the repository, resolved
    model: str  # the model that was tuned
    is_default_model: bool
    tuning: str  # the file's name; unique, since engines know models by name
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


def key_of(root: Path) -> str:
    """Return a short, unique folder name for a repository, in plain ASCII."""
    resolved = root.resolve()
    path = os.path.normcase(resolved).encode("utf-8", "surrogateescape")
    name = re.sub(r"[^A-Za-z0-9._-]", "_", resolved.name) or "root"
    return f"{name}-{hashlib.sha256(path).hexdigest()[:12]}"


def tuning_folder(root: Path) -> Path:
    """Return the folder of a repository's tuning, whether or not there is one."""
    return data_folder() / "repositories" / key_of(root)


def read_kept(root: Path) -> KeptTuning | None:
    """Return the description of a repository's tuning, None where there is none.

    Raises OSError or msgspec.DecodeError where it cannot be read, or others could have written it.
    """
    path = tuning_folder(root) / ABOUT_NAME
    try:
        if (weakness := weakness_of(path)) is not None:  # others could have written it
            raise PermissionError(f"{weakness}; {weakness.remedy}")
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=KeptTuning)


def tuning_path(root: Path, kept: KeptTuning) -> Path:
    return tuning_folder(root) / Path(kept.tuning).name


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelChoice:
    """``model`` is None for the engine's default. ``note`` is one line for the log."""

    model: str | None
    note: str | None = None


def choose_model(settings: Settings, folders: Sequence[Path]) -> ModelChoice:
    """Return the model of the settings, with the tuning of the first folder that has one."""
    if not settings.repository_tuning:
        return ModelChoice(model=settings.model)
    note = "no folder is open, so no repository's tuning is used"
    for folder in folders:
        choice = _choose_for(settings, folder)
        if choice.model != settings.model:
            return choice
        note = choice.note or note
    return ModelChoice(model=settings.model, note=note)


def _choose_for(settings: Settings, folder: Path) -> ModelChoice:
    def untuned(note: str) -> ModelChoice:
        return ModelChoice(model=settings.model, note=note)

    try:
        kept = read_kept(folder)
    # Paths that nothing can be at: RuntimeError for a loop of links, ValueError for a zero byte.
    except (OSError, RuntimeError, ValueError, msgspec.DecodeError) as error:
        return untuned(f"the tuning of {folder} cannot be read ({error}): train it again")
    if kept is None:
        return untuned(f"no tuning is kept for {folder}: see `intarsia train --repo`")
    if not _is_for(kept, settings.model):
        model = settings.model or "the engine's default"
        return untuned(f"the tuning of {folder} is for {kept.model}, not for {model}: ignored")
    path = tuning_path(folder, kept)
    if not path.is_file():
        return untuned(f"the tuning of {folder} is missing ({path}): train it again")
    if (weakness := weakness_of(path)) is not None:
        return untuned(f"the tuning of {folder} is not used: {weakness}: {weakness.remedy}")
    return ModelChoice(
        model=f"{settings.model or kept.model}+{path}", note=f"the tuning of {folder} is in use"
    )


def _is_for(kept: KeptTuning, model: str | None) -> bool:
    if model is None:
        return kept.is_default_model
    return kept.model in (model, str(Path(model).expanduser()))
