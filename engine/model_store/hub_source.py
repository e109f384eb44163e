"""A catalog row → its file from the model hub, into a folder of ours.

Resumable: huggingface_hub keeps what has come. Does not judge the bytes.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intarsia.engine.cache.folder import is_disk_full, require_space
from intarsia.engine.cache.progress import Progress, report_growth, size_of
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import CatalogModel
from intarsia.engine.model_store.source_error import SourceError


@contextmanager
def hub_faults() -> Iterator[None]:
    """Turn any failure of the hub into a SourceError; a full disk stays what it is."""
    from huggingface_hub import errors

    # HTTPError is that of the httpx which the hub's library speaks; hf-xet raises RuntimeError.
    transport_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        yield
    except (transport_error, OSError, RuntimeError, ValueError) as fault:
        if is_disk_full(fault):
            raise
        raise SourceError(f"the model hub gave nothing ({_in_one_line(fault)})") from fault


def _in_one_line(fault: BaseException) -> str:
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0][:160]}" if lines else type(fault).__name__


_KNOCK_TIMEOUT_S = 5.0


def fetch_from_hub(model: CatalogModel, partial: Path, on_progress: Progress) -> Path:
    """Return the downloaded file under ``partial``. Raises SourceError where the hub gives none."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    folder = partial / "hub"
    folder.mkdir(parents=True, exist_ok=True)
    disable_progress_bars()  # the caller shows ours
    on_progress("asking the model hub", None)
    with hub_faults():
        _knock(model)
        require_space(folder, model.num_bytes - size_of(folder))
        with report_growth(folder, model.num_bytes, f"downloading {model.name}", on_progress):
            path = hf_hub_download(
                model.hub.repo,
                model.hub.file,
                revision=model.hub.revision,
                local_dir=folder,
                endpoint=hub_endpoint(),
                etag_timeout=_KNOCK_TIMEOUT_S,
                token=False,  # open to all: no credential need travel
            )
    return Path(path)


def hub_endpoint() -> str | None:
    """Return the user's mirror, read now: the library itself reads it only when first imported."""
    return os.environ.get("HF_ENDPOINT") or None


def _knock(model: CatalogModel) -> None:
    """Ask once for the file's size: the download itself would insist for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(
        model.hub.repo, model.hub.file, revision=model.hub.revision, endpoint=hub_endpoint()
    )
    get_hf_file_metadata(url, timeout=_KNOCK_TIMEOUT_S, token=False)


def fetch_folder(repo: str, on_progress: Progress) -> Path:
    """Return the snapshot in the hub's own cache. Raises ModelError, one line."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # the caller shows ours
    on_progress(f"downloading {repo} from the model hub", None)
    try:
        with hub_faults():
            return Path(
                snapshot_download(
                    repo,
                    allow_patterns=["*.safetensors", "*.json"],  # no pickle, no code
                    endpoint=hub_endpoint(),
                )
            )
    except SourceError as failure:
        raise ModelError(
            f"no model {repo!r}: no such folder here, and {failure}: check the name and the network"
        ) from failure
    except OSError as fault:  # a full disk: the one fault that hub_faults leaves
        raise ModelError(
            f"no space left for {repo}: free some, or point HF_HOME to a disk with room"
        ) from fault
