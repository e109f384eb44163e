"""What the user calls a model → a checked folder of a family that we can run.

A name of the catalog is fetched and converted, a .gguf file converted, a hub id fetched; what
follows a "+" is a tuning. Reads headers and configs only: no weights, no torch.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from intarsia.engine.cache.digest import sha256_of
from intarsia.engine.cache.progress import Progress
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import CATALOG, CatalogModel, find_model
from intarsia.engine.model_store.checkpoint import (
    is_fused,
    read_config,
    require_tokenizer,
    weight_files,
)
from intarsia.engine.model_store.download import fetch
from intarsia.engine.model_store.family import Family, family_of
from intarsia.engine.model_store.gguf.convert import ChangeRows, convert, converted_folder
from intarsia.engine.model_store.gguf.fused_layout import FUSED_FORMAT
from intarsia.engine.model_store.hub_source import fetch_folder
from intarsia.engine.model_store.model_name import NO_TUNING, split_tuning
from intarsia.engine.model_store.safetensors_header import read_safetensors_header

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFolder:
    """A folder whose parts are all there. ``name`` is what the user is told."""

    path: Path
    name: str
    family: Family
    config: Mapping[str, Any]
    weights: tuple[Path, ...]
    adapter: Path | None  # bundled with a catalog model
    tuned_by: Path | None  # bundled with a catalog model, and in the weights already
    tunings: tuple[Path, ...]  # to be put into the weights one after the other
    is_fused: bool  # one file in our own layout, see fused_layout.py


RowsTunedBy: TypeAlias = Callable[[Path, Mapping[str, Any]], ChangeRows]
"""A tuning's file and the model's config → what the tuning makes of each matrix's rows."""


def locate_model(model: str, on_progress: Progress, *, rows_tuned_by: RowsTunedBy) -> ModelFolder:
    """Return the folder of a catalog name, folder, .gguf file or hub id. Raises ModelError.

    ``model+/path/to/tuning.safetensors`` adds a tuning of one's own to the bundled one (if there is
    one); ``model+none`` leaves that out. ``rows_tuned_by`` comes from the model's family, for only
    that knows its weights (``families/masked_causal/backbone/tuning.py``).
    """
    plain, added = split_tuning(model)
    tune = None if added == NO_TUNING else rows_tuned_by
    folder = _locate(plain, on_progress, tune)
    if added is None:
        return folder
    if added == NO_TUNING:
        return replace(folder, name=f"{folder.name}+{added}")
    tuning = Path(added).expanduser()
    read_safetensors_header(tuning)
    return replace(folder, name=f"{folder.name}+{tuning.parent.name}", tunings=(tuning,))


def _locate(model: str, on_progress: Progress, tune: RowsTunedBy | None) -> ModelFolder:
    """``tune`` None: a catalog model is taken without its own tuning."""
    if row := find_model(model):
        tuning = None if tune is None else row.tuning
        for bundled in (row.adapter, tuning):
            if bundled is not None:
                read_safetensors_header(bundled)
        folder = _inspect(_catalog_folder(row, tuning, on_progress, tune), name=row.name)
        return replace(folder, adapter=row.adapter, tuned_by=tuning)
    path = Path(model).expanduser()
    if model.strip() and _exists(path):
        if path.is_dir():
            return _inspect(path, name=path.resolve().name)
        return _inspect(_gguf_folder(path, on_progress), name=path.stem)
    if _HUB_ID.fullmatch(model):
        return _inspect(fetch_folder(model, on_progress), name=model)
    names = ", ".join(row.name for row in CATALOG)
    raise ModelError(
        f"no model {model!r}: looked for a name of the catalog ({names}), a folder or .gguf file "
        "at that path, and a hub id (owner/name)"
    )


def _inspect(path: Path, *, name: str) -> ModelFolder:
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
        adapter=None,
        tuned_by=None,
        tunings=(),
        is_fused=is_fused(weights, FUSED_FORMAT),
    )


def _catalog_folder(
    row: CatalogModel, tuning: Path | None, on_progress: Progress, tune: RowsTunedBy | None
) -> Path:
    """A tuning is put in once, when the model is converted: its weights are mapped like others."""
    key = row.sha256[:16]
    folder = converted_folder(key if tuning is None else f"{key}-{sha256_of(tuning)[:16]}")
    if folder.is_dir():
        return folder
    gguf = fetch(row, on_progress)
    change_for = None if tuning is None or tune is None else partial(tune, tuning)
    convert(gguf, folder, on_progress, change_for=change_for)
    return folder


def _gguf_folder(path: Path, on_progress: Progress) -> Path:
    """Convert the user's own file; it is known by place, size and time, as a digest takes long."""
    if path.suffix != ".gguf":
        raise ModelError(f"{path} is a file, but no .gguf: give a model's folder or a .gguf file")
    stat = path.stat()
    mark = f"{path.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    folder = converted_folder(f"{path.stem}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}")
    convert(path, folder, on_progress)
    return folder


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, a null byte, a folder that may not be read
        return False
