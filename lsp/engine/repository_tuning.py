"""Which model requests name: with the opened repository's own tuning, where the user wants that.

Comes in: settings and the client's folders; goes out: a model's name. Looks into the user's data
folder alone, never into the workspace; loads nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from lsprotocol import types
from pygls.uris import to_fs_path

from intarsia.lsp.kept_tuning import KeptTuning, read_kept, tuning_path
from intarsia.lsp.settings import Settings


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
