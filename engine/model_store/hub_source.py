"""A catalog row → its file from the model hub, into a folder of ours.

Resumable: huggingface_hub keeps what has come. Does not judge the bytes.
"""

import os
from pathlib import Path

from intarsia.engine.default_model.cache_folder import require_space
from intarsia.engine.default_model.catalog import CatalogModel
from intarsia.engine.default_model.hub_faults import hub_faults
from intarsia.engine.default_model.progress import Progress, report_growth, size_of

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
