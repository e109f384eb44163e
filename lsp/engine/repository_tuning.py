"""Which model requests name: with the opened repository's own tuning, where the user wants that.

Comes in: settings and the client's folders; goes out: a model's name. Looks into the user's data
folder alone, never into the workspace; loads nothing.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from lsprotocol import types
from pygls.uris import to_fs_path

from intarsia.lsp.settings import Settings

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelChoice:
    """``model`` None: the engine's default. ``said``: one line for the log."""

    model: str | None
    said: str | None = None


def opened_folders(params: types.InitializeParams) -> tuple[Path, ...]:
    """Return the folders that the client has opened, in its order."""
    uris = [folder.uri for folder in params.workspace_folders or ()]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [to_fs_path(uri) for uri in uris]
    return tuple(Path(path) for path in paths if path)


def choose_model(settings: Settings, folders: Sequence[Path]) -> ModelChoice:
    """Return the model of the settings, with the tuning of the first folder that has one."""
    if not settings.repository_tuning:
        return ModelChoice(model=settings.model)
    said = "no folder is open, so there is no repository's tuning"
    for folder in folders:
        found = _find(settings, folder)
        if found.model != settings.model:
            return found
        said = found.said or said
    return ModelChoice(model=settings.model, said=said)


def _find(settings: Settings, folder: Path) -> ModelChoice:
    def plain(said: str) -> ModelChoice:
        return ModelChoice(model=settings.model, said=said)

    try:
        kept = read_kept(folder)
    except (OSError, msgspec.DecodeError) as error:
        return plain(f"the tuning of {folder} cannot be read ({error}): train it again")
    if kept is None:
        return plain(f"no tuning is kept for {folder}: see `intarsia train --repo`")
    if not _is_for(kept, settings.model):
        wanted = settings.model or "the engine's default"
        return plain(f"the tuning of {folder} is for {kept.model}, not for {wanted}: left out")
    path = tuning_path(folder, kept)
    if not path.is_file():
        return plain(f"the tuning of {folder} is not there ({path}): train it again")
    return ModelChoice(
        model=f"{settings.model or kept.model}+{path}", said=f"the tuning of {folder} is in use"
    )


def _is_for(kept: KeptTuning, model: str | None) -> bool:
    if model is None:
        return kept.is_default_model
    return kept.model in (model, str(Path(model).expanduser()))
