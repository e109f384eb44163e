"""Download files and folders from the model hub by its own library."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import (
    errors,
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    snapshot_download,
)
from huggingface_hub.utils.tqdm import disable_progress_bars

from intarsia.engine.cache.folder import is_disk_full, require_space
from intarsia.engine.cache.progress import Progress, report_growth, size_of
from intarsia.engine.errors import ModelError, SourceError
from intarsia.engine.model_store.catalog import CatalogModel

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


def fetch_folder(repo: str, on_progress: Progress) -> Path:
    """Return the folder of a repository in the hub's own cache, downloaded. Raises ModelError."""
    disable_progress_bars()  # the caller shows ours
    on_progress(f"downloading {repo} from the model hub", None)
    try:
        with _hub_faults():
            return Path(
                snapshot_download(
                    repo,
                    allow_patterns=["*.safetensors", "*.json"],  # no pickle, no code
                    endpoint=_hub_endpoint(),
                )
            )
    except SourceError as failure:
        raise ModelError(
            f"no model {repo!r}: no such folder here, and {failure}: check the name and the network"
        ) from failure
    except OSError as fault:  # a full disk: _hub_faults turns every other fault into a SourceError
        raise ModelError(
            f"no space left for {repo}: free some, or set HF_HOME to a folder on a disk with room"
        ) from fault


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
