"""A hub id (owner/name) → a local folder with that model's safetensors and JSON files only."""

from pathlib import Path

from intarsia.engine.default_model.hub_faults import hub_faults
from intarsia.engine.default_model.hub_source import hub_endpoint
from intarsia.engine.default_model.progress import Progress
from intarsia.engine.default_model.source_error import SourceError
from intarsia.engine.filler import ModelError


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
