"""Find the model that the user names, as a checked folder of a family that we can run.

A catalog model is downloaded and converted, a .gguf file is converted, a hub id is downloaded. What
follows a "+" in the name is a tuning. Reads headers and configs only: no weights, no torch.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from intarsia.engine.cache.folder import plain_disk_faults, require_own_folder
from intarsia.engine.cache.own_file import sha256_of
from intarsia.engine.cache.progress import Progress
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import (
    CATALOG,
    NO_TUNING,
    CatalogModel,
    find_model,
    is_hub_id,
    shown,
    split_tuning,
)
from intarsia.engine.model_store.checkpoint import (
    Family,
    family_of,
    own_format,
    read_config,
    read_safetensors_header,
    require_tokenizer,
    weight_files,
)
from intarsia.engine.model_store.download import fetch_hub_folder, lent_file, making_ready
from intarsia.engine.model_store.gguf.convert import (
    FUSED_FORMAT,
    ChangeRows,
    Conversion,
    convert,
    converted_folder,
    problem_of_conversion,
)

RowsTunedBy: TypeAlias = Callable[[Path, Mapping[str, Any]], ChangeRows]
"""Takes a tuning's file and the model's config; returns how the tuning changes a matrix's rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFolder:
    """A folder with all parts of a model. ``name`` is shown to the user."""

    path: Path
    name: str
    family: Family
    config: Mapping[str, Any]
    weights: tuple[Path, ...]
    drafter: Path | None  # bundled with a catalog model
    tuned_by: Path | None  # bundled with a catalog model; the weights have this tuning already
    tunings: tuple[Path, ...]  # to be added to the weights, one after the other
    format: str | None  # of a file in a layout of our own

    @property
    def is_fused(self) -> bool:
        """Whether there is one file in our own layout, see gguf/read.py."""
        return self.format == FUSED_FORMAT


def locate_model(
    model: str,
    on_progress: Progress,
    *,
    rows_tuned_by: RowsTunedBy,
    conversion: Conversion | None = None,
) -> ModelFolder:
    """Return the folder of a catalog name, folder, .gguf file or hub id. Raises ModelError.

    ``model+/path/to/tuning.safetensors`` adds a tuning of the user's own to the bundled one, if
    there is one; ``model+none`` omits the bundled one, and may be followed by ``+/path`` too.
    ``rows_tuned_by`` is given by the caller, as only the model's family knows its weights
    (``families/masked_causal/backbone/tuning.py``). So is ``conversion``, to which a GGUF file is
    converted if it has no tuning of the user's own, which is added to bfloat16 numbers.
    """
    name, addition = split_tuning(model)
    if addition not in (None, NO_TUNING) and name.endswith(f"+{NO_TUNING}"):
        plain = locate_model(name, on_progress, rows_tuned_by=rows_tuned_by)
        return _with_own_tuning(plain, str(addition))
    to = conversion if addition in (None, NO_TUNING) else None
    if row := find_model(name):
        tuning = None if addition == NO_TUNING else row.tuning
        folder = _catalog_model(row, tuning, on_progress, rows_tuned_by, to)
    else:
        folder = _other_model(name, on_progress, to)
    if addition is None:
        return folder
    if addition == NO_TUNING:
        return replace(folder, name=f"{folder.name}+{NO_TUNING}")
    return _with_own_tuning(folder, addition)


def _with_own_tuning(folder: ModelFolder, path: str) -> ModelFolder:
    own_tuning = Path(path).expanduser()
    read_safetensors_header(own_tuning)
    return replace(folder, name=f"{folder.name}+{own_tuning.parent.name}", tunings=(own_tuning,))


def _catalog_model(
    row: CatalogModel,
    tuning: Path | None,
    on_progress: Progress,
    rows_tuned_by: RowsTunedBy,
    conversion: Conversion | None,
) -> ModelFolder:
    for bundled in (row.drafter, tuning):
        if bundled is not None:
            read_safetensors_header(bundled)
    path = _converted(row, tuning, on_progress, rows_tuned_by, conversion)
    return replace(_inspect(path, name=row.name), drafter=row.drafter, tuned_by=tuning)


