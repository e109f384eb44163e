"""Download files and folders from the model hub by its own library."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from huggingface_hub import (
    HfApi,
    constants,
    errors,
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    snapshot_download,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils.tqdm import disable_progress_bars

from intarsia.engine.cache.folder import is_disk_full, require_space
from intarsia.engine.cache.progress import Progress, report_growth, size_of
from intarsia.engine.errors import ModelError, NoRoomError, SourceError
from intarsia.engine.model_store.catalog import CatalogModel
from intarsia.engine.model_store.checkpoint import (
    family_of,
    read_config,
    require_tokenizer,
    weight_files,
)

_PROBE_TIMEOUT_S = 5.0


def fetch_file(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the downloaded file, below ``partial``. Raises SourceError."""
    folder = partial / "hub"
    folder.mkdir(parents=True, exist_ok=True)
    disable_progress_bars()  # the caller shows ours
    on_progress("asking the model hub", None)
    with _hub_faults():
        _probe(model)
        require_space(folder, model.num_bytes - size_of(folder))
        with report_growth(folder, model.num_bytes, f"downloading {model.name}", on_progress):
            path = hf_hub_download(
                model.hub.repo,
                model.hub.file,
                revision=model.hub.revision,
                local_dir=folder,
                endpoint=_hub_endpoint(),
                etag_timeout=_PROBE_TIMEOUT_S,
                token=False,  # the file is public: send no credential
            )
    return Path(path)


_WANTED = ["*.safetensors", "*.json"]  # no pickle, no code


def fetch_folder(repo: str, on_progress: Progress, *, is_newest: bool = False) -> Path:
    """Return the folder of a repository in the hub's own cache, downloaded. Raises ModelError.

    What is there whole is used without asking the hub, unless ``is_newest``. A model that would not
    run is refused by its config, before its weights are fetched.
    """
    disable_progress_bars()  # the caller shows ours
    if not is_newest and (kept := _kept_folder(repo)) is not None:
        return kept
    on_progress("asking the model hub", None)
    try:
        with _hub_faults():
            return _fetch_folder(repo, on_progress)
    except SourceError as failure:
        raise ModelError(
            f"no model {repo!r}: no such folder here, and {failure}: check the name and the network"
        ) from failure
    except OSError as fault:  # a full disk: _hub_faults turns every other fault into a SourceError
        raise _no_room(repo) from fault


def _kept_folder(repo: str) -> Path | None:
    """Return a snapshot that is complete, the newest that was fetched."""
    try:
        folder = Path(snapshot_download(repo, allow_patterns=_WANTED, local_files_only=True))
        weight_files(folder)
        require_tokenizer(folder)
    except (ModelError, OSError, ValueError):  # of the hub's library, for what is not there
        return None
    return folder


def _fetch_folder(repo: str, on_progress: Progress) -> Path:
    endpoint = _hub_endpoint()
    listed = HfApi(endpoint=endpoint).model_info(
        repo, files_metadata=True, timeout=_PROBE_TIMEOUT_S
    )
    config = hf_hub_download(repo, "config.json", revision=listed.sha, endpoint=endpoint)
    family_of(read_config(Path(config).parent), repo)
    sizes = {it.rfilename: it.size or 0 for it in listed.siblings or ()}
    num_bytes = sum(
        size for name, size in sizes.items() if any(PurePath(name).match(it) for it in _WANTED)
    )
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type="model")
    missing = num_bytes - size_of(folder / "blobs")
    if missing > (free := shutil.disk_usage(folder).free):
        raise _no_room(repo, f" ({missing / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free)")
    with report_growth(folder / "blobs", num_bytes, f"downloading {repo}", on_progress):
        fetched = snapshot_download(repo, allow_patterns=_WANTED, endpoint=endpoint)
    return Path(fetched)


def _no_room(repo: str, sizes: str = "") -> NoRoomError:
    return NoRoomError(
        f"no space left for {repo}{sizes}: free some, or set HF_HOME to a folder on a disk with "
        "room"
    )


def _hub_endpoint() -> str | None:
    """Return the user's mirror. The library itself reads the variable only when it is imported."""
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def _hub_faults() -> Iterator[None]:
    """Turn any failure of the hub into a SourceError; a full disk stays an OSError."""
    # HTTPError comes from httpx, which the hub's library uses; hf-xet raises RuntimeError.
    transport_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        yield
    except (transport_error, OSError, RuntimeError, ValueError) as fault:
        if is_disk_full(fault):
            raise
        raise SourceError(f"the model hub failed ({_in_one_line(fault)})") from fault


def _probe(model: CatalogModel) -> None:
    """Ask once for the file's size: the download itself would try for half a minute."""
    url = hf_hub_url(
        model.hub.repo, model.hub.file, revision=model.hub.revision, endpoint=_hub_endpoint()
    )
    get_hf_file_metadata(url, timeout=_PROBE_TIMEOUT_S, token=False)


def _in_one_line(fault: BaseException) -> str:
    if type(fault).__name__ in ("ConnectError", "ConnectTimeout", "LocalEntryNotFoundError"):
        return "it cannot be reached"
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0][:160]}" if lines else type(fault).__name__