def catalog_folder(
    row: CatalogModel, tuning: Path | None, conversion: Conversion | None = None
) -> Path:
    """Return where the conversion of a catalog model is, whether or not it is there."""
    parts = [row.sha256[:16]]
    if tuning is not None:
        parts.append(sha256_of(tuning)[:16])
    if conversion is not None:
        parts.append(conversion.name)
    return converted_folder("-".join(parts))


def catalog_folders(row: CatalogModel) -> list[Path]:
    """Return all conversions of a catalog model that are there."""
    pattern = converted_folder(f"{row.sha256[:16]}*")
    return sorted(pattern.parent.glob(pattern.name))


def _converted(
    row: CatalogModel,
    tuning: Path | None,
    on_progress: Progress,
    rows_tuned_by: RowsTunedBy,
    conversion: Conversion | None,
) -> Path:
    """Return the conversion of a catalog model, with the tuning in its weights, made if missing."""
    folder = catalog_folder(row, tuning, conversion)
    with plain_disk_faults(folder.parent):
        require_own_folder(folder.parent)
    if problem_of_conversion(folder) is not None:
        change_for = None if tuning is None else partial(rows_tuned_by, tuning)
        with making_ready(row, on_progress):
            if problem_of_conversion(folder) is not None:
                with lent_file(row, on_progress) as gguf:
                    convert(gguf, folder, on_progress, change_for=change_for, conversion=conversion)
                _remove_unused(row)
    with suppress(OSError):
        os.utime(folder)  # used now
    return folder


_UNUSED_S = 30 * 24 * 3600.0


def _remove_unused(row: CatalogModel) -> None:
    """Remove a model's other conversions, of earlier releases, that nobody has used for a month."""
    for folder in catalog_folders(row):
        if folder.is_dir() and folder.stat().st_mtime < time.time() - _UNUSED_S:
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


def _other_model(name: str, on_progress: Progress, conversion: Conversion | None) -> ModelFolder:
    """Return the model of a folder, a .gguf file or a hub id."""
    path = Path(name).expanduser()
    if name.strip() and _exists(path):
        if path.is_dir():
            return _inspect(path, name=path.resolve().name)
        return _inspect(_gguf_folder(path, on_progress, conversion), name=path.stem)
    if is_hub_id(name):
        return _inspect(fetch_hub_folder(name, on_progress), name=name)
    names = ", ".join(row.name for row in CATALOG)
    raise ModelError(
        f"no model {shown(name)!r}: looked for a name in the catalog ({names}), a folder or .gguf "
        "file at that path, and a hub id (owner/name)"
    )


def _gguf_folder(path: Path, on_progress: Progress, conversion: Conversion | None) -> Path:
    """Return the conversion of the user's own file, known by path, size and time, or make it."""
    if path.suffix != ".gguf":
        raise ModelError(f"{path} is not a .gguf file: give a model's folder or a .gguf file")
    stat = path.stat()
    identity = f"{path.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    parts = [path.stem, hashlib.sha256(identity.encode()).hexdigest()[:16]]
    if conversion is not None:
        parts.append(conversion.name)
    folder = converted_folder("-".join(parts))
    convert(path, folder, on_progress, conversion=conversion)
    return folder


def _inspect(path: Path, *, name: str) -> ModelFolder:
    """Return the model of a folder, without a drafter or tunings. Raises ModelError."""
    config = read_config(path)
    family = family_of(config, str(path))
    weights = weight_files(path)
    require_tokenizer(path)
    return ModelFolder(
        path=path,
        name=name,
        family=family,
        config=config,
        weights=weights,
        drafter=None,
        tuned_by=None,
        tunings=(),
        format=own_format(weights),
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, a null byte, or in a folder that we may not read
        return False
